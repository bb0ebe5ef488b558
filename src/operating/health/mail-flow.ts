import type { Store } from '../../storage/store.ts'
import { fail, pass, skip, type Verdict, warn } from './check.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** While the engine runs, due mail waits only for its destination's limits. */
const LATE_MS = 10 * MINUTE_MS
const VERY_LATE_MS = 2 * HOUR_MS
/** Mail that a warm-up delays waits for hours; it expires after days. */
const LATE_IN_WARMUP_MS = 24 * HOUR_MS
const VERY_LATE_IN_WARMUP_MS = 48 * HOUR_MS
/** Checked from the shortest period on. */
const SPANS = [
  { ms: HOUR_MS, words: 'hour' },
  { ms: 24 * HOUR_MS, words: '24 hours' },
  { ms: 7 * 24 * HOUR_MS, words: '7 days' },
]
/** Below this number of failures the cause is unclear. */
const MIN_SENT_TO_FAIL = 5

/** Checks that recently tried mail was delivered. */
export async function checkDelivered(store: Pick<Store, 'quality'>, now: number): Promise<Verdict> {
  for (const { ms, words } of SPANS) {
    const domains = await store.quality.domainsWithOutcomes(ms, now)
    if (domains.length === 0) continue
    const figures = await Promise.all(domains.map((id) => store.quality.figures(id, ms, now)))
    const sum = (of: 'sent' | 'delivered') => figures.reduce((total, each) => total + each[of], 0)
    const [sent, delivered] = [sum('sent'), sum('delivered')]
    const message = `${delivered} of ${sent} delivered in the last ${words}`
    if (delivered > 0 || sent < MIN_SENT_TO_FAIL) return pass(message)
    return fail(
      message,
      'Read the replies of the receiving servers: GET /v1/messages?status=bounced, then …/<id>/explain',
    )
  }
  return skip('no delivery attempts for live mail in the last 7 days')
}

/** Checks that due mail does not wait. `warmingGroups`: the destination groups whose mail waits for the warm-up of sending
 *  addresses (warmup-waits.ts). */
export async function checkQueue(
  store: Pick<Store, 'queues'>,
  { now, isServed, warmingGroups }: { now: number; isServed: boolean; warmingGroups: () => Promise<readonly string[]> },
): Promise<Verdict> {
  const { deliveries } = await store.queues.waiting(now)
  const { due, later, oldestDueAt } = deliveries
  const waiting = `${due} due, ${later} later`
  if (oldestDueAt === null) return pass(`nothing is due, ${later} scheduled for later`)
  const lateMs = now - oldestDueAt
  const overdue = due === 1 ? '1 message is overdue' : `${due} messages are overdue`
  const message = `${overdue}, the oldest by ${Math.floor(lateMs / MINUTE_MS)} minutes`
  if (!isServed) return warn(`${waiting}, but no server is running`, 'Start it: systemctl start postrider')
  if (lateMs < LATE_MS) return pass(waiting)
  const groups = await warmingGroups()
  if (groups.length > 0) {
    const said = `${message}; the warm-up of sending addresses limits mail to ${groups.join(', ')}`
    if (lateMs < LATE_IN_WARMUP_MS) return pass(said)
    const advice = 'Send less, or add an address without warm-up to the pool. Mail that waits too long expires.'
    return lateMs < VERY_LATE_IN_WARMUP_MS ? warn(said, advice) : fail(said, advice)
  }
  const advice = 'GET /v1/messages/<id>/explain shows why a message waits. Usually its destination is busy or paused.'
  return lateMs < VERY_LATE_MS ? warn(message, advice) : fail(message, advice)
}
