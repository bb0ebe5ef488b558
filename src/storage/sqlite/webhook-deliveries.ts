import type { EventType } from '../../model/event.ts'
import { FIXED_LIMITS } from '../../model/limits.ts'
import type { Mode } from '../../model/message.ts'
import { webhookPausedEvent } from '../../model/on-demand-event.ts'
import { concerns } from '../../model/webhook.ts'
import { type DueIndex, type DueTime, dueTimeOf, mayStart, NO_END, refill } from '../due-index.ts'
import { type OnDemandEvents, webhookDeliveryId } from '../fan-out-targets.ts'
import { toPage } from '../page.ts'
import { toWebhook, WEBHOOK_COLUMNS } from '../records/webhooks.ts'
import type { ClaimedWebhookDelivery, Look, WebhookDeliveries } from '../store.ts'
import { claimFrom } from './claim.ts'
import { type Connection, one } from './driver.ts'
import type { WebhookCache } from './endpoints.ts'
import type { FanOut } from './fan-out.ts'
import type { ForeignChanges } from './foreign.ts'
import { leasesOf } from './leases.ts'
import type { Reader } from './reader.ts'
import { DELIVERY_COLUMNS, type DeliveryRow, withAttempts } from './webhook-delivery-list.ts'
import type { Writer } from './writer.ts'

// Goes from webhook to webhook along the due index: its cost is the number of webhooks, not of deliveries.
const DUE_TIMES = `with recursive waiting (key) as (
    select min(webhook_id) from webhook_deliveries where next_attempt_at is not null
    union all
    select (select min(webhook_id) from webhook_deliveries where next_attempt_at is not null and webhook_id > key)
      from waiting where key is not null)
  select key, (select min(next_attempt_at) from webhook_deliveries
    where webhook_id = key and next_attempt_at is not null) as at
  from waiting where key is not null`
const NEXT_OF =
  'select min(next_attempt_at) from webhook_deliveries where webhook_id = +? and next_attempt_at is not null'
const DUE = `select d.number, d.id, d.webhook_id as webhookId, d.type, d.attempts, e.id as eventId, e.body,
    e.organization_id as organizationId, e.message_id as messageId
  from webhook_deliveries d join events e on e.number = d.event_number
  where d.webhook_id = +? and d.next_attempt_at <= ? order by d.next_attempt_at limit +?`
const LEASE = `update webhook_deliveries set attempts = attempts + 1, worker = ?, next_attempt_at = ${NO_END} where number = ?`
const HELD =
  'select number, webhook_id as webhookId from webhook_deliveries where id = ? and worker = ? and attempts = ?'
const SETTLE = 'update webhook_deliveries set status = ?, worker = null, next_attempt_at = ? where number = ?'
const ADD_ATTEMPT = `insert into webhook_attempts (delivery_number, number, at, duration_ms, status_code, error, response_excerpt)
  values (?, ?, ?, ?, ?, ?, ?)`
const SUCCEEDED = `update webhooks set last_success_at = ?, consecutive_failures = 0, failing_since = null where id = ?`
const FAILED_ATTEMPT = `update webhooks set last_failure_at = ?, failing_since = coalesce(failing_since, ?),
  consecutive_failures = consecutive_failures + ? where id = ?`
const PAUSE = `update webhooks set status = 'paused', disabled_reason = ?, updated_at = ? where id = ?`
const WEBHOOK = `select ${WEBHOOK_COLUMNS} from webhooks where id = ?`
const OWNER = 'select organization_id from webhooks where id = ?'
const WAITS_SINCE = `coalesce((select a.at from webhook_attempts a where a.delivery_number = d.number
    order by a.number desc limit 1), d.created_at)`
const GET = `select ${DELIVERY_COLUMNS} from webhook_deliveries d join events e on e.number = d.event_number where d.id = ?`
const OF_MESSAGE = `select ${DELIVERY_COLUMNS} from events e indexed by events_of_message
  cross join webhook_deliveries d indexed by webhook_deliveries_of_event on d.event_number = e.number
  where e.message_id = ? and e.organization_id = ? order by e.number desc limit ?`
const ATTEMPT_COUNT = 'select count(*) from webhook_attempts where delivery_number = ?'
const RETRY = `update webhook_deliveries set status = 'pending', next_attempt_at = ? where id = ? and worker is null`
const EVENTS_OF_RANGE = `select number, id, type, mode, domain_id as domainId from events
  where organization_id = ? and (created_at, number) > (?, ?) and created_at < ? and type like ?
  order by created_at, number limit ?`
const EVENT_PLACE = 'select created_at, number from events where id = ?'
const QUEUE_AGAIN = `insert into webhook_deliveries (id, webhook_id, event_number, type, status, attempts, next_attempt_at, created_at)
  select ?, ?, ?, ?, 'pending', 0, ?, ?
  where not exists (
    select 1 from webhook_deliveries where event_number = ? and webhook_id = ? and status = 'pending')
    and (select count(*) from webhook_deliveries where event_number = ? and webhook_id = ?) < ${FIXED_LIMITS.replaysOfEvent}
  on conflict do nothing`

export function sqliteWebhookDeliveries(
  db: Connection,
  writer: Writer,
  {
    webhooks,
    dueIndex,
    foreign,
    fanOut,
    onDemand,
    reader,
  }: {
    webhooks: WebhookCache
    dueIndex: DueIndex
    foreign: ForeignChanges
    fanOut: Pick<FanOut, 'hasPending' | 'some'>
    onDemand: OnDemandEvents
    reader: Reader
  },
): WebhookDeliveries {
  const dueTimes = db.prepare<unknown[], DueTime>(DUE_TIMES)
  const nextOf = db.prepare<unknown[], number | null>(NEXT_OF).pluck()
  const due = db.prepare<unknown[], DueRow>(DUE)
  const lease = db.prepare(LEASE)
  const held = db.prepare<unknown[], { number: number; webhookId: string }>(HELD)
  const settle = db.prepare(SETTLE)
  const addAttempt = db.prepare(ADD_ATTEMPT)
  const succeeded = db.prepare(SUCCEEDED)
  const failedAttempt = db.prepare(FAILED_ATTEMPT)
  const pause = db.prepare(PAUSE)
  const webhook = db.prepare<unknown[], Parameters<typeof toWebhook>[0]>(WEBHOOK)
  const get = db.prepare<unknown[], DeliveryRow>(GET)
  const ofMessage = db.prepare<unknown[], DeliveryRow>(OF_MESSAGE)
  const owner = db.prepare<unknown[], string>(OWNER).pluck()
  const toRecord = withAttempts(db)

  const readDueTimes = () => {
    refill(dueIndex, dueTimes.all())
  }
  readDueTimes()
  foreign.onChange(readDueTimes)

  const ifActive =
    (look: Look): Look =>
    (webhookId, dueAt) =>
      webhooks.get(webhookId)?.status === 'active' && look(webhookId, dueAt)

  return {
    claimDue: (request) =>
      claimFrom(writer, dueIndex, request, {
        take: (webhookId, most, dueUntil) => {
          const target = webhooks.get(webhookId)
          if (target?.status !== 'active') return [] // paused since the plan was made
          const headers = webhooks.headersOf(target)
          return due.all(webhookId, dueUntil, most).map((row): ClaimedWebhookDelivery => {
            lease.run(request.worker, row.number)
            return {
              id: row.id,
              webhookId,
              organizationId: row.organizationId,
              eventId: row.eventId,
              messageId: row.messageId,
              type: row.type,
              url: target.url,
              format: target.format,
              secrets: target.secrets,
              headers,
              body: row.body,
              attempt: row.attempts + 1,
              worker: request.worker,
            }
          })
        },
        nextAt: (webhookId) => dueTimeOf(nextOf.get(webhookId) ?? null),
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
    fanOutSome: async () => {
      foreign.check()
      return fanOut.hasPending() && writer.write(fanOut.some)
    },
    record: ({ deliveryId, worker, attempt, status, nextAttemptAt, pauseReason, now }) =>
      writer.write(() => {
        const row = held.get(deliveryId, worker, attempt.number)
        if (row === undefined) return { kind: 'lease_lost' }
        settle.run(status, nextAttemptAt, row.number)
        addAttempt.run(
          row.number,
          attempt.number,
          attempt.at,
          attempt.durationMs,
          attempt.statusCode,
          attempt.error,
          attempt.responseExcerpt,
        )
        if (status === 'delivered') succeeded.run(now, row.webhookId)
        else failedAttempt.run(now, now, status === 'failed' ? 1 : 0, row.webhookId)
        const isPausing = pauseReason !== null && webhooks.get(row.webhookId)?.status === 'active'
        if (pauseReason !== null) {
          pause.run(pauseReason, now, row.webhookId)
          webhooks.drop()
        }
        if (nextAttemptAt !== null) dueIndex.offer(row.webhookId, nextAttemptAt)
        const recorded = toWebhook(one(webhook, row.webhookId))
        if (isPausing) onDemand.offer(webhookPausedEvent(recorded, now))
        return { kind: 'recorded', webhook: recorded }
      }),
    ...leasesOf(db, writer, dueIndex, { table: 'webhook_deliveries', key: 'webhook_id', waitsSince: WAITS_SINCE }),
    get: async (id) => {
      const row = get.get(id)
      return row === undefined ? null : toRecord(row)
    },
    list: (filter, page) => reader.ask('webhookDeliveries', owner.get(filter.webhookId) ?? '', filter, page),
    ofMessage: async (organizationId, messageId, limit) => {
      const rows = ofMessage.all(messageId, organizationId, limit + 1)
      return toPage(rows, { limit, after: null }, toRecord)
    },
    ...repeats(db, writer, dueIndex),
  }
}

/** Manual retries and replays. */
function repeats(db: Connection, writer: Writer, dueIndex: DueIndex): Pick<WebhookDeliveries, 'retry' | 'replay'> {
  const get = db.prepare<unknown[], DeliveryRow>(GET)
  const webhook = db.prepare<unknown[], Parameters<typeof toWebhook>[0]>(WEBHOOK)
  const attemptCount = db.prepare<unknown[], number>(ATTEMPT_COUNT).pluck()
  const retry = db.prepare(RETRY)
  const eventsOfRange = db.prepare<unknown[], EventRow>(EVENTS_OF_RANGE)
  const eventPlace = db.prepare<unknown[], [at: number, number: number]>(EVENT_PLACE).raw()
  const queueAgain = db.prepare(QUEUE_AGAIN)
  return {
    retry: (id, now) =>
      writer.write(() => {
        const row = one(get, id)
        if (one(attemptCount, row.number) >= FIXED_LIMITS.webhookAttempts) return 'limit'
        if (retry.run(now, id).changes === 0) return 'under_way'
        dueIndex.offer(row.webhookId, now)
        return 'queued'
      }),
    replay: (webhookId, { from, before, type, afterEvent }, limit, now) =>
      writer.write(() => {
        const target = toWebhook(one(webhook, webhookId))
        const { organizationId } = target
        const start = eventPlace.get(afterEvent) ?? [from, 0]
        const found = eventsOfRange.all(organizationId, ...start, before, type ?? '%', limit + 1)
        const events = found.slice(0, limit)
        let queued = 0
        for (const event of events) {
          if (!concerns(target, event)) continue
          const id = webhookDeliveryId(event.id, webhookId, now)
          const of = [event.number, webhookId]
          queued += queueAgain.run(id, webhookId, event.number, event.type, now, now, ...of, ...of).changes
        }
        dueIndex.offer(webhookId, now)
        return { queued, more: found.length > limit ? (events.at(-1)?.id ?? null) : null }
      }),
  }
}

interface DueRow {
  number: number
  id: string
  webhookId: string
  type: EventType
  attempts: number
  eventId: string
  body: string
  organizationId: string
  messageId: string | null
}

interface EventRow {
  number: number
  id: string
  type: EventType
  mode: Mode
  domainId: string | null
}
