import type { InboundDeliveryStatus, InboundMessage } from '../../model/inbound-message.ts'
import type { SigningRoute } from '../../model/inbound-route.ts'
import { FIXED_LIMITS } from '../../model/limits.ts'
import { partition } from '../../os/partition.ts'
import type { DueIndex } from '../due-index.ts'
import type { Encryption } from '../encryption.ts'
import { row, run, sql, type Work } from '../sql.ts'
import type { ClaimedInboundDelivery, ClaimRequest, InboundDeliveries } from '../store.ts'
import { claimBy, queueOn } from './claim.ts'
import { each, insertInto, writeEach } from './each.ts'
import { type Endpoint, headersOf } from './headers.ts'
import { INBOUND_COLUMNS, type InboundRow, toInboundMessage } from './inbound-rows.ts'
import type { MailInside } from './inside.ts'
import { resultsOn, settleAll } from './post-results.ts'

export interface NewInboundDelivery {
  number: number
  id: string
  messageNumber: number
  routeId: string
  status: InboundDeliveryStatus
  at: number
}

export const ADD_INBOUND_DELIVERIES = insertInto<NewInboundDelivery>('inbound_deliveries', {
  number: ['bigint', ({ number }) => number],
  id: ['text', ({ id }) => id],
  message_number: ['bigint', ({ messageNumber }) => messageNumber],
  route_id: ['text', ({ routeId }) => routeId],
  status: ['text', ({ status }) => status],
  attempts: ['int', () => 0],
  next_attempt_at: ['bigint', ({ status, at }) => (status === 'pending' ? at : null)],
  created_at: ['bigint', ({ at }) => at],
})

/** A delivery that is due at `at`, with its place on the due index; it fails at once if its route was deleted meanwhile. */
export function newInboundDelivery(
  inside: MailInside,
  delivery: Pick<NewInboundDelivery, 'id' | 'messageNumber' | 'routeId' | 'at'>,
): NewInboundDelivery {
  const { routeId, at } = delivery
  const status = inside.routes.get(routeId) === null ? 'failed' : 'pending'
  if (status === 'pending') inside.offer('inboundDeliveries', routeId, at)
  return { ...delivery, number: inside.next('inbound_deliveries'), status }
}

const QUEUE = queueOn('inboundDeliveries')

type ClaimedRow = InboundRow & { number: number; deliveryId: string; key: string; attempt: number }

const CLAIMED = each<{ number: number }, ClaimedRow>(
  { number: ['bigint', ({ number }) => number] },
  `select d.number::float8 as number, d.id as "deliveryId", d.route_id as key, d.attempts as attempt, ${INBOUND_COLUMNS}
  from rows r, inbound_deliveries d, inbound_messages m where d.number = r.number and m.number = d.message_number`,
)
/** A route as a delivery needs it. */
type Target = Omit<ClaimedInboundDelivery['route'], 'headers'> & Endpoint

/** The route if it takes deliveries: it is enabled, and its action is a webhook. */
export function targetOf(found: SigningRoute | null): Target | null {
  if (found === null || !found.route.enabled || found.route.action.type !== 'webhook') return null
  const { url, includeAttachments, replies = true, headerNames } = found.route.action.config
  return { id: found.id, url, includeAttachments, replies, secret: found.secret, headerNames }
}

/** Leases deliveries by the plan → those, with their routes as they are now. */
export function* claimInbound(
  inside: MailInside,
  { dueIndex, encryption }: { dueIndex: DueIndex; encryption: Encryption },
  request: ClaimRequest,
): Work<ClaimedInboundDelivery[]> {
  const targets = new Map(request.plan.map(({ key }) => [key, targetOf(inside.routes.get(key))]))
  // Others were disabled since the plan was made.
  const [plan, disabled] = partition(request.plan, ({ key }) => targets.get(key) !== null)
  inside.afterCommit(() => dueIndex.putBack(disabled))
  const leased = yield* claimBy(inside, { queue: QUEUE, dueIndex }, { ...request, plan }, CLAIMED)
  const endpoints = [...targets.values()].filter((target) => target !== null)
  const headers = yield* headersOf('inbound_routes', endpoints, encryption)
  return leased.map((claimed) => {
    const { deliveryId: id, key, attempt } = claimed
    const target = targets.get(key)
    if (!target) throw new Error(`inbound delivery ${id} waits and has no route`)
    const { headerNames: _, ...of } = target
    const route = { ...of, headers: headers.get(key) ?? [] }
    return { id, message: toInboundMessage(claimed), route, attempt, worker: request.worker }
  })
}

const RESULTS = resultsOn('inboundDeliveries', 'inbound_attempts')
const SET_STATUS = each<{ number: number; status: InboundDeliveryStatus }>(
  { number: ['bigint', ({ number }) => number], status: ['text', ({ status }) => status] },
  `update inbound_messages as m set delivery_status = r.status from rows r
    where m.number = (select d.message_number from inbound_deliveries d where d.number = r.number)`,
)

export type InboundRecord = Parameters<InboundDeliveries['record']>[0]

/** Writes the results of claims → whether each was recorded, in order. */
export function* recordInbound(
  inside: MailInside,
  records: readonly InboundRecord[],
): Work<('recorded' | 'lease_lost')[]> {
  const held = yield* settleAll(inside, RESULTS, records)
  // An open delivery is always the message's newest: redeliver refuses another one beside it.
  const ended = records.flatMap(({ status }, at) => {
    const number = held[at]?.number
    return number === undefined || status === 'pending' ? [] : [{ number, status }]
  })
  yield* writeEach(SET_STATUS, ended)
  return held.map((found) => (found === null ? 'lease_lost' : 'recorded'))
}

const SOURCE = sql<{ number: number; routeId: string; status: InboundDeliveryStatus | null; deliveries: number }>(
  `select m.number::float8 as number, m.route_id as "routeId", m.delivery_status as status,
    (select count(*) from inbound_deliveries d where d.message_number = m.number)::float8 as deliveries
  from inbound_messages m where m.id = $1 for no key update of m`,
)
const SET_STATUS_OF = sql('update inbound_messages set delivery_status = $2 where number = $1')

/** As InboundDeliveries.redeliver. */
export function* redeliver(
  inside: MailInside,
  { inboundMessageId, id, now: at }: { inboundMessageId: InboundMessage['id']; id: string; now: number },
): Work<'queued' | 'under_way' | 'limit'> {
  const source = yield* row(SOURCE, inboundMessageId)
  if (source === null) throw new Error(`there is no inbound message ${inboundMessageId}`)
  const { number: messageNumber, routeId, status, deliveries } = source
  if (status === 'pending') return 'under_way'
  if (deliveries >= FIXED_LIMITS.redeliveries) return 'limit'
  const delivery = newInboundDelivery(inside, { id, messageNumber, routeId, at })
  yield* writeEach(ADD_INBOUND_DELIVERIES, [delivery])
  yield* run(SET_STATUS_OF, messageNumber, delivery.status)
  return 'queued'
}
