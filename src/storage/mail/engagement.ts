import { ERASED_ADDRESS } from '../../model/erasure.ts'
import type { Event } from '../../model/event.ts'
import { FIXED_LIMITS } from '../../model/limits.ts'
import type { Suppression } from '../../model/suppression.ts'
import type { Unsubscribable } from '../../model/unsubscribable.ts'
import { row, run, sql, type Value, type Work } from '../sql.ts'
import type { Deliveries, EngagementRecord } from '../store.ts'
import { appendAll } from './events.ts'
import type { MailInside } from './inside.ts'
import { suppressAll } from './suppress.ts'

interface Engaged {
  number: number
  opens: number
  clicks: number
  machineOpens: number
  machineClicks: number
  unsubscribedAt: number | null
  mxHost: string | null
  templateId: string | null
}

// Locked, so that the limit holds and only one open is the first.
const FIND = sql<Engaged>(
  `select d.number::float8 as number, d.opens, d.clicks, d.machine_opens as "machineOpens",
    d.machine_clicks as "machineClicks", d.unsubscribed_at::float8 as "unsubscribedAt",
    d.mx_host as "mxHost", (select m.template_id from messages m where m.number = d.message_number) as "templateId"
  from deliveries d where d.id = $1 and d.address <> '${ERASED_ADDRESS}' for no key update`,
)
const COUNT = sql(`update deliveries set opens = opens + $2::int, clicks = clicks + $3::int,
    machine_opens = machine_opens + $4::int, machine_clicks = machine_clicks + $5::int
  where number = $1::bigint`)
const UNSUBSCRIBE = sql('update deliveries set unsubscribed_at = $2::bigint where number = $1::bigint')

/** What is left of a removed delivery. */
export const UNSUBSCRIBABLE =
  sql<Unsubscribable>(`select delivery_id as "deliveryId", organization_id as "organizationId",
    domain_id as "domainId", stream, message_id as "messageId", sender as "from", email, sent_at as "sentAt"
  from unsubscribables where delivery_id = $1`)
const LOCK_UNSUBSCRIBABLE = sql<{ isReported: boolean }>(
  'select is_reported::boolean as "isReported" from unsubscribables where delivery_id = $1 for update',
)
const MARK_REPORTED = sql('update unsubscribables set is_reported = true where delivery_id = $1')

/** As Deliveries.recordUnsubscribable. */
export function* recordUnsubscribable(
  inside: MailInside,
  { id, event, suppression }: { id: string; event: Event; suppression: Suppression },
): Work<Awaited<ReturnType<Deliveries['recordUnsubscribable']>>> {
  const found = yield* row(LOCK_UNSUBSCRIBABLE, id)
  if (found === null) return 'unknown'
  const isNew = (yield* suppressAll(inside, [suppression])) > 0
  if (found.isReported && !isNew) return 'known'
  yield* run(MARK_REPORTED, id)
  yield* appendAll(inside, [{ event }])
  return 'recorded'
}

/** As Deliveries.recordEngagement. */
export function* recordEngagement(
  inside: MailInside,
  { deliveryId, kind, machine, event, suppression, now }: EngagementRecord,
): Work<Awaited<ReturnType<Deliveries['recordEngagement']>>> {
  const found = yield* row(FIND, deliveryId)
  if (found === null) return 'unknown'
  const how = { mxHost: found.mxHost, templateId: found.templateId }
  if (kind === 'unsubscribed') {
    const isNew = suppression !== null && (yield* suppressAll(inside, [suppression])) > 0
    if (found.unsubscribedAt !== null && !isNew) return 'counted'
    yield* run(UNSUBSCRIBE, found.number, now)
    yield* appendAll(inside, [{ event, how }])
    return 'recorded'
  }
  yield* run(COUNT, found.number, ...countOf(kind, machine))
  const { opens, clicks, machineOpens, machineClicks } = found
  const [people, machines] = kind === 'opened' ? [opens, machineOpens] : [clicks, machineClicks]
  if (people + machines >= FIXED_LIMITS.eventsOfEngagement) return 'counted'
  yield* appendAll(inside, [{ event, how: { ...how, isRepeat: people > 0 } }])
  return 'recorded'
}

/** One open or click of a person or a machine: values of COUNT. */
function countOf(kind: Exclude<EngagementRecord['kind'], 'unsubscribed'>, isMachine: boolean): Value[] {
  const one = (which: typeof kind, byMachine: boolean) => (kind === which && isMachine === byMachine ? 1 : 0)
  return [one('opened', false), one('clicked', false), one('opened', true), one('clicked', true)]
}
