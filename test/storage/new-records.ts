import type { ApiKey } from '../../src/model/api-key.ts'
import type { DkimKeyRecord, Domain } from '../../src/model/domain.ts'
import type { Event, EventType } from '../../src/model/event.ts'
import type { InboundMessage } from '../../src/model/inbound-message.ts'
import type { InboundRoute } from '../../src/model/inbound-route.ts'
import { type Message, NO_SENDER_FIELDS } from '../../src/model/message.ts'
import type { Organization } from '../../src/model/organization.ts'
import type { Report } from '../../src/model/report.ts'
import type { Suppression } from '../../src/model/suppression.ts'
import type { Webhook } from '../../src/model/webhook.ts'
import { createMintId, type MintId } from '../../src/os/ids.ts'
import type { AcceptedInbound, AcceptedMessage, NewDelivery, Remember } from '../../src/storage/store.ts'

/** The start time of everything in the storage tests (ms UTC). */
export const START = Date.UTC(2026, 10, 21, 12)

/** Valid records; a test overrides only what it is about. Ids count up, one millisecond each. */
export interface Records {
  organization(change?: Partial<Organization>): Organization
  domain(change?: Partial<Domain>): Domain
  dkimKey(change?: Partial<DkimKeyRecord>): DkimKeyRecord
  apiKey(change?: Partial<ApiKey>): ApiKey
  /** A message with a delivery for each of `to`, all due at once, or at `scheduledAt` if it is scheduled. */
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
export const CAUSE = { class: 'transient', rule: 'reply' }

export function createRecords(): Records {
  const source = createSource()
  return {
    ...ownerRecords(source),
    ...outboundRecords(source),
    ...eventRecords(source),
    ...inboundRecords(source),
    remember: (change) => ({
      organizationId: ORGANIZATION,
      keyHash: source.bytes(32),
      requestHash: source.bytes(32),
      status: 202,
      body: new Uint8Array([7, 8, 9]),
      createdAt: START,
      ...change,
    }),
    hash: () => source.bytes(32),
  }
}

/** Numbers, ids and bytes that no other record has. */
interface Source {
  next(): number
  bytes(size: number): Uint8Array
  mint: MintId
}

function createSource(): Source {
  let count = 0
  const next = () => count++
  const clock = { now: () => START + next(), sleep: () => Promise.resolve() }
  const bytes = (size: number) => {
    const all = new Uint8Array(size)
    new DataView(all.buffer).setUint32(size - 4, next())
    return all
  }
  return { next, bytes, mint: createMintId(clock, { bytes, fraction: () => 0 }) }
}

/** Organizations, domains and keys. */
function ownerRecords({ mint, next }: Source): Pick<Records, 'organization' | 'domain' | 'dkimKey' | 'apiKey'> {
  return {
    organization: (change) => ({ id: mint('org'), name: `Org ${next()}`, plan: 'free', createdAt: START, ...change }),
    domain: (change) => ({
      id: mint('dom'),
      organizationId: ORGANIZATION,
      name: `d${next()}.example`,
      status: 'pending',
      createdAt: START,
      verifiedAt: null,
      lastCheckedAt: null,
      dkim: [],
      returnPathHost: `bounce${next()}.example`,
      tracking: { opens: false, clicks: false, unsubscribe: false, host: null },
      findings: [],
      provedBy: null,
      missingSince: null,
      reason: null,
      nextCheckAt: null,
      publishAt: null,
      publishFault: null,
      ...change,
    }),
    dkimKey: (change) => ({
      selector: `s${next()}`,
      algorithm: 'rsa-sha256',
      state: 'pending',
      publicKey: 'public',
      privateKeyPem: 'private',
      createdAt: START,
      since: null,
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
      createdBy: null,
      makerRole: null,
      ...change,
    }),
  }
}

/** Outbound messages, suppressions and reports. */
function outboundRecords({ mint, bytes }: Source): Pick<Records, 'accepted' | 'suppression' | 'report'> {
  return {
    accepted: ({ deliveries = [{}], ...change } = {}) => {
      const id = mint('msg')
      const isScheduled = change.status === 'scheduled'
      const parts = deliveries.map((part, position): NewDelivery => {
        const email = part.email ?? `r${position}@dest.example`
        return {
          id: mint('dlv'),
          position,
          email,
          type: 'to',
          destination: email.slice(email.indexOf('@') + 1),
          status: isScheduled ? 'scheduled' : 'queued',
          nextAttemptAt: (isScheduled && change.scheduledAt) || START,
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
        ...NO_SENDER_FIELDS,
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
        templateId: null,
        sizeBytes: 100,
        messageIdHeader: `<${id}@a.example>`,
        createdAt: START,
        scheduledAt: null,
        expiresAt: null,
        unsubscribe: false,
        replies: null,
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
    suppression: (change) => ({
      id: mint('sup'),
      organizationId: ORGANIZATION,
      domainId: DOMAIN,
      email: 'bob@dest.example',
      reason: 'hard_bounce',
      stream: null,
      messageId: null,
      createdAt: START,
      evidence: null,
      mode: 'live',
      ...change,
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
  }
}

/** Events and webhooks. */
function eventRecords({ mint }: Source): Pick<Records, 'event' | 'webhook'> {
  return {
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
      headerNames: [],
      ...change,
    }),
  }
}

/** Inbound routes and their mail. */
function inboundRecords({ mint }: Source): Pick<Records, 'inboundRoute' | 'inboundMessage' | 'acceptedInbound'> {
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
    inReplyTo: null,
    autoSubmitted: false,
    ...change,
  })
  return {
    inboundRoute: (change) => ({
      id: mint('rte'),
      organizationId: ORGANIZATION,
      name: 'route',
      match: { type: 'address', value: 'in@a.example' },
      action: {
        type: 'webhook',
        config: { url: 'https://hooks.example/mail', includeAttachments: false, headerNames: [] },
      },
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
  }
}
