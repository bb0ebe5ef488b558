import { ERASED_ADDRESS } from '../../model/erasure.ts'
import { FIXED_LIMITS } from '../../model/limits.ts'
import type { Unsubscribable } from '../../model/unsubscribable.ts'
import type { Inside } from '../inside.ts'
import { type Database, row, run, sql, type Value } from '../sql.ts'
import type { Deliveries, EngagementRecord } from '../store.ts'

interface Engaged {
  opens: number
  clicks: number
  machineOpens: number
  machineClicks: number
  unsubscribedAt: number | null
}

// Locked on PostgreSQL, so that the limit holds and only one open is the first. SQLite keeps these counts with the
// delivery.
const FIND = sql<Engaged>(
  `select coalesce(e.opens, 0) as opens, coalesce(e.clicks, 0) as clicks,
      coalesce(e.machine_opens, 0) as "machineOpens", coalesce(e.machine_clicks, 0) as "machineClicks",
      e.unsubscribed_at as "unsubscribedAt"
    from deliveries d left join engagement e on e.delivery_id = d.id
    where d.id = $1 and d.address <> '${ERASED_ADDRESS}' for no key update of d`,
  `select opens, clicks, machine_opens as "machineOpens", machine_clicks as "machineClicks",
      unsubscribed_at as "unsubscribedAt"
    from deliveries where id = $1 and address <> '${ERASED_ADDRESS}'`,
)
const ADD = sql(
  `insert into engagement as present (delivery_id, organization_id, opens, clicks, machine_opens, machine_clicks,
      unsubscribed_at)
    select id, organization_id, $2::int, $3::int, $4::int, $5::int, $6::bigint from deliveries where id = $1
    on conflict (delivery_id) do update set opens = present.opens + excluded.opens,
      clicks = present.clicks + excluded.clicks, machine_opens = present.machine_opens + excluded.machine_opens,
      machine_clicks = present.machine_clicks + excluded.machine_clicks,
      unsubscribed_at = coalesce(excluded.unsubscribed_at, present.unsubscribed_at)`,
  `update deliveries set opens = opens + $2, clicks = clicks + $3, machine_opens = machine_opens + $4,
      machine_clicks = machine_clicks + $5, unsubscribed_at = coalesce($6, unsubscribed_at)
    where id = $1`,
)
const UNSUBSCRIBABLE = sql<Unsubscribable>(`select delivery_id as "deliveryId", organization_id as "organizationId",
    domain_id as "domainId", stream, message_id as "messageId", sender as "from", email, sent_at as "sentAt"
  from unsubscribables where delivery_id = $1`)
const LOCK_UNSUBSCRIBABLE = sql<{ isReported: boolean }>(
  'select is_reported::boolean as "isReported" from unsubscribables where delivery_id = $1 for update',
)
const MARK_REPORTED = sql('update unsubscribables set is_reported = true where delivery_id = $1')

/** What recipients did with their mail. `unsubscribable`: the rest of a removed delivery whose recipient may still
 *  unsubscribe. */
export type Engagement = Pick<Deliveries, 'recordEngagement' | 'unsubscribable' | 'recordUnsubscribable'>

export function engagementRecords(
  database: Database,
  { append, suppress }: Pick<Inside, 'append' | 'suppress'>,
): Engagement {
  return {
    recordEngagement: ({ deliveryId, kind, machine, event, suppression, now }) =>
      database.write(function* () {
        const found = yield* row(FIND, deliveryId)
        if (found === null) return 'unknown'
        if (kind === 'unsubscribed') {
          const isNew = suppression !== null && (yield* suppress([suppression], suppression.createdAt)) > 0
          if (found.unsubscribedAt !== null && !isNew) return 'counted'
          yield* run(ADD, deliveryId, 0, 0, 0, 0, now)
          yield* append(event)
          return 'recorded'
        }
        yield* run(ADD, deliveryId, ...countOf(kind, machine), null)
        const { opens, clicks, machineOpens, machineClicks } = found
        const [people, machines] = kind === 'opened' ? [opens, machineOpens] : [clicks, machineClicks]
        if (people + machines >= FIXED_LIMITS.eventsOfEngagement) return 'counted'
        yield* append(event, { isRepeat: people > 0 })
        return 'recorded'
      }, 'events'),
    unsubscribable: (id) => database.row(UNSUBSCRIBABLE, id),
    recordUnsubscribable: (id, event, suppression) =>
      database.write(function* () {
        const found = yield* row(LOCK_UNSUBSCRIBABLE, id)
        if (found === null) return 'unknown'
        const isNew = (yield* suppress([suppression], suppression.createdAt)) > 0
        if (found.isReported && !isNew) return 'known'
        yield* run(MARK_REPORTED, id)
        yield* append(event)
        return 'recorded'
      }, 'events'),
  }
}

/** One open or click of a person or a machine: values of ADD. */
function countOf(kind: Exclude<EngagementRecord['kind'], 'unsubscribed'>, isMachine: boolean): Value[] {
  const one = (which: typeof kind, byMachine: boolean) => (kind === which && isMachine === byMachine ? 1 : 0)
  return [one('opened', false), one('clicked', false), one('opened', true), one('clicked', true)]
}
