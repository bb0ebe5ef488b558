import { dayOf, type LimitReached, monthOf, USAGE_KEPT_MS } from '../../model/limits.ts'
import { UNLIMITED } from '../../model/organization.ts'
import { limitReached, type UsageCounter } from '../inside.ts'
import type { MailInside } from '../mail/inside.ts'
import { type Database, row, run, type Statement, sql, type Work } from '../sql.ts'

/** A sum; PostgreSQL has a row for each lane. */
type Used = { used: number }
const USED = sql<Used>(`select coalesce(sum(used), 0)::float8 as used from usage
  where organization_id = $1 and name = $2 and period = $3`)
// The table of SQLite has no row numbers.
const PRUNE = sql(
  `delete from usage where ctid = any(array(select ctid from usage
    where name = $1 and period < $2 and period <> '' order by period limit $3))`,
  `delete from usage where (organization_id, name, period) in (select organization_id, name, period from usage
    where name = $1 and period < $2 and period <> '' limit $3)`,
)

/** A recount of all stored bytes, which repairs wrong counters. */
export interface Recount {
  /** Starts one; does nothing while one is in progress. */
  beginCount(): Promise<void>
  /** Runs one step, some milliseconds; true while there is more. */
  countSome(): Promise<boolean>
}

/** Counters for plan limits that are not counted from records (model/limits.ts). `recount`: each database adds up stored
 *  bytes in its own way. */
export function usageRecords(database: Database, { planOf }: Pick<MailInside, 'planOf'>, recount: Recount) {
  return {
    ...recount,
    /** Test recipients and forwards of the month and day of `now`; totals of the rest. */
    of: (
      organizationId: string,
      now: number,
    ): Promise<Record<'storedBytes' | 'testMessages' | 'forwards' | 'scheduledMessages' | 'suppressions', number>> =>
      database.read(function* () {
        return {
          storedBytes: yield* used(organizationId, 'stored_bytes'),
          testMessages: yield* used(organizationId, 'test_messages', monthOf(now)),
          forwards: yield* used(organizationId, 'forwards', dayOf(now)),
          scheduledMessages: yield* used(organizationId, 'scheduled_messages'),
          suppressions: yield* used(organizationId, 'suppressions'),
        }
      }),
    /** Whether nothing more may be stored for an organization. */
    isStorageFull: async (organizationId: string): Promise<boolean> => {
      const { storedBytes } = planOf(organizationId)
      if (storedBytes === UNLIMITED) return false
      return (await database.read(() => used(organizationId, 'stored_bytes'))) >= storedBytes
    },
    /** Whether so many more recipients may be forwarded to now: null, or the limit. */
    forwardsReached: (organizationId: string, recipients: number, now: number): Promise<LimitReached | null> =>
      database.read(function* () {
        const plan = planOf(organizationId)
        const forwards = () => used(organizationId, 'forwards', dayOf(now))
        const volume = () => used(organizationId, 'volume', monthOf(now))
        return (
          (yield* limitReached(plan, 'forwards_per_day', forwards, recipients)) ??
          (yield* limitReached(plan, 'messages_per_month', volume, recipients))
        )
      }),
    /** Deletes at most `limit` counts of past days; returns the number deleted. */
    prune: (now: number, limit: number): Promise<number> =>
      database.write(function* () {
        const before = dayOf(now - USAGE_KEPT_MS)
        const forwards = yield* run(PRUNE, 'forwards', before, limit)
        return forwards + (yield* run(PRUNE, 'confirmation_mails', before, limit - forwards))
      }),
  }
}

const used = (organizationId: string, counter: UsageCounter | 'scheduled_messages' | 'volume', period = '') =>
  sum(USED, organizationId, counter, period)

/** Never below 0, as a counter may be during a recount. */
function* sum(statement: Statement<Used>, ...values: string[]): Work<number> {
  return Math.max(0, (yield* row(statement, ...values))?.used ?? 0)
}
