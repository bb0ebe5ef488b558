import type { PostAttempt } from '../../model/post-attempt.ts'
import type { WebhookDelivery } from '../../model/webhook.ts'
import type { Page, PageRequest, WebhookDeliveryFilter } from '../store.ts'
import type { Connection } from './driver.ts'
import { when } from './page.ts'
import { joined, monotonicMs, SLICE, sliced, walked } from './slices.ts'
import { numbersOf } from './times.ts'

// While an attempt is in progress, there is no next one.
export const DELIVERY_COLUMNS = `d.number, d.id, d.webhook_id as webhookId, e.id as eventId, d.type, d.status,
  iif(d.worker is null, d.next_attempt_at, null) as nextAttemptAt, d.created_at as createdAt`
const ATTEMPTS = `select number, at, duration_ms as durationMs, status_code as statusCode, error,
    response_excerpt as responseExcerpt
  from webhook_attempts where delivery_number = ? order by number`
const NUMBER = 'select number from webhook_deliveries where id = ?'
const ID_AT = 'select id from webhook_deliveries where number = ?'
const NEWEST = 'select max(number) from webhook_deliveries where webhook_id = ?'
const TIME_FROM =
  'select created_at from webhook_deliveries where webhook_id = ? and number >= ? order by number limit 1'
const ARE_MANY_OPEN = `select 1 from webhook_deliveries
  where webhook_id = ? and next_attempt_at is not null limit 1 offset ${SLICE}`

const walkedBy = (index: string, condition = '') => ({
  walked: `webhook_deliveries d indexed by webhook_deliveries_${index}`,
  sql: `d.webhook_id = ?${condition}`,
  join: 'cross join events e on e.number = d.event_number',
  key: 'd.number',
})
const ALL = walkedBy('of_webhook')
const OF_TYPE = walkedBy('by_type', ' and d.type = ?')
// Most deliveries succeed, so the index of the others costs next to nothing.
const FAILED = walkedBy('failed', " and d.status = 'failed'")
// Deliveries with a next attempt are the pending ones.
const OPEN = walkedBy('due', ' and d.next_attempt_at is not null')

export type DeliveryRow = Omit<WebhookDelivery, 'attempts'> & { number: number }

/** → What adds its attempts to the row of a delivery. */
export function withAttempts(db: Connection): (row: DeliveryRow) => WebhookDelivery {
  const attempts = db.prepare<unknown[], PostAttempt>(ATTEMPTS)
  return ({ number, ...rest }) => ({
    ...rest,
    nextAttemptAt: rest.status === 'pending' ? rest.nextAttemptAt : null,
    attempts: attempts.all(number),
  })
}

/** Deliveries of one webhook, newest first. */
export function webhookDeliveryList(
  db: Connection,
  nowMs: () => number = monotonicMs,
): (filter: WebhookDeliveryFilter, page: PageRequest) => Page<WebhookDelivery> {
  const toRecord = withAttempts(db)
  const idAt = db.prepare<unknown[], string>(ID_AT).pluck()
  const number = db.prepare<unknown[], number>(NUMBER).pluck()
  const newest = db.prepare<unknown[], number | null>(NEWEST).pluck()
  const timeFrom = db.prepare<unknown[], number>(TIME_FROM).pluck()
  const areManyOpen = db.prepare(ARE_MANY_OPEN)

  /** The narrowest index that matches. A few rows are sorted; many open ones are at the newest end. */
  const walkOf = ({ webhookId, status, type }: WebhookDeliveryFilter) => {
    if (status === 'failed') return { ...FAILED, values: [webhookId] }
    if (status === 'pending' && areManyOpen.get(webhookId) === undefined) return { ...OPEN, values: [webhookId] }
    return type === null ? { ...ALL, values: [webhookId] } : { ...OF_TYPE, values: [webhookId, type] }
  }

  return (filter, page) => {
    const { after } = page
    const { webhookId, status, type, createdAfter, createdBefore } = filter
    const end = after === null ? (newest.get(webhookId) ?? 0) + 1 : (number.get(after) ?? 0)
    const known = { low: 0, high: end }
    const { low, high } = numbersOf(filter, known, (from) => timeFrom.get(webhookId, from))
    const conditions = [
      { sql: 'd.webhook_id = ?', values: [webhookId] },
      ...when(status, 'd.status = ?'),
      ...when(type, 'd.type = ?'),
      ...when(createdAfter, 'd.created_at >= ?'),
      ...when(createdBefore, 'd.created_at < ?'),
    ]
    const step = sliced<DeliveryRow, number>(db, walkOf(filter), DELIVERY_COLUMNS, joined(conditions), low)
    return walked(step, high, page, { toRecord, idFrom: (from) => idAt.get(from), nowMs })
  }
}
