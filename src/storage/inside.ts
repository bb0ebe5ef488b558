import type { Event } from '../model/event.ts'
import { type LimitName, type LimitReached, PLAN_LIMITS } from '../model/limits.ts'
import type { OnDemandEvent } from '../model/on-demand-event.ts'
import { type Plan, UNLIMITED } from '../model/organization.ts'
import type { CountingContext } from '../model/stats.ts'
import type { Suppression } from '../model/suppression.ts'
import type { OnDemandEvents } from './fan-out-targets.ts'
import { row, sql, type Work } from './sql.ts'
import type { Remember } from './store.ts'

/** What a piece of work writes beside its own records, in the same transaction. */
export interface Inside {
  /** Writes the record of an idempotent request; nothing without one. Throws AlreadyRemembered. */
  remember(record: Remember | undefined): Work<void>
  usage: UsageInside
  /** Counts the stored bytes of rows that were written or removed. */
  stored(source: StoredSource, rows: readonly StoredRow[]): Work<void>
  /** Writes an event, counts it, and writes a delivery for each webhook that subscribed to it. */
  append(event: Event, how?: CountingContext): Work<void>
  /** Writes the event if an active webhook receives it. */
  offer(event: OnDemandEvent): Work<void>
  /** Writes those suppressions that do not exist yet, and in a work with events their events at `at` (ms UTC) → how many
   *  are new. */
  suppress(suppressions: readonly Suppression[], at: number): Work<number>
  /** Whether an active webhook of the organization names the type, as this process has it in memory. */
  isNamed: OnDemandEvents['isNamed']
  /** The work, which has noted the change, pauses a webhook: it receives no event that is written after this. */
  pausing(webhookId: string): Work<void>
}

/** Counters and limits of the plans of organizations. */
export interface UsageInside {
  planOf(organizationId: string): Plan
  /** `period`: a month, a day, or '' for all time. */
  used(organizationId: string, counter: UsageCounter, period?: string): Work<number>
  add(organizationId: string, counter: UsageCounter, by: number, period?: string): Work<void>
}

/** Counters that both databases write as they change. */
export type UsageCounter = 'stored_bytes' | 'suppressions' | 'confirmation_mails' | 'test_messages' | 'forwards'

/** Where bytes are stored. `answers`: responses stored for idempotency. */
export type StoredSource = 'templates' | 'answers'

export interface StoredRow {
  organizationId: string
  /** `ctid` of the row; null = that of the last insertion. A recount of SQLite needs it, which goes by row numbers. */
  place: unknown
  /** Negative for a removed row. */
  bytes: number
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

// Until the transaction ends, no other one decides about the organization: the nodes of PostgreSQL add at the same time.
const LOCK = sql<{ id: string }>('select id from organizations where id = $1 for no key update')

/** Waits for other transactions that do the same for the organization. */
export function* lockOrganization(organizationId: string): Work<void> {
  yield* row(LOCK, organizationId)
}

/** The limit of stored bytes that `more` would exceed; null if there is none. */
export function* bytesReached(usage: UsageInside, organizationId: string, more: number): Work<LimitReached | null> {
  const limit = usage.planOf(organizationId).storedBytes
  if (limit === UNLIMITED || more <= 0) return null
  yield* lockOrganization(organizationId)
  const used = yield* usage.used(organizationId, 'stored_bytes')
  return used + more > limit ? { kind: 'limit', name: 'stored_bytes', limit, used } : null
}
