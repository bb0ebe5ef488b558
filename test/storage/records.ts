import type { ApiKey } from '../../src/model/api-key.ts'
import type { Attempt, Outcome } from '../../src/model/delivery.ts'
import type { DkimKeyRecord, Domain } from '../../src/model/domain.ts'
import type { Event, EventType } from '../../src/model/event.ts'
import type { InboundMessage } from '../../src/model/inbound-message.ts'
import type { InboundRoute } from '../../src/model/inbound-route.ts'
import type { Message } from '../../src/model/message.ts'
import type { Organization } from '../../src/model/organization.ts'
import type { PostAttempt } from '../../src/model/post-attempt.ts'
import type { Report } from '../../src/model/report.ts'
import type { Suppression } from '../../src/model/suppression.ts'
import type { Webhook } from '../../src/model/webhook.ts'
import { createMintId } from '../../src/os/ids.ts'
import type {
  AcceptedInbound,
  AcceptedMessage,
  ClaimedDelivery,
  DeliveryClaimRequest,
  DeliveryRecord,
  EventFilter,
  InboundFilter,
  LateRecord,
  MessageFilter,
  NewDelivery,
  Remember,
  Store,
} from '../../src/storage/store.ts'
import { type ClaimChange, claimDue } from '../support/claim.ts'

/** The start time of everything in the storage tests (ms UTC). */
export const START = Date.UTC(2026, 10, 21, 12)

/** Valid records; a test overrides only what it is about. Ids count up, one millisecond each. */
export interface Records {
  organization(change?: Partial<Organization>): Organization
  domain(change?: Partial<Domain>): Domain
  dkimKey(change?: Partial<DkimKeyRecord>): DkimKeyRecord
  apiKey(change?: Partial<ApiKey>): ApiKey
  /** A message with a delivery for each of `to`, all due at once. */
  accepted(change?: Partial<Message> & { deliveries?: Partial<NewDelivery>[] }): AcceptedMessage
  event(change?: Partial<Event> & { type?: EventType }): Event
  suppression(change?: Partial<Suppression>): Suppression
  webhook(change?: Partial<Webhook>): Webhook
  /** An enabled webhook route for `in@a.example`. */
  inboundRoute(change?: Partial<InboundRoute>): InboundRoute
  /** As `route` accepted it; without one, as an unknown route did. */
  inboundMessage(change?: Partial<InboundMessage>, route?: InboundRoute): InboundMessage
  /** One mail that each of the routes accepted; those with a webhook are owed a delivery. */
  acceptedInbound(routes: InboundRoute[], change?: Partial<InboundMessage>): AcceptedInbound
  /** A DSN that reports a failed delivery. */
  report(change?: Partial<Report>): Report
  remember(change?: Partial<Remember>): Remember
  /** 32 bytes that differ for each call. */
  hash(): Uint8Array
}

export const ORGANIZATION = 'org_a'
export const DOMAIN = 'dom_a'

export function createRecords(): Records {
  let count = 0
  const clock = { now: () => START + count++, sleep: () => Promise.resolve() }
  const bytes = (size: number) => {
    const all = new Uint8Array(size)
    new DataView(all.buffer).setUint32(size - 4, count++)
    return all
  }
  const mint = createMintId(clock, { bytes, fraction: () => 0 })
  const inboundMessage: Records['inboundMessage'] = (change, route) => ({
    id: mint('inb'),
    organizationId: route?.organizationId ?? ORGANIZATION,
    domainId: DOMAIN,
    routeId: route?.id ?? 'rte_a',
    action: route?.action.type ?? 'webhook',
    receivedAt: START,
    returnPath: 'bob@out.example',
    from: 'bob@out.example',
    to: ['in@a.example'],
    subject: 'Hello',
    messageIdHeader: '<one@out.example>',
    sizeBytes: 100,
    senderIp: '192.0.2.9',
    helo: 'mx.out.example',
    tls: null,
    verdicts: { spf: 'pass', dkim: 'pass', dmarc: 'pass', arc: 'none' },
    parseError: null,
    forwardedAs: null,
    notForwarded: [],
    ...change,
  })
  return {
    organization: (change) => ({ id: mint('org'), name: `Org ${count++}`, plan: 'free', createdAt: START, ...change }),
    domain: (change) => ({
      id: mint('dom'),
      organizationId: ORGANIZATION,
      name: `d${count++}.example`,
      status: 'pending',
      createdAt: START,
      verifiedAt: null,
      lastCheckedAt: null,
      dkim: [],
      returnPathHost: `bounce${count}.example`,
      tracking: { opens: false, clicks: false, unsubscribe: false, host: null },
      findings: [],
      provedBy: null,
      missingSince: null,
      reason: null,
      nextCheckAt: null,
      ...change,
    }),
    dkimKey: (change) => ({
      selector: `s${count++}`,
      algorithm: 'rsa-sha256',
      state: 'pending',
      publicKey: 'public',
      privateKeyPem: 'private',
      createdAt: START,
      ...change,
    }),
    apiKey: (change) => ({
      id: mint('key'),
      organizationId: ORGANIZATION,
      domainId: DOMAIN,
      name: 'key',
      mode: 'live',
      permissions: ['send'],
      prefix: 'svc_live_1234567',
      createdAt: START,
      lastUsedAt: null,
      expiresAt: null,
      revokedAt: null,
      rotatedTo: null,
      allowedNetworks: null,
      ...change,
    }),
    accepted: ({ deliveries = [{}], ...change } = {}) => {
      const id = mint('msg')
      const parts = deliveries.map((part, position): NewDelivery => {
        const email = part.email ?? `r${position}@dest.example`
        return {
          id: mint('dlv'),
          position,
          email,
          type: 'to',
          destination: email.slice(email.indexOf('@') + 1),
          status: 'queued',
          nextAttemptAt: START,
          attempts: 0,
          lastAttemptAt: null,
          deliveredAt: null,
          smtpResponse: null,
          bounceType: null,
          bounceCode: null,
          opens: 0,
          clicks: 0,
          ...part,
        }
      })
      const message: Message = {
        id,
        organizationId: ORGANIZATION,
        domainId: DOMAIN,
        keyId: null,
        mode: 'live',
        source: 'api',
        status: 'queued',
        from: 'Ann <ann@a.example>',
        to: parts.map((part) => part.email),
        cc: null,
        bcc: null,
        replyTo: null,
        subject: 'Hello',
        tags: [],
        metadata: {},
        templateId: null,
        sizeBytes: 100,
        messageIdHeader: `<${id}@a.example>`,
        createdAt: START,
        scheduledAt: null,
        expiresAt: null,
        requireTls: false,
        unsubscribe: false,
        trackOpens: false,
        trackClicks: false,
        ...change,
      }
      return {
        message,
        content: new Uint8Array([1, 2, 3]),
        deliveries: parts,
        attempts: [],
        events: [],
        suppressions: [],
      }
    },
    event: (change) => ({
      id: mint('evt'),
      type: 'message.delivered',
      organizationId: ORGANIZATION,
      domainId: DOMAIN,
      messageId: null,
      mode: 'live',
      createdAt: START,
      body: '{"event":"body"}',
      ...change,
    }),
    suppression: (change) => ({
      id: mint('sup'),
      organizationId: ORGANIZATION,
      domainId: DOMAIN,
      email: 'bob@dest.example',
      reason: 'hard_bounce',
      messageId: null,
      createdAt: START,
      evidence: null,
      mode: 'live',
      ...change,
    }),
    webhook: (change) => ({
      id: mint('whk'),
      organizationId: ORGANIZATION,
      url: 'https://hooks.example/in',
      events: ['message.delivered'],
      format: 'enveloped',
      status: 'active',
      description: null,
      disabledReason: null,
      createdAt: START,
      updatedAt: START,
      lastSuccessAt: null,
      lastFailureAt: null,
      consecutiveFailures: 0,
      failingSince: null,
      mode: 'live',
      domainId: null,
      ...change,
    }),
    inboundRoute: (change) => ({
      id: mint('rte'),
      organizationId: ORGANIZATION,
      name: 'route',
      match: { type: 'address', value: 'in@a.example' },
      action: { type: 'webhook', config: { url: 'https://hooks.example/mail', includeAttachments: false } },
      authentication: 'none',
      enabled: true,
      priority: 0,
      createdAt: START,
      ...change,
    }),
    inboundMessage,
    acceptedInbound: (routes, change) => ({
      raw: new Uint8Array([1, 2, 3]),
      parsed: new Uint8Array([4, 5]),
      taken: routes.map((route) => ({
        message: inboundMessage(change, route),
        deliveryId: route.action.type === 'webhook' ? mint('whd') : null,
        forward: null,
      })),
    }),
    report: (change) => ({
      kind: 'failed',
      receivedAt: START,
      digest: bytes(32),
      reporter: 'mx.dest.example',
      status: '5.1.1',
      diagnostic: '550 5.1.1 unknown',
      cause: CAUSE,
      feedbackType: null,
      ...change,
    }),
    remember: (change) => ({
      organizationId: ORGANIZATION,
      keyHash: bytes(32),
      requestHash: bytes(32),
      status: 202,
      body: new Uint8Array([7, 8, 9]),
      createdAt: START,
      ...change,
    }),
    hash: () => bytes(32),
  }
}

/** Writes the organization and domain that all other records belong to. */
export async function found(store: Store, records: Records): Promise<void> {
  await store.organizations.create(records.organization({ id: ORGANIZATION }))
  const dkim = [records.dkimKey({ selector: 'one', state: 'active' }), records.dkimKey({ selector: 'two' })]
  await store.domains.create(
    records.domain({ id: DOMAIN, name: 'a.example', dkim, returnPathHost: 'bounce.example' }),
    -1,
  )
}

/** Accepts messages without counting volume → the first of them, for tests with a single one. */
export async function accept(store: Store, ...all: AcceptedMessage[]): Promise<AcceptedMessage> {
  const volume = { organizationId: ORGANIZATION, month: '2026-11', count: 0, limit: -1 }
  const { kind } = await store.messages.accept(all, volume)
  if (kind !== 'accepted') throw new Error(kind)
  return all[0]!
}

/** Holds what the tests claim. */
export const WORKER = 'w1'
/** Nothing that a worker holds is due, however late it is. */
export const YEARS_LATER = START + 10 * 365 * 86_400_000

/** Claims everything due, or what `change` asks for. */
export function claim(store: Store, change: ClaimChange<DeliveryClaimRequest> = {}): Promise<ClaimedDelivery[]> {
  return claimDue(store.deliveries, { now: START, limit: 100, worker: WORKER, freeFor: () => 100, ...change })
}

export function attempt(change: Partial<Attempt> = {}): Attempt {
  return {
    number: 1,
    startedAt: START,
    durationMs: 20,
    outcome: 'delivered',
    mxHost: 'mx.dest.example',
    mxAddress: '192.0.2.1',
    sourceAddress: null,
    tlsVersion: 'TLSv1.3',
    tlsCipher: 'TLS_AES_256_GCM_SHA384',
    tlsVerified: true,
    tlsPolicy: 'mta_sts',
    reply: '250 2.0.0 ok',
    enhancedCode: '2.0.0',
    cause: null,
    transcript: 'S: 250 ok',
    ...change,
  }
}

const CAUSE = { class: 'transient', rule: 'reply' }

export const DELIVERED: Outcome = { kind: 'delivered', reply: { code: 250, enhanced: '2.0.0', text: 'ok' } }
export const DEFERRED: Outcome = {
  kind: 'deferred',
  code: '4.3.0',
  message: '451 later',
  aboutRecipient: false,
  cause: CAUSE,
}
export const BOUNCED: Outcome = {
  kind: 'bounced',
  bounceType: 'hard',
  code: '5.1.1',
  message: '550 5.1.1 unknown',
  cause: CAUSE,
}

/** A claim and its outcome → the record of it: delivered, bounced, or deferred by a minute. */
export function recordOf(
  { delivery, message, worker }: ClaimedDelivery,
  outcome: Outcome = DELIVERED,
  change: Partial<DeliveryRecord> = {},
): DeliveryRecord {
  const status =
    outcome.kind === 'delivered' ? 'delivered' : outcome.kind === 'bounced' ? 'bounced' : ('deferred' as const)
  return {
    deliveryId: delivery.id,
    messageId: message.id,
    worker,
    attempt: attempt({ number: delivery.attempts, outcome: outcome.kind }),
    outcome,
    status,
    nextAttemptAt: status === 'deferred' ? START + 60_000 : null,
    smtpResponse: outcome.kind === 'delivered' ? '250 2.0.0 ok' : outcome.message,
    isSoftBounceReported: false,
    events: [],
    suppression: null,
    now: START + 1000,
    ...change,
  }
}

export function postAttempt(change: Partial<PostAttempt> = {}): PostAttempt {
  return { number: 1, at: START, durationMs: 30, statusCode: 200, error: null, responseExcerpt: null, ...change }
}

/** The record of a late bounce of a delivery in state `expected`. */
export function lateBounce(
  deliveryId: string,
  report: Report,
  expected: LateRecord['expected'],
  change: Partial<LateRecord> = {},
): LateRecord {
  return {
    deliveryId,
    report,
    expected,
    change: { status: 'bounced', smtpResponse: '550 5.1.1 unknown', bounceType: 'hard', bounceCode: '5.1.1' },
    events: [],
    suppression: null,
    now: START + 5000,
    ...change,
  }
}

export const ALL_INBOUND: InboundFilter = {
  organizationId: ORGANIZATION,
  routeId: null,
  domainId: null,
  from: null,
  to: null,
  status: null,
  createdAfter: null,
  createdBefore: null,
}

export const ALL_MESSAGES: MessageFilter = {
  organizationId: ORGANIZATION,
  status: null,
  to: null,
  from: null,
  subject: null,
  tag: null,
  metadata: [],
  templateId: null,
  domainId: null,
  mode: null,
  text: null,
  createdAfter: null,
  createdBefore: null,
}

export const ALL_EVENTS: EventFilter = {
  organizationId: ORGANIZATION,
  type: null,
  messageId: null,
  domainId: null,
  mode: null,
  createdAfter: null,
  createdBefore: null,
}

/** All pages of a list, one record a page, so that every cursor is used → their ids. */
export async function idsByPage(
  list: (page: {
    limit: number
    after: string | null
  }) => Promise<{ records: { id: string }[]; hasMore: boolean; next?: string }>,
): Promise<string[]> {
  const ids: string[] = []
  for (let after: string | null = null; ; ) {
    const { records, hasMore, next } = await list({ limit: 1, after })
    ids.push(...records.map((record) => record.id))
    if (!hasMore) return ids
    after = next ?? ids.at(-1)!
  }
}
