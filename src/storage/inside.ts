import type { Event } from '../model/event.ts'
import type { Remember } from '../model/idempotency.ts'
import { type LimitName, type LimitReached, PLAN_LIMITS } from '../model/limits.ts'
import type { OnDemandEvent } from '../model/on-demand-event.ts'
import { type Plan, UNLIMITED } from '../model/organization.ts'
import { AlreadyRemembered } from './errors.ts'
import { appendAll } from './mail/events.ts'
import { type Counted, insideMail, type StoredRow, type StoredSource } from './mail/inside.ts'
import { rememberAll } from './mail/remember.ts'
import type { Work } from './sql.ts'

// What works write beside their own records, in the same transaction, and the limits of plans that they ask about.

/** Writes the record of an idempotent request; nothing without one. Throws AlreadyRemembered. */
export function* remember(record: Remember | undefined): Work<void> {
  if (record === undefined) return
  const added = yield* rememberAll(yield* insideMail(), [record])
  if (!added.has(record)) throw new AlreadyRemembered()
}

/** Counts the stored bytes of rows that were written or removed. */
export function* stored(source: StoredSource, rows: readonly StoredRow[]): Work<void> {
  const { stored } = yield* insideMail()
  for (const { place, organizationId, bytes } of rows) stored(source, place, organizationId, bytes)
}

/** Writes an event, counts it, and writes a delivery for each webhook that subscribed to it. */
export function* append(event: Event): Work<void> {
  yield* appendAll(yield* insideMail(), [{ event, isRepeatable: true }])
}

/** Writes the event if an active webhook receives it. */
export function* offer(event: OnDemandEvent): Work<void> {
  yield* appendAll(yield* insideMail(), [{ offered: event }])
}

/** Counters that both databases write as they change. */
export type UsageCounter = Exclude<Counted['counter'], 'volume' | 'scheduled_messages' | 'stored_bytes_count'>

/** What an organization has used. `period`: a month, a day, or '' for all time. Until the transaction ends, no other one that
 *  asks decides about the organization. */
export function* used(organizationId: string, counter: UsageCounter, period = ''): Work<number> {
  const [value = 0] = yield* (yield* insideMail()).usedOf([{ organizationId, counter, period }])
  return value
}

/** Adds to it. */
export function* use(organizationId: string, counter: UsageCounter, by: number, period = ''): Work<void> {
  ;(yield* insideMail()).use(organizationId, counter, by, period)
}

/** The plan of the organization, with its limits. */
export function* planOf(organizationId: string): Work<Plan> {
  return (yield* insideMail()).planOf(organizationId)
}

/** The limit of the plan that so many `more` records would exceed; null if there is none. `present`, the number of records,
 *  is read for limited plans only. */
export function* limitReached(
  plan: Plan,
  name: LimitName,
  present: () => Work<number>,
  more = 1,
): Work<LimitReached | null> {
  const limit = plan[PLAN_LIMITS[name].of]
  if (limit === UNLIMITED || more <= 0) return null
  const used = yield* present()
  return used + more > limit ? { kind: 'limit', name, limit, used } : null
}
