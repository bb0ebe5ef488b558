import type { Event } from '../../model/event.ts'
import { isFor, type Target, webhookDeliveryId } from '../fan-out-targets.ts'
import { row, rows, run, sql, type Work } from '../sql.ts'
import { writeEach } from './each.ts'
import { ADD_POSTS, type NewPost } from './events.ts'
import type { MailInside } from './inside.ts'
import type { MailLane } from './lane.ts'
import type { PendingFanOuts } from './pending-fan-outs.ts'

// Goes from organization to organization along the index: its cost is their number.
export const PENDING = sql<{ id: string }>(`with recursive pending (id) as (
    select min(organization_id) from fan_outs
    union all
    select (select min(organization_id) from fan_outs where organization_id > pending.id)
    from pending where pending.id is not null)
  select id from pending where id is not null`)
// Locked, since several nodes may continue with the events of a node that ended.
const NEXT_OF =
  sql<Pending>(`select f.event_number::float8 as number, f.target_set::float8 as "targetSet", f.next, e.id,
    e.type, e.created_at::float8 as "createdAt", e.mode, e.domain_id as "domainId"
  from fan_outs f join events e on e.number = f.event_number
  where f.organization_id = $1 order by f.event_number limit $2 for update of f`)
const TARGETS = sql<{ targets: string }>('select targets from fan_out_targets where number = $1')
const REMOVE_TARGETS = sql(`delete from fan_out_targets where organization_id = $1
  and not exists (select 1 from fan_outs where organization_id = $1)`)
const MOVE = sql('update fan_outs set next = $2 where organization_id = $1 and event_number = any($3::bigint[])')
const DONE = sql('delete from fan_outs where organization_id = $1 and event_number = any($2::bigint[])')

/** Deliveries written in one later step. */
const STEP = 200
/** Events that are written together, for one webhook after the other, so that index pages of a webhook's deliveries
 *  are written once for all of them. */
const TOGETHER = 100

interface Pending extends Pick<Event, 'id' | 'type' | 'createdAt' | 'mode' | 'domainId'> {
  number: number
  targetSet: number
  next: number
}

/** Writes some deliveries of queued events, of one organization after the other → true while there are more. */
export async function fanOutNext(lane: MailLane, pending: PendingFanOuts): Promise<boolean> {
  const next = pending.next()
  if (next === null) return false
  pending.looked(next, await lane.perform((inside) => fanOutSome(inside, next.organizationId)))
  return pending.next() !== null
}

/** Writes deliveries of the oldest queued events of an organization → false if there are no such events left. */
function* fanOutSome(inside: MailInside, organizationId: string): Work<boolean> {
  let oldest: readonly Pending[] = yield* rows(NEXT_OF, organizationId, TOGETHER)
  if (oldest.length === 0) {
    yield* run(REMOVE_TARGETS, organizationId)
    return false
  }
  const posts: NewPost[] = []
  for (let left = STEP; left > 0; ) {
    const [first] = oldest
    if (first === undefined) break
    const events = whileAlike(oldest, first)
    oldest = oldest.slice(events.length)
    const all: Target[] = JSON.parse((yield* row(TARGETS, first.targetSet))?.targets ?? '[]')
    let at = first.next
    for (const target of all.slice(at)) {
      if (left <= 0) break
      at++
      left -= events.length // also for webhooks that are not subscribed, or were deleted meanwhile
      if (inside.webhooks.get(target.id) === null) continue
      for (const event of events) if (isFor(event)(target)) posts.push(postOf(inside, event, target.id))
    }
    const numbers = events.map(({ number }) => number)
    if (at < all.length) yield* run(MOVE, organizationId, at, numbers)
    else yield* run(DONE, organizationId, numbers)
  }
  yield* writeEach(ADD_POSTS, posts)
  return true
}

function postOf(inside: MailInside, event: Pending, webhookId: string): NewPost {
  const { id, type, createdAt: at, number: eventNumber } = event
  inside.offer('webhookDeliveries', webhookId, at)
  const number = inside.next('webhook_deliveries')
  return { number, id: webhookDeliveryId(id, webhookId), webhookId, eventNumber, type, at }
}

/** The first events that are at the same position of the same targets. */
function whileAlike(events: readonly Pending[], { targetSet, next }: Pending): readonly Pending[] {
  const end = events.findIndex((event) => event.targetSet !== targetSet || event.next !== next)
  return end < 0 ? events : events.slice(0, end)
}
