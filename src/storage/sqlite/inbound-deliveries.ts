import type { InboundDelivery } from '../../model/inbound-message.ts'
import { FIXED_LIMITS } from '../../model/limits.ts'
import type { PostAttempt } from '../../model/post-attempt.ts'
import { type DueIndex, type DueTime, dueTimeOf, mayStart, NO_END, refill } from '../due-index.ts'
import { type InboundRow, toInboundMessage } from '../inbound-rows.ts'
import { INBOUND_COLUMNS } from '../records/inbound.ts'
import type { ClaimedInboundDelivery, InboundDeliveries, Look } from '../store.ts'
import { claimFrom } from './claim.ts'
import { type Connection, one } from './driver.ts'
import type { InboundRouteCache } from './endpoints.ts'
import type { ForeignChanges } from './foreign.ts'
import type { QueueInboundInside } from './inbound-queue.ts'
import { leasesOf } from './leases.ts'
import type { Writer } from './writer.ts'

// Goes from route to route along the due index: its cost is the number of routes, not of deliveries.
const DUE_TIMES = `with recursive routes (key) as (
    select min(route_id) from inbound_deliveries where next_attempt_at is not null
    union all
    select (select min(route_id) from inbound_deliveries where next_attempt_at is not null and route_id > key)
      from routes where key is not null)
  select key, (select min(next_attempt_at) from inbound_deliveries
    where route_id = key and next_attempt_at is not null) as at
  from routes where key is not null`
const NEXT_OF =
  'select min(next_attempt_at) from inbound_deliveries where route_id = +? and next_attempt_at is not null'
const DUE = `select number, id, message_number as messageNumber, attempts from inbound_deliveries
  where route_id = +? and next_attempt_at <= ? order by next_attempt_at limit +?`
const MESSAGE = `select ${INBOUND_COLUMNS} from inbound_messages m where m.number = ?`
const LEASE = `update inbound_deliveries set attempts = attempts + 1, worker = ?, next_attempt_at = ${NO_END} where number = ?`
const HELD = `select number, message_number as messageNumber, route_id as routeId from inbound_deliveries
  where id = ? and worker = ? and attempts = ?`
const SETTLE = 'update inbound_deliveries set status = ?, worker = null, next_attempt_at = ? where number = ?'
const SET_MESSAGE_STATUS = 'update inbound_messages set delivery_status = ? where number = ?'
const ADD_ATTEMPT = `insert into inbound_attempts (delivery_number, number, at, duration_ms, status_code, error, response_excerpt)
  values (?, ?, ?, ?, ?, ?, ?)`
const WAITS_SINCE = `coalesce((select a.at from inbound_attempts a where a.delivery_number = d.number
    order by a.number desc limit 1), d.created_at)`
// While an attempt is in progress, there is no next one.
const OF_MESSAGE = `select d.number, d.id, m.id as inboundMessageId, d.route_id as routeId, d.status,
    iif(d.worker is null, d.next_attempt_at, null) as nextAttemptAt, d.created_at as createdAt
  from inbound_messages m join inbound_deliveries d on d.message_number = m.number
  where m.id = ? order by d.number desc`
const ATTEMPTS = `select number, at, duration_ms as durationMs, status_code as statusCode, error,
    response_excerpt as responseExcerpt
  from inbound_attempts where delivery_number = ? order by number`
const DELIVERY_COUNT = 'select count(*) from inbound_deliveries where message_number = ?'
const DELIVERY_SOURCE = `select number as messageNumber, route_id as routeId, delivery_status as status
  from inbound_messages where id = ?`

export function sqliteInboundDeliveries(
  db: Connection,
  writer: Writer,
  inside: {
    routes: InboundRouteCache
    dueIndex: DueIndex
    foreign: ForeignChanges
    queueDelivery: QueueInboundInside
  },
): InboundDeliveries {
  const dueTimes = db.prepare<unknown[], DueTime>(DUE_TIMES)
  const nextOf = db.prepare<unknown[], number | null>(NEXT_OF).pluck()
  const due = db.prepare<unknown[], DueRow>(DUE)
  const messageOf = db.prepare<unknown[], InboundRow>(MESSAGE)
  const lease = db.prepare(LEASE)
  const held = db.prepare<unknown[], HeldRow>(HELD)
  const settle = db.prepare(SETTLE)
  const setMessageStatus = db.prepare(SET_MESSAGE_STATUS)
  const addAttempt = db.prepare(ADD_ATTEMPT)
  const ofMessage = db.prepare<unknown[], Row>(OF_MESSAGE)
  const attempts = db.prepare<unknown[], PostAttempt>(ATTEMPTS)
  const deliveryCount = db.prepare<unknown[], number>(DELIVERY_COUNT).pluck()
  const deliverySource = db.prepare<unknown[], DeliverySourceRow>(DELIVERY_SOURCE)
  const { dueIndex, foreign } = inside

  const readDueTimes = () => {
    refill(dueIndex, dueTimes.all())
  }
  readDueTimes()
  foreign.onChange(readDueTimes)

  /** Null while the route accepts no delivery. */
  const webhookOf = (routeId: string) => {
    const found = inside.routes.get(routeId)
    if (found === null || !found.route.enabled || found.route.action.type !== 'webhook') return null
    return { ...found, config: found.route.action.config }
  }
  /** The route as a delivery needs it. */
  const targetOf = (routeId: string): ClaimedInboundDelivery['route'] | null => {
    const found = webhookOf(routeId)
    if (found === null) return null
    const { id, secret, route } = found
    const { url, includeAttachments } = found.config
    return { id, url, includeAttachments, secret, headers: inside.routes.headersOf(route) }
  }
  const ifActive =
    (look: Look): Look =>
    (routeId, dueAt) =>
      webhookOf(routeId) !== null && look(routeId, dueAt)

  return {
    claimDue: (request) =>
      claimFrom(writer, dueIndex, request, {
        take: (routeId, most, dueUntil) => {
          const route = targetOf(routeId)
          if (route === null) return [] // disabled since the plan was made
          return due.all(routeId, dueUntil, most).map((row): ClaimedInboundDelivery => {
            lease.run(request.worker, row.number)
            return {
              id: row.id,
              message: toInboundMessage(one(messageOf, row.messageNumber)),
              route,
              attempt: row.attempts + 1,
              worker: request.worker,
            }
          })
        },
        nextAt: (routeId) => dueTimeOf(nextOf.get(routeId) ?? null),
      }),
    nextDueAt: async (look, now) => {
      foreign.check()
      return dueIndex.nextAt(mayStart(ifActive(look)), now)
    },
    planClaims: (request) =>
      writer.before(() => {
        foreign.check()
        return dueIndex.plan({ ...request, look: ifActive(request.look) })
      }),
    putBack: async (plan) => dueIndex.putBack(plan),
    freed: async (blockers) => blockers.forEach(dueIndex.freed),
    record: ({ deliveryId, worker, attempt, status, nextAttemptAt }) =>
      writer.write(() => {
        const row = held.get(deliveryId, worker, attempt.number)
        if (row === undefined) return 'lease_lost'
        settle.run(status, nextAttemptAt, row.number)
        // An open delivery is always the message's newest (redeliver refuses another one beside it).
        setMessageStatus.run(status, row.messageNumber)
        addAttempt.run(
          row.number,
          attempt.number,
          attempt.at,
          attempt.durationMs,
          attempt.statusCode,
          attempt.error,
          attempt.responseExcerpt,
        )
        if (nextAttemptAt !== null) dueIndex.offer(row.routeId, nextAttemptAt)
        return 'recorded'
      }),
    ...leasesOf(db, writer, dueIndex, { table: 'inbound_deliveries', key: 'route_id', waitsSince: WAITS_SINCE }),
    ofMessage: async (inboundMessageId) =>
      ofMessage
        .all(inboundMessageId)
        .map(({ number, ...rest }): InboundDelivery => ({ ...rest, attempts: attempts.all(number) })),
    redeliver: (inboundMessageId, deliveryId, now) =>
      writer.write(() => {
        const { messageNumber, routeId, status } = one(deliverySource, inboundMessageId)
        if (status === 'pending') return 'under_way'
        if (one(deliveryCount, messageNumber) >= FIXED_LIMITS.redeliveries) return 'limit'
        inside.queueDelivery({ id: deliveryId, messageNumber, routeId }, now)
        return 'queued'
      }),
  }
}

interface DueRow {
  number: number
  id: string
  messageNumber: number
  attempts: number
}

interface HeldRow {
  number: number
  messageNumber: number
  routeId: string
}

type Row = Omit<InboundDelivery, 'attempts'> & { number: number }

interface DeliverySourceRow {
  messageNumber: number
  routeId: string
  status: InboundDelivery['status'] | null
}
