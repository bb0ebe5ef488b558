import type { Delivery } from '../../model/delivery.ts'
import { type Domain, trackingHostOf } from '../../model/domain.ts'
import { ERASED_ADDRESS } from '../../model/erasure.ts'
import type { Engagement } from '../records/engagement.ts'
import type { ClaimedDelivery, Deliveries, DeliveryClaimRequest } from '../store.ts'
import { textArray } from './arrays.ts'
import { type Chosen, FOUND, type Leased, MESSAGE, type Queue } from './claims.ts'
import { readContent } from './contents.ts'
import type { Destinations } from './destinations.ts'
import type { MailLane } from './group.ts'
import { postgresLateRecords } from './late-records.ts'
import {
  DELIVERY_COLUMNS,
  DELIVERY_STATE,
  type DeliveryRow,
  MESSAGE_COLUMNS,
  type MessageRow,
  STATUSES,
  toMessage,
  WAITING,
  type WaitingRow,
  WITHOUT_STATUS,
} from './message-row.ts'
import type { Mirror } from './mirror.ts'
import type { Reads } from './reads.ts'
import { recordKind } from './record-delivery.ts'
import { recordSuppressed } from './record-suppressed.ts'
import type { Queries } from './transactions.ts'

const DELIVERIES = `select ${DELIVERY_COLUMNS} from deliveries d ${DELIVERY_STATE} where d.id = any($1::text[])`
const MESSAGES = `select ${MESSAGE_COLUMNS} from messages m
  where m.id in (select message_id from deliveries where id = any($1::text[]))`
// Statuses only of messages with several recipients, $3.
const WITH_CONTENTS = `select ${WITHOUT_STATUS}, case when m.id = any($3::text[]) then ${STATUSES} end as statuses,
  case when m.size_bytes <= coalesce($2::bigint, m.size_bytes)
    then (select content from contents where owner_id = m.id and kind = 'content') end as content
  from messages m where m.id = any($1::text[])`
const EXPIRED = `select ${FOUND}, ${MESSAGE} from delivery_queue where expires_at <= $1 and worker is null and due_at <= $1
  order by expires_at limit $2`

export function postgresDeliveries(
  reads: Reads,
  lane: MailLane,
  inside: {
    queue: Queue
    domains: Mirror<Domain>
    offer: (key: string, at: number) => void
    destinations: Pick<Destinations, 'note'>
  },
): Omit<Deliveries, keyof Engagement> {
  const { queue, domains } = inside
  const record = recordKind(inside.offer, queue.finished)

  return {
    ...queue.methods(lane, reads),
    claimDue: queue.claimDue(lane, (request: DeliveryClaimRequest) => ({
      read: async (_, chosen) => readClaimed(reads, chosen, request, domains),
    })),
    claimExpired: async ({ now, limit, worker }) => {
      if ((await reads.query(EXPIRED, [now, 1])).length === 0) return []
      return lane.perform(async (group) => {
        const { statements } = group
        const expired = await statements.query<Chosen>(EXPIRED, [now, limit])
        const leased = await queue.lease(group, expired, worker, now)
        return readClaimed(reads, expired, { now, worker, contentBytes: -1 }, domains)(leased)
      })
    },
    content: (messageId) => readContent(reads, messageId, 'content'),
    record: (each) => lane.write(record, each),
    recordSuppressed: recordSuppressed(lane, queue.finished),
    get: (id) => readDelivery(reads, id),
    shareLimits: inside.destinations.note,
    ...postgresLateRecords(reads, lane),
  }
}

/** A delivery with its message; null if there is none, or if its recipient was erased. */
async function readDelivery(
  queries: Queries,
  id: string,
): Promise<{ delivery: Delivery; message: ReturnType<typeof toMessage> } | null> {
  const ids = textArray([id])
  const [delivery] = await queries.query<DeliveryRow>(DELIVERIES, [ids])
  const [message] = await queries.query<MessageRow>(MESSAGES, [ids])
  if (delivery?.email === ERASED_ADDRESS) return null
  return delivery === undefined || message === undefined ? null : { delivery, message: toMessage(message) }
}

/** What the attempts of deliveries require, read beside their lease, since it does not change while they wait → what
 *  makes claims of leased rows. Contents above `contentBytes` stay in the store. */
function readClaimed(
  reads: Queries,
  chosen: readonly Chosen[],
  { now, worker, contentBytes }: { now: number; worker: string; contentBytes?: number },
  domains: Mirror<Domain>,
): (rows: readonly Leased[]) => Promise<ClaimedDelivery[]> {
  const limit = contentBytes === undefined || contentBytes === Number.POSITIVE_INFINITY ? null : contentBytes
  const idsOf = (rows: readonly Chosen[]) => textArray(rows.map(({ id }) => id))
  const messageIdsOf = (rows: readonly Chosen[]) =>
    textArray([...new Set(rows.flatMap(({ messageId }) => messageId ?? []))])
  const found = Promise.all([
    reads.query<WaitingRow>(WAITING, [idsOf(chosen), idsOf(chosen.filter(({ seq }) => seq !== 0))]),
    reads.query<MessageRow & { content: Uint8Array | null }>(WITH_CONTENTS, [
      messageIdsOf(chosen),
      limit,
      messageIdsOf(chosen.filter(({ isOnlyRecipient }) => !isOnlyRecipient)),
    ]),
  ])
  found.catch(() => {}) // without a lease, nobody asks for it
  return async (rows) => {
    const [deliveries, messages] = await found
    const deliveryOf = new Map(deliveries.map((delivery) => [delivery.id, delivery]))
    const statusOf = new Map(deliveries.map(({ messageId, status }) => [messageId, status]))
    const messageOf = new Map(
      messages.map(({ content, statuses, ...message }) => [
        message.id,
        {
          message: toMessage({ ...message, statuses: statuses ?? statusOf.get(message.id) ?? null }),
          content: content === null ? null : new Uint8Array(content),
        },
      ]),
    )
    return rows.map(({ id, attempts }) => {
      const delivery = deliveryOf.get(id)
      const mail = delivery === undefined ? undefined : messageOf.get(delivery.messageId)
      if (delivery === undefined || mail === undefined) throw new Error(`${id} waits and has no message`)
      const domain = domains.get(mail.message.domainId)
      return {
        delivery: { ...delivery, attempts, lastAttemptAt: now, nextAttemptAt: null },
        ...mail,
        signingKeys: domain?.dkim.filter((key) => key.state === 'active') ?? [],
        domainName: domain?.name ?? '',
        ownership: domain === null ? null : { status: domain.status, provedBy: domain.provedBy },
        returnPathHost: domain?.returnPathHost ?? '',
        trackingHost: domain === null ? null : trackingHostOf(domain),
        worker,
      }
    })
  }
}
