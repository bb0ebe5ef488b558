import type { Event } from '../../model/event.ts'
import { FIXED_LIMITS } from '../../model/limits.ts'
import { concerns } from '../../model/webhook.ts'
import { webhookDeliveryId } from '../fan-out-targets.ts'
import { row, rows, run, sql, type Work } from '../sql.ts'
import type { WebhookDeliveries } from '../store.ts'
import { writeEach } from './each.ts'
import { ADD_POSTS, type NewPost } from './events.ts'
import type { MailInside } from './inside.ts'
import type { MailLane } from './lane.ts'

const FIND = sql<{ number: number; webhookId: string; worker: string | null; attempts: number }>(
  'select number, webhook_id as "webhookId", worker, attempts from webhook_deliveries where id = $1 for update',
)
const RETRY = sql(`update webhook_deliveries set status = 'pending', next_attempt_at = $2 where number = $1`)
const FORGET_HELD = sql('delete from held_webhook_deliveries where number = $1')
const EVENT_TIME = sql<{ createdAt: number; number: number }>(
  'select created_at as "createdAt", number from events where id = $1',
)
const EVENTS_OF_RANGE = sql<Pick<Event, 'id' | 'type' | 'mode' | 'domainId'> & { number: number }>(
  // Locked, so that retention removes none of them meanwhile, and of two replays the second one sees what the first one
  // queues.
  `select number, id, type, mode, domain_id as "domainId" from events
  where organization_id = $1 and (created_at, number) > ($2, $3) and created_at < $4
    and ($5::text is null or type = $5) order by created_at, number limit $6 for no key update`,
)
// By their events: `||` hides the index of the webhook, which has all others too.
const QUEUED_OF = sql<{ number: number; id: string; status: string }>(
  `select event_number as number, id, status from webhook_deliveries
  where event_number = any($1::bigint[]) and webhook_id || '' = $2`,
)

/** WebhookDeliveries.retry. */
function* retryPost(
  inside: MailInside,
  { id, now }: { id: string; now: number },
): Work<Awaited<ReturnType<WebhookDeliveries['retry']>>> {
  const found = yield* row(FIND, id)
  if (found === null) throw new Error(`there is no webhook delivery ${id}`)
  if (found.attempts >= FIXED_LIMITS.webhookAttempts) return 'limit'
  if (found.worker !== null) return 'under_way'
  yield* run(RETRY, found.number, now)
  yield* run(FORGET_HELD, found.number)
  inside.offer('webhookDeliveries', found.webhookId, now)
  return 'queued'
}

/** One call of WebhookDeliveries.replay. */
interface Replay {
  webhookId: string
  range: Parameters<WebhookDeliveries['replay']>[1]
  limit: number
  now: number
}

/** WebhookDeliveries.replay. */
function* replayEvents(
  inside: MailInside,
  { webhookId, range, limit, now }: Replay,
): Work<Awaited<ReturnType<WebhookDeliveries['replay']>>> {
  const webhook = inside.webhooks.get(webhookId) // none if it is being removed
  if (webhook === null) throw new Error(`there is no webhook ${webhookId}`)
  const { from, before, type, afterEvent } = range
  const after = afterEvent === null ? null : yield* row(EVENT_TIME, afterEvent)
  const start = after ?? { createdAt: from, number: 0 }
  const { organizationId } = webhook
  const found = yield* rows(EVENTS_OF_RANGE, organizationId, start.createdAt, start.number, before, type, limit + 1)
  const events = found.slice(0, limit)
  const numbers = events.map(({ number }) => number)
  const known = numbers.length === 0 ? [] : yield* rows(QUEUED_OF, numbers, webhookId)
  const queuedOf = Map.groupBy(known, ({ number }) => number)
  const posts = events.flatMap((event): NewPost[] => {
    const queued = queuedOf.get(event.number) ?? []
    const id = webhookDeliveryId(event.id, webhookId, now)
    const isRefused =
      queued.length >= FIXED_LIMITS.replaysOfEvent || queued.some((post) => post.status === 'pending' || post.id === id)
    if (isRefused || !concerns(webhook, event)) return []
    const { number: eventNumber, type } = event
    return [{ number: inside.next('webhook_deliveries'), id, webhookId, eventNumber, type, at: now }]
  })
  yield* writeEach(ADD_POSTS, posts)
  inside.offer('webhookDeliveries', webhookId, now)
  return { queued: posts.length, more: found.length > limit ? (events.at(-1)?.id ?? null) : null }
}

/** Manual retries and replays. */
export function repeats(lane: MailLane): Pick<WebhookDeliveries, 'retry' | 'replay'> {
  return {
    retry: (id, now) => lane.perform((inside) => retryPost(inside, { id, now })),
    replay: (webhookId, range, limit, now) =>
      lane.perform((inside) => replayEvents(inside, { webhookId, range, limit, now })),
  }
}
