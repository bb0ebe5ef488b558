import { type Event, isOnDemand, type OnDemandEventType } from '../../model/event.ts'
import { eventOf, type OnDemandEvent } from '../../model/on-demand-event.ts'
import type { CountingContext } from '../../model/stats.ts'
import { isFor, type Target, webhookDeliveryId } from '../fan-out-targets.ts'
import type { Work } from '../sql.ts'
import { forEach, insertInto, writeEach } from './each.ts'
import type { MailInside } from './inside.ts'

/** An event to write, or one that is written if an active webhook receives it. `isRepeatable`: it may have been written
 *  before, and then nothing happens. */
export type NewEvent =
  | { event: Event; isRepeatable?: boolean; how?: CountingContext & { onlyWebhook?: string | undefined } }
  | { offered: OnDemandEvent }

interface Placed {
  number: number
  kind: number
  event: Event
}

const COLUMNS: Parameters<typeof insertInto<Placed>>[1] = {
  number: ['bigint', ({ number }) => number],
  id: ['text', ({ event }) => event.id],
  kind: ['bigint', ({ kind }) => kind],
  type: ['text', ({ event }) => event.type],
  organization_id: ['text', ({ event }) => event.organizationId],
  domain_id: ['text', ({ event }) => event.domainId],
  message_id: ['text', ({ event }) => event.messageId],
  mode: ['text', ({ event }) => event.mode],
  created_at: ['bigint', ({ event }) => event.createdAt],
  body: ['text', ({ event }) => event.body],
}
const ADD = insertInto<Placed>('events', COLUMNS)
/** Their IDs follow from what happened: it may have happened before. */
const ADD_ON_DEMAND = insertInto<Placed, { id: string }>('events', COLUMNS, 'on conflict (id) do nothing returning id')

export interface NewPost {
  number: number
  id: string
  webhookId: string
  eventNumber: number
  type: string
  at: number
}

/** IDs follow from event and webhook, so that nothing is written twice. */
export const ADD_POSTS = insertInto<NewPost>(
  'webhook_deliveries',
  {
    number: ['bigint', ({ number }) => number],
    id: ['text', ({ id }) => id],
    webhook_id: ['text', ({ webhookId }) => webhookId],
    event_number: ['bigint', ({ eventNumber }) => eventNumber],
    type: ['text', ({ type }) => type],
    status: ['text', () => 'pending'],
    attempts: ['int', () => 0],
    next_attempt_at: ['bigint', ({ at }) => at],
    created_at: ['bigint', ({ at }) => at],
  },
  'on conflict (id) do nothing',
)
const ADD_TARGETS = insertInto<{ number: number; organizationId: string; targets: string }>('fan_out_targets', {
  number: ['bigint', ({ number }) => number],
  organization_id: ['text', ({ organizationId }) => organizationId],
  targets: ['text', ({ targets }) => targets],
})
const ADD_FAN_OUTS = insertInto<{ eventNumber: number; organizationId: string; targetSet: number }>('fan_outs', {
  event_number: ['bigint', ({ eventNumber }) => eventNumber],
  organization_id: ['text', ({ organizationId }) => organizationId],
  target_set: ['bigint', ({ targetSet }) => targetSet],
  next: ['int', () => 0],
})

/** True if an active webhook of the organization names the type. */
export function isNamed(
  { webhooks }: Pick<MailInside, 'webhooks'>,
  organizationId: string,
  type: OnDemandEventType,
): boolean {
  return webhooks.activeOf(organizationId).some(({ events }) => events.includes(type))
}

function isWanted({ webhooks }: MailInside, event: OnDemandEvent | Event): boolean {
  return webhooks.activeOf(event.organizationId).some(isFor(event))
}

const NO_CONTEXT: CountingContext & { onlyWebhook?: string | undefined } = {}

/** Writes events, counts them, and writes one pending delivery for each active webhook that subscribed to them. */
export function* appendAll(inside: MailInside, events: readonly NewEvent[]): Work<void> {
  const minted: (Placed & { to: readonly string[] | null; how: CountingContext | null })[] = []
  const caused: typeof minted = []
  for (const each of events) {
    const { onlyWebhook, ...context } = 'event' in each && each.how !== undefined ? each.how : NO_CONTEXT
    const only = onlyWebhook === undefined ? null : [onlyWebhook]
    const happened = 'event' in each ? each.event : each.offered
    if (isOnDemand(happened.type) && only === null && !isWanted(inside, happened)) continue
    const event = 'event' in each ? each.event : eventOf(each.offered)
    const placed = {
      number: inside.next('events'),
      kind: inside.kinds.of(event),
      event,
      to: only,
      how: only === null ? context : null,
    }
    if (isOnDemand(event.type) || ('event' in each && each.isRepeatable === true)) caused.push(placed)
    else minted.push(placed)
  }
  yield* writeEach(ADD, minted)
  const written = caused.length === 0 ? null : new Set((yield* forEach(ADD_ON_DEMAND, caused)).map(({ id }) => id))
  const fresh = written === null ? minted : [...minted, ...caused.filter(({ event }) => written.delete(event.id))]
  yield* inside.kinds.write(
    fresh.map(({ event }) => event),
    inside.afterCommit,
  )
  for (const { event, how } of fresh) {
    inside.noted(event)
    if (how !== null) inside.counts.event(event, how)
  }
  yield* fanOut(inside, fresh)
}

/** Turns events into webhook deliveries. If there are too many for one transaction, they are queued beside the event
 *  with the webhooks that were subscribed, and written later in steps; so are later events of that organization. */
function* fanOut(inside: MailInside, events: readonly (Placed & { to: readonly string[] | null })[]): Work<void> {
  const posts: NewPost[] = []
  const sets: { number: number; organizationId: string; targets: string }[] = []
  const queued: { eventNumber: number; organizationId: string; targetSet: number }[] = []
  for (const { event, number, to } of events) {
    const { id, organizationId, type, createdAt: at } = event
    const active = inside.webhooks.activeOf(organizationId)
    if (to === null && active.length === 0) continue
    const targets = to ?? active.filter(isFor(event)).map((webhook) => webhook.id)
    if (targets.length === 0) continue
    const { pending } = inside.fanOut
    if (to !== null || (!pending.has(organizationId) && inside.fanOut.takes(organizationId, targets.length))) {
      for (const webhookId of targets) {
        if (inside.webhooks.get(webhookId) === null) continue
        const post = { id: webhookDeliveryId(id, webhookId), webhookId, eventNumber: number, type, at }
        posts.push({ ...post, number: inside.next('webhook_deliveries') })
        inside.offer('webhookDeliveries', webhookId, at)
      }
      continue
    }
    const targetSet = inside.fanOut.setOf(organizationId, (number) => {
      const packed = active.map(({ id, events, mode, domainId }): Target => ({ id, events, mode, domainId }))
      sets.push({ number, organizationId, targets: JSON.stringify(packed) })
    })
    queued.push({ eventNumber: number, organizationId, targetSet })
    inside.afterCommit(() => pending.queued(organizationId))
  }
  yield* writeEach(ADD_POSTS, posts)
  if (queued.length === 0) return
  yield* writeEach(ADD_TARGETS, sets)
  yield* writeEach(ADD_FAN_OUTS, queued)
}
