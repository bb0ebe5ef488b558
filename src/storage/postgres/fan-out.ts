import { createHash } from 'node:crypto'
import type { Event, OnDemandEventType } from '../../model/event.ts'
import type { DueIndex } from '../due-index.ts'
import { createInlineBudget, isFor, type Target, webhookDeliveryId } from '../fan-out-targets.ts'
import type { SigningWebhook } from '../records/webhooks.ts'
import { slotOf } from '../slots.ts'
import { numberArray } from './arrays.ts'
import type { Writing } from './combined.ts'
import type { Group, MailLane } from './group.ts'
import { insertInto } from './insert.ts'
import type { Mirror } from './mirror.ts'
import type { Queries } from './transactions.ts'

const PENDING = 'select distinct organization_id as id from fan_outs'
// Locked, since several nodes may continue with the events of a node that ended.
const NEXT_OF = `select f.place::float8 as place, f.targets_digest as digest, f.next, e.id, e.type,
    e.created_at::float8 as "createdAt", e.mode, e.domain_id as "domainId"
  from fan_outs f join events e on e.id = f.event_id
  where f.organization_id = $1 order by f.place limit $2 for update of f`
const TARGETS = 'select targets from fan_out_targets where organization_id = $1 and digest = $2'
const MOVE = 'update fan_outs set next = $2 where organization_id = $1 and place = any($3::bigint[])'
const DONE = 'delete from fan_outs where organization_id = $1 and place = any($2::bigint[])'
const REMOVE_TARGETS = `delete from fan_out_targets where organization_id = $1
  and not exists (select 1 from fan_outs where organization_id = $1)`

/** Deliveries written in one later step. */
const STEP = 200
/** Events that are written together, for one webhook after the other. */
const TOGETHER = 100

interface NewWebhookDelivery {
  id: string
  organizationId: string
  webhookId: string
  event: Pick<Event, 'id' | 'type' | 'createdAt'>
}

const addDeliveries = insertInto<NewWebhookDelivery>(
  'webhook_deliveries',
  {
    id: ['text', ({ id }) => id],
    organization_id: ['text', ({ organizationId }) => organizationId],
    webhook_id: ['text', ({ webhookId }) => webhookId],
    event_id: ['text', ({ event }) => event.id],
    type: ['text', ({ event }) => event.type],
    created_at: ['bigint', ({ event }) => event.createdAt],
  },
  'on conflict do nothing',
)
const queueDeliveries = insertInto<NewWebhookDelivery>(
  'webhook_queue',
  {
    id: ['text', ({ id }) => id],
    organization_id: ['text', ({ organizationId }) => organizationId],
    slot: ['smallint', ({ webhookId }) => slotOf(webhookId)],
    key: ['text', ({ webhookId }) => webhookId],
    due_at: ['bigint', ({ event }) => event.createdAt],
    accepted_at: ['bigint', ({ event }) => event.createdAt],
  },
  'on conflict do nothing',
)
const addTargets = insertInto<{ organizationId: string; digest: string; targets: string }>(
  'fan_out_targets',
  {
    organization_id: ['text', ({ organizationId }) => organizationId],
    digest: ['text', ({ digest }) => digest],
    targets: ['text', ({ targets }) => targets],
  },
  'on conflict do nothing',
)
const queueEvents = insertInto<{ event: PlacedEvent; digest: string }>('fan_outs', {
  organization_id: ['text', ({ event }) => event.organizationId],
  place: ['bigint', ({ event }) => event.place],
  event_id: ['text', ({ event }) => event.id],
  targets_digest: ['text', ({ digest }) => digest],
})

type PlacedEvent = Event & { place: number }

/** Turns events into webhook deliveries. If there are too many for one transaction, they are queued beside the event
 *  with the webhooks that were subscribed, and written later in steps. From then on later events of that
 *  organization wait behind it, so that the order stays. IDs follow from event and webhook, so that nothing is written
 *  twice. */
export interface FanOut {
  /** True if an active webhook of the organization names the type. */
  isNamed(organizationId: string, type: OnDemandEventType): boolean
  /** A group begins. */
  begin(): GroupFanOut
  /** Reads which organizations have deliveries to write. */
  load(queries: Queries): Promise<void>
  /** Writes some of them, one organization after the other; true while there are more. */
  some(lane: MailLane): Promise<boolean>
}

export interface GroupFanOut {
  /** True if an active webhook receives the event. */
  isWanted(event: Pick<Event, 'organizationId' | 'type' | 'mode' | 'domainId'>): boolean
  /** The group pauses the webhook: it receives no event that is delivered after this. */
  pausing(webhookId: string): void
  isPausing(webhookId: string): boolean
  /** The event's deliveries: to the webhooks that subscribed to it, or to `onlyWebhook`. */
  deliver(event: PlacedEvent, onlyWebhook: string | undefined): void
  /** Sends the statements that write them, the frequent ones with `together`. */
  write(statements: Writing, together: Writing): Promise<unknown>
  /** They are written. */
  committed(): void
}

export function createFanOut(webhooks: Mirror<SigningWebhook>, dueIndex: DueIndex): FanOut {
  const webhooksOf = webhooks.index(({ organizationId }) => organizationId)
  const activeOf = (organizationId: string) => webhooksOf(organizationId).filter(({ status }) => status === 'active')
  const inline = createInlineBudget()
  /** Organizations with deliveries to write. */
  const pending = new Set<string>()
  /** The organization that had the last turn. */
  let last = ''

  const begin = (): GroupFanOut => {
    inline.begin()
    const pausing = new Set<string>()
    const receiving = (organizationId: string) => {
      const active = activeOf(organizationId)
      return pausing.size === 0 ? active : active.filter(({ id }) => !pausing.has(id))
    }
    const deliveries: NewWebhookDelivery[] = []
    const queued: { event: PlacedEvent; digest: string }[] = []
    const sets = new Map<string, { digest: string; targets: string }>()
    const deliverTo = (webhookId: string, event: PlacedEvent) => {
      const { organizationId } = event
      deliveries.push({ id: webhookDeliveryId(event.id, webhookId), organizationId, webhookId, event })
    }
    const currentSet = (organizationId: string) => {
      const known = sets.get(organizationId)
      if (known !== undefined) return known
      const targets = JSON.stringify(receiving(organizationId).map(toTarget))
      const set = { digest: createHash('sha256').update(targets).digest('hex'), targets }
      sets.set(organizationId, set)
      return set
    }
    return {
      isWanted: (event) => receiving(event.organizationId).some(isFor(event)),
      pausing: (webhookId) => pausing.add(webhookId),
      isPausing: (webhookId) => pausing.has(webhookId),
      deliver: (event, onlyWebhook) => {
        const { organizationId } = event
        if (onlyWebhook !== undefined) {
          if (webhooks.get(onlyWebhook) !== null) deliverTo(onlyWebhook, event)
          return
        }
        const to = receiving(organizationId).filter(isFor(event))
        if (to.length === 0) return
        if (!pending.has(organizationId) && !sets.has(organizationId) && inline.takes(organizationId, to.length)) {
          for (const { id } of to) deliverTo(id, event)
        } else queued.push({ event, digest: currentSet(organizationId).digest })
      },
      write: (statements, together) =>
        Promise.all([
          addDeliveries(together, deliveries),
          queueDeliveries(together, deliveries),
          addTargets(
            statements,
            [...sets].map(([organizationId, set]) => ({ organizationId, ...set })),
          ),
          queueEvents(statements, queued),
        ]),
      committed: () => {
        for (const { webhookId, event } of deliveries) dueIndex.offer(webhookId, event.createdAt)
        for (const { event } of queued) pending.add(event.organizationId)
      },
    }
  }

  return {
    isNamed: (organizationId, type) =>
      webhooksOf(organizationId).some(({ status, events }) => status === 'active' && events.includes(type)),
    begin,
    load: async ({ query }) => {
      for (const { id } of await query<{ id: string }>(PENDING)) pending.add(id)
    },
    some: async (lane) => {
      const waiting = [...pending].sort()
      const next = waiting.find((id) => id > last) ?? waiting[0]
      if (next === undefined) return false
      last = next
      await lane.perform(async (group) => {
        const written = await writeOldest(group, next, webhooks)
        group.add.afterCommit(() => {
          if (written === null) pending.delete(next)
          for (const { webhookId, event } of written ?? []) dueIndex.offer(webhookId, event.createdAt)
        })
      })
      return pending.size > 0
    },
  }
}

/** Writes deliveries of the oldest queued events of an organization → those; null if there are no such events left. */
async function writeOldest(
  { statements }: Group,
  organizationId: string,
  webhooks: Mirror<SigningWebhook>,
): Promise<NewWebhookDelivery[] | null> {
  const { query, run } = statements
  let oldest: readonly Pending[] = await query<Pending>(NEXT_OF, [organizationId, TOGETHER])
  if (oldest.length === 0) {
    await run(REMOVE_TARGETS, [organizationId])
    return null
  }
  const deliveries: NewWebhookDelivery[] = []
  for (let left = STEP; left > 0; ) {
    const [first] = oldest
    if (first === undefined) break
    const events = whileAlike(oldest, first)
    oldest = oldest.slice(events.length)
    const [set] = await query<{ targets: string }>(TARGETS, [organizationId, first.digest])
    const all: Target[] = JSON.parse(set?.targets ?? '[]')
    let at = first.next
    for (const target of all.slice(at)) {
      if (left <= 0) break
      at++
      left -= events.length // also for webhooks that are not subscribed, or were deleted meanwhile
      if (webhooks.get(target.id) === null) continue
      for (const event of events) {
        if (!isFor(event)(target)) continue
        deliveries.push({ id: webhookDeliveryId(event.id, target.id), organizationId, webhookId: target.id, event })
      }
    }
    const places = numberArray(events.map(({ place }) => place))
    if (at < all.length) await run(MOVE, [organizationId, at, places])
    else await run(DONE, [organizationId, places])
  }
  await addDeliveries(statements, deliveries)
  await queueDeliveries(statements, deliveries)
  return deliveries
}

const toTarget = ({ id, events, mode, domainId }: Target): Target => ({ id, events, mode, domainId })

/** The first events that are at the same position of the same targets. */
function whileAlike(events: readonly Pending[], { digest, next }: Pending): readonly Pending[] {
  const end = events.findIndex((event) => event.digest !== digest || event.next !== next)
  return end < 0 ? events : events.slice(0, end)
}

type Pending = Pick<PlacedEvent, 'place' | 'id' | 'type' | 'createdAt' | 'mode' | 'domainId'> & {
  digest: string
  next: number
}
