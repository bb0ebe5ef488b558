import type { Event } from '../model/event.ts'
import type { Remember } from '../model/idempotency.ts'
import { type LimitName, type LimitReached, PLAN_LIMITS } from '../model/limits.ts'
import type { OnDemandEvent } from '../model/on-demand-event.ts'
import { type Plan, UNLIMITED } from '../model/organization.ts'
import type { CountingContext } from '../model/stats.ts'
import type { Suppression } from '../model/suppression.ts'
import { AlreadyRemembered } from './errors.ts'
import { appendAll } from './mail/events.ts'
import { type Counted, insideMail, type MailInside, type StoredRow, type StoredSource } from './mail/inside.ts'
import { rememberAll } from './mail/remember.ts'
import { suppressAll } from './mail/suppress.ts'
import { row, sql, type Work } from './sql.ts'

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
  /** Writes those suppressions that do not exist yet, and their events at `at` (ms UTC) → how many are new. */
  suppress(suppressions: readonly Suppression[], at: number): Work<number>
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
export type UsageCounter = Exclude<Counted['counter'], 'volume' | 'scheduled_messages' | 'stored_bytes_count'>

/** What works write beside their own records, by what works on mail use. */
export function recordsInside({ planOf }: Pick<MailInside, 'planOf'>): Inside {
  return {
    remember,
    usage: {
      planOf,
      used: function* (organizationId, counter, period = '') {
        const [used = 0] = yield* (yield* insideMail()).usedOf([{ organizationId, counter, period }])
        return used
      },
      add: function* (organizationId, counter, by, period = '') {
        ;(yield* insideMail()).use(organizationId, counter, by, period)
      },
    },
    stored: function* (source, rows) {
      const { stored } = yield* insideMail()
      for (const { place, organizationId, bytes } of rows) stored(source, place, organizationId, bytes)
    },
    append: function* (event, how = {}) {
      yield* appendAll(yield* insideMail(), [{ event, isRepeatable: true, how }])
    },
    offer: function* (event) {
      yield* appendAll(yield* insideMail(), [{ offered: event }])
    },
    suppress: function* (suppressions, at) {
      return yield* suppressAll(yield* insideMail(), suppressions, at)
    },
    pausing: function* (webhookId) {
      ;(yield* insideMail()).pausing(webhookId)
    },
  }
}

function* remember(record: Remember | undefined): Work<void> {
  if (record === undefined) return
  const added = yield* rememberAll(yield* insideMail(), [record])
  if (!added.has(record)) throw new AlreadyRemembered()
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
