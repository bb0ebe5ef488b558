import type { PageRequest, WebhookDeliveryFilter } from '../store.ts'
import type { Connection } from './driver.ts'
import { when } from './page.ts'
import { joined, SLICE, sliced, walkSlices } from './slices.ts'
import { numbersOf } from './times.ts'

const NUMBER = 'select number from webhook_deliveries where id = ?'
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

/** Deliveries of one webhook, newest first → at most one row more than the page contains. */
export function webhookDeliveryList<Row>(db: Connection, columns: string) {
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

  return (filter: WebhookDeliveryFilter, { after, limit }: PageRequest): Promise<Row[]> => {
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
    const step = sliced<Row, number>(db, walkOf(filter), columns, joined(conditions), low)
    return walkSlices(step, high, limit + 1)
  }
}
