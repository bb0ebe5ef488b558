import { rows, sql, type Work } from '../sql.ts'
import { each, forEach, writeAll, writeEach, writing } from './each.ts'
import type { MailInside } from './inside.ts'
import { GONE, removalOf } from './remove-messages.ts'

const REMOVE_FAN_OUTS = removalOf('fan_outs', 'event_number')
// Before their posts are read, so that no replay adds others. SQLite has one writer.
const LOCK_EVENTS = each<{ number: number }, never>(
  GONE,
  'select 1 from rows r, events e where e.number = r.gone for update of e',
  '',
)
/** A delivery of an event to a webhook, as its removal needs it. */
interface Post {
  number: number
  status: string
}
// Nothing waits: a transaction that has claimed some may wait for others.
const POSTS = sql<Post>(`select number::float8 as number, status from webhook_deliveries
  where event_number = any($1::bigint[]) limit $2 for update skip locked`)
// Those that others have locked, which SQLite with its one writer does not have.
const ANY_POST = each<{ number: number }, { found: number }>(
  GONE,
  'select 1 as found from rows r, webhook_deliveries d where d.event_number = r.gone limit 1',
  '',
)
// The posts come first: what is recorded of one meanwhile is there once it is removed, or finds it gone.
const OF_POST = [removalOf('webhook_deliveries', 'number'), removalOf('webhook_attempts', 'delivery_number')]
const REMOVE_HELD = removalOf('held_webhook_deliveries', 'number')
const REMOVE_EVENTS = removalOf('events', 'number')

/** Removes events with their deliveries to webhooks → false if these are more than one step removes, or somebody else has
 *  locked one; then the events are still there. An event has hundreds of webhooks, each with its attempts. */
export function* removeEvents({ pace }: MailInside, events: readonly { number: number }[]): Work<boolean> {
  // The second one waits for what is written of them.
  yield* writeAll(writing(LOCK_EVENTS, events), writing(REMOVE_FAN_OUTS, events))
  const numbers = events.map(({ number }) => number)
  const found = yield* rows(POSTS, numbers, pace.posts)
  yield* removePosts(found)
  if (found.length === pace.posts || (yield* forEach(ANY_POST, events)).length > 0) return false
  yield* writeEach(REMOVE_EVENTS, events)
  return true
}

/** Removes deliveries to webhooks with their attempts. */
export function removePosts(posts: readonly Post[]): Work<void> {
  const pending = posts.filter(({ status }) => status === 'pending') // no other one is on hold
  return writeAll(...OF_POST.map((statement) => writing(statement, posts)), writing(REMOVE_HELD, pending))
}
