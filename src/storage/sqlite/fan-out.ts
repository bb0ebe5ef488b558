import { type Event, type EventType, isOnDemand } from '../../model/event.ts'
import { eventOf } from '../../model/on-demand-event.ts'
import type { CountingContext } from '../../model/stats.ts'
import type { Webhook } from '../../model/webhook.ts'
import type { DueIndex } from '../due-index.ts'
import { createInlineBudget, isFor, type OnDemandEvents, type Target, webhookDeliveryId } from '../fan-out-targets.ts'
import type { Counters } from './counters.ts'
import { type Connection, one } from './driver.ts'
import type { WebhookCache } from './endpoints.ts'
import type { EventKinds } from './event-kinds.ts'
import type { ForeignChanges } from './foreign.ts'

const APPEND = `insert into events (id, type, organization_id, domain_id, message_id, mode, created_at, body)
  values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do nothing`
const DELIVER = `insert into webhook_deliveries (id, webhook_id, event_number, type, status, attempts, next_attempt_at, created_at)
  values (?, ?, ?, ?, 'pending', 0, ?, ?) on conflict do nothing`
const ADD_TARGETS = 'insert into fan_out_targets (organization_id, targets) values (?, ?)'
const TARGETS = 'select targets from fan_out_targets where number = ?'
const REMOVE_TARGETS = 'delete from fan_out_targets where organization_id = ?'
const QUEUE = 'insert into fan_outs (event_number, organization_id, target_set, next) values (?, ?, ?, 0)'
// Goes from organization to organization along the index: its cost is their number.
const PENDING = `with recursive pending (id) as (
    select min(organization_id) from fan_outs
    union all
    select (select min(organization_id) from fan_outs where organization_id > id) from pending where id is not null)
  select id from pending where id is not null`
const NEXT_OF = `select f.event_number as eventNumber, f.target_set as targetSet, f.next, e.id, e.type,
    e.created_at as createdAt, e.mode, e.domain_id as domainId
  from fan_outs f join events e on e.number = f.event_number
  where f.organization_id = ? order by f.event_number limit ?`
const MOVE = 'update fan_outs set next = ? where organization_id = ? and event_number between ? and ?'
const DONE = 'delete from fan_outs where organization_id = ? and event_number between ? and ?'

/** Deliveries written in one later step. */
const STEP = 200
/** Events that are written together, for one webhook after the other, so that index pages of a webhook's deliveries
 *  are written once for all of them. Event by event, 60 webhooks cost a step ten times the pages. */
const TOGETHER = 100

/** Writes an event, counts it, and writes one pending delivery for each active webhook that subscribed to its type,
 *  inside the change that caused it. An event that already exists was fanned out then, and an on-demand event that no
 *  active webhook receives is not written: nothing happens. */
export type AppendInside = (event: Event, how?: CountingContext & Only) => void

/** Limits the fan-out to one webhook, whatever its subscriptions, without counting the event. */
interface Only {
  onlyWebhook?: string | undefined
}

/** Turns events into webhook deliveries. If there are too many for one transaction, they are queued beside the event
 *  with the webhooks that were subscribed, and written later in steps. From then on later events of that
 *  organization wait behind it, so that the order stays. After an interruption the next process continues after the
 *  last committed step; IDs follow from event and webhook, so that nothing is written twice. */
export interface FanOut {
  append: AppendInside
  /** True while deliveries are still to be written. */
  hasPending(): boolean
  /** Inside a change: writes some of them, one organization after the other; true while there are more. */
  some(): boolean
  /** A transaction begins. */
  begun(): void
  /** Drops the state of changes that were rolled back. */
  drop(): void
}

export function createFanOut(
  db: Connection,
  inside: {
    webhooks: WebhookCache
    dueIndex: DueIndex
    counters: Counters
    kinds: EventKinds
    foreign: ForeignChanges
  },
): FanOut {
  const { webhooks, dueIndex, counters, kinds } = inside
  const append = db.prepare(APPEND)
  const deliver = db.prepare(DELIVER)
  const queue = db.prepare(QUEUE)
  const pendingOf = db.prepare<unknown[], string>(PENDING).pluck()

  const targetSets = createTargetSets(db, webhooks)
  const inline = createInlineBudget()
  /** Organizations with deliveries to write; null = not read yet. */
  let pending: Set<string> | null = null
  /** The organization that had the last turn. */
  let last = ''

  const drop = () => {
    pending = null
    targetSets.drop()
  }
  inside.foreign.onChange(drop)
  const organizations = () => {
    pending ??= new Set(pendingOf.all())
    return pending
  }
  const deliverTo = (webhookId: string, { number, id, type, createdAt }: Written) => {
    deliver.run(webhookDeliveryId(id, webhookId), webhookId, number, type, createdAt, createdAt)
    dueIndex.offer(webhookId, createdAt)
  }
  const targetsOf = (event: Event) => webhooks.activeOf(event.organizationId).filter(isFor(event))
  const fanOut = (organizationId: string, event: Written, to: readonly Webhook[]) => {
    if (to.length === 0) return
    if (!organizations().has(organizationId) && inline.takes(organizationId, to.length)) {
      for (const { id } of to) deliverTo(id, event)
      return
    }
    queue.run(event.number, organizationId, targetSets.current(organizationId))
    organizations().add(organizationId)
  }
  const writeOldest = createOldestWriter(db, { webhooks, targetSets, deliverTo })

  return {
    append: (event, how = {}) => {
      const { id, type, organizationId, domainId, messageId, mode, createdAt, body } = event
      if (isOnDemand(type) && how.onlyWebhook === undefined && targetsOf(event).length === 0) return
      const { changes, lastInsertRowid: number } = append.run(
        id,
        type,
        organizationId,
        domainId,
        messageId,
        mode,
        createdAt,
        body,
      )
      if (changes === 0) return
      kinds.note(event, number)
      if (how.onlyWebhook === undefined) {
        counters.event(event, how)
        fanOut(organizationId, { number, id, type, createdAt }, targetsOf(event))
      } else if (webhooks.get(how.onlyWebhook) !== null) deliverTo(how.onlyWebhook, { number, id, type, createdAt })
    },
    hasPending: () => organizations().size > 0,
    some: () => {
      const waiting = [...organizations()].sort()
      const next = waiting.find((id) => id > last) ?? waiting[0]
      if (next === undefined) return false
      last = next
      if (!writeOldest(next)) {
        targetSets.remove(next)
        organizations().delete(next)
      }
      return organizations().size > 0
    },
    begun: inline.begin,
    drop,
  }
}

/** `append`: writes what a webhook receives. */
export function onDemandEvents(webhooks: WebhookCache, append: AppendInside): OnDemandEvents {
  return {
    isNamed: (organizationId, type) => webhooks.activeOf(organizationId).some(({ events }) => events.includes(type)),
    offer: (event) => {
      if (webhooks.activeOf(event.organizationId).some(isFor(event))) append(eventOf(event))
    },
  }
}

/** Webhooks that were subscribed when events were queued, by organization: one row for all events with the same
 *  subscriptions. */
function createTargetSets(db: Connection, webhooks: WebhookCache) {
  const add = db.prepare(ADD_TARGETS)
  const read = db.prepare<unknown[], string>(TARGETS).pluck()
  const remove = db.prepare(REMOVE_TARGETS)
  /** The set that was written last. */
  const sets = new Map<string, { of: Webhook[]; number: number | bigint }>()
  return {
    /** Number of the current set, written if it is new. */
    current: (organizationId: string): number | bigint => {
      const of = webhooks.activeOf(organizationId)
      const known = sets.get(organizationId)
      if (known?.of === of) return known.number
      const packed = JSON.stringify(
        of.map(({ id, events, mode, domainId }): Target => ({ id, events, mode, domainId })),
      )
      const number = add.run(organizationId, packed).lastInsertRowid
      sets.set(organizationId, { of, number })
      return number
    },
    read: (number: number): Target[] => JSON.parse(one(read, number)),
    remove: (organizationId: string) => {
      remove.run(organizationId)
      sets.delete(organizationId)
    },
    drop: () => sets.clear(),
  }
}

/** Returns a function that writes deliveries of the oldest queued events of an organization; false if there are none
 *  left. */
function createOldestWriter(
  db: Connection,
  inside: {
    webhooks: WebhookCache
    targetSets: ReturnType<typeof createTargetSets>
    deliverTo: (webhookId: string, event: Written) => void
  },
): (organizationId: string) => boolean {
  const { webhooks, targetSets, deliverTo } = inside
  const nextOf = db.prepare<unknown[], Pending>(NEXT_OF)
  const move = db.prepare(MOVE)
  const done = db.prepare(DONE)
  return (organizationId) => {
    let oldest: readonly Pending[] = nextOf.all(organizationId, TOGETHER)
    if (oldest.length === 0) return false
    for (let left = STEP; left > 0; ) {
      const [first] = oldest
      if (first === undefined) break
      const events = whileAlike(oldest, first)
      oldest = oldest.slice(events.length)
      const all = targetSets.read(first.targetSet)
      let at = first.next
      for (const target of all.slice(at)) {
        if (left <= 0) break
        at++
        left -= events.length // also for webhooks that are not subscribed, or were deleted meanwhile
        if (webhooks.get(target.id) === null) continue
        for (const event of events) {
          if (isFor(event)(target)) deliverTo(target.id, { ...event, number: event.eventNumber })
        }
      }
      const range = [organizationId, first.eventNumber, (events.at(-1) ?? first).eventNumber]
      if (at < all.length) move.run(at, ...range)
      else done.run(...range)
    }
    return true
  }
}

/** The fields of an event that its deliveries need. */
interface Written {
  number: number | bigint
  id: string
  type: EventType
  createdAt: number
}

/** The first events that are at the same position of the same targets. */
function whileAlike(events: readonly Pending[], { targetSet, next }: Pending): readonly Pending[] {
  const end = events.findIndex((event) => event.targetSet !== targetSet || event.next !== next)
  return end < 0 ? events : events.slice(0, end)
}

interface Pending {
  eventNumber: number
  targetSet: number
  next: number
  id: string
  type: EventType
  createdAt: number
  mode: Event['mode']
  domainId: Event['domainId']
}
