import type { Delivery } from '../../model/delivery.ts'
import { type Domain, trackingHostOf } from '../../model/domain.ts'
import type { Message } from '../../model/message.ts'
import type { DueIndex } from '../due-index.ts'
import type { ClaimedDelivery, Deliveries, DeliveryClaimRequest } from '../roles/deliveries.ts'
import { type Columns, rows, sql, type Work } from '../sql.ts'
import { claimBy, leaseAll, queueOn } from './claim.ts'
import { wholeOf } from './contents.ts'
import { each } from './each.ts'
import type { MailInside } from './inside.ts'
import { DELIVERY_COLUMNS, type DeliveryRow, deliveryOf, MESSAGE_COLUMNS, type MessageRow, messageOf } from './rows.ts'

const QUEUE = queueOn('deliveries', ', last_attempt_at = r.now')

export const NUMBER: Columns<{ number: number }> = { number: ['bigint', ({ number }) => number] }

/** A delivery with its message and content, as an attempt needs them. */
type ClaimedRow = DeliveryRow & MessageRow & { content: Uint8Array | null }

const CLAIMED = each<{ number: number }, ClaimedRow>(
  NUMBER,
  `select ${DELIVERY_COLUMNS}, ${MESSAGE_COLUMNS}, c.content
  from rows r, deliveries d, messages m, message_contents c
  where d.number = r.number and m.number = d.message_number and c.message_number = m.number`,
)

/** A claimed delivery as the database has it. */
export interface TakenDelivery {
  delivery: Delivery
  message: Message
  /** Null where the claim excluded one of this size. */
  content: Uint8Array | null
}

/** Leases deliveries by the plan → those. */
export function* claimDeliveries(
  inside: MailInside,
  dueIndex: DueIndex,
  request: DeliveryClaimRequest,
): Work<TakenDelivery[]> {
  const leased = yield* claimBy(inside, { queue: QUEUE, dueIndex }, request, CLAIMED)
  return yield* takenOf(leased, request.contentBytes ?? Number.POSITIVE_INFINITY)
}

/** Leased rows → their deliveries, with whole contents, or none where they are longer than `most`. */
function* takenOf(leased: readonly ClaimedRow[], most: number): Work<TakenDelivery[]> {
  const first = new Map<number, Uint8Array>()
  for (const { messageNumber, sizeBytes, content } of leased)
    if (content !== null && sizeBytes <= most) first.set(messageNumber, content)
  const whole = yield* wholeOf('content', first)
  return leased.map((row) => {
    return { delivery: deliveryOf(row), message: messageOf(row), content: whole.get(row.messageNumber) ?? null }
  })
}

// Whatever the limits of destinations; the longest expired first.
const IS_EXPIRED = `from messages m join deliveries d on d.message_number = m.number
  where m.expires_at <= $1::bigint and m.status in ('scheduled', 'queued', 'deferred')
    and d.worker is null and d.next_attempt_at <= $1::bigint
  order by m.expires_at`
const EXPIRED = sql<{ number: number }>(
  `select d.number::float8 as number ${IS_EXPIRED} limit $2::int for update of d skip locked`,
)

/** Asked first, outside of a transaction: there is hardly ever one. */
export const ANY_EXPIRED = sql<{ number: number }>(`select d.number::float8 as number ${IS_EXPIRED} limit 1`)

/** As Deliveries.claimExpired. */
export function* claimExpired(
  inside: MailInside,
  { now, limit, worker }: Parameters<Deliveries['claimExpired']>[0],
): Work<TakenDelivery[]> {
  const expired = yield* rows(EXPIRED, now, limit)
  const { leased } = yield* leaseAll(inside, QUEUE, { rows: expired, worker, now }, CLAIMED)
  return yield* takenOf(leased, 0)
}

/** Domains as they are now. */
export interface Domains {
  get(id: string): Domain | null
}

/** What a worker gets of a taken delivery. */
export function claimedOf(
  { delivery, message, content }: TakenDelivery,
  domains: Domains,
  worker: string,
): ClaimedDelivery {
  const domain = domains.get(message.domainId)
  return {
    delivery,
    message,
    content,
    signingKeys: domain?.dkim.filter((key) => key.state === 'active') ?? [],
    domainName: domain?.name ?? '',
    ownership: domain === null ? null : { status: domain.status, provedBy: domain.provedBy },
    returnPathHost: domain?.returnPathHost ?? '',
    trackingHost: domain === null ? null : trackingHostOf(domain),
    worker,
  }
}
