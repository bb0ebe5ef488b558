import type { Attempt, Outcome } from '../../src/model/delivery.ts'
import { ANY_MESSAGE } from '../../src/model/message.ts'
import type { PostAttempt } from '../../src/model/post-attempt.ts'
import type { Report } from '../../src/model/report.ts'
import type {
  AcceptedMessage,
  ClaimedDelivery,
  DeliveryClaimRequest,
  DeliveryRecord,
  EventFilter,
  InboundFilter,
  LateRecord,
  MessageFilter,
  Store,
} from '../../src/storage/store.ts'
import { type ClaimChange, claimDue } from '../support/claim.ts'
import { CAUSE, DOMAIN, ORGANIZATION, type Records, START } from './new-records.ts'

export { createRecords, DOMAIN, ORGANIZATION, type Records, START } from './new-records.ts'

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

/** Content of a claim, which may come with it. */
export async function contentOf(store: Store, { content, message }: ClaimedDelivery): Promise<Uint8Array> {
  return content ?? (await store.deliveries.content(message.id))!
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

export const ALL_MESSAGES: MessageFilter = { ...ANY_MESSAGE, organizationId: ORGANIZATION }

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
