import { dayOf, monthOf, USAGE_KEPT_MS } from '../../model/limits.ts'
import { UNLIMITED } from '../../model/organization.ts'
import { type Inside, limitReached, type UsageCounter } from '../inside.ts'
import { type Database, row, run, type Statement, sql, type Work } from '../sql.ts'
import type { UsageCounts } from '../store.ts'

/** A sum; PostgreSQL has a row for each lane. */
type Used = { used: number }
const USED = sql<Used>(`select coalesce(sum(used), 0)::float8 as used from usage
  where organization_id = $1 and name = $2 and period = $3`)
// SQLite counts the mail of a month in a table of its own, and messages that wait for their time as they change.
const VOLUME = sql<Used>(
  `select coalesce(sum(used), 0)::float8 as used from usage
    where organization_id = $1 and name = 'volume' and period = $2`,
  'select coalesce(sum(accepted), 0) as used from volumes where organization_id = $1 and month = $2',
)
const SCHEDULED = sql<Used>(
  `select count(distinct message_id) as used from delivery_queue where organization_id = $1 and status = 'scheduled'`,
  `select coalesce(sum(used), 0) as used from usage
    where organization_id = $1 and name = 'scheduled_messages' and period = ''`,
)
// The table of SQLite has no row numbers.
const PRUNE = sql(
  `delete from usage where ctid = any(array(select ctid from usage
    where name = $1 and period < $2 and period <> '' order by period limit $3))`,
  `delete from usage where (organization_id, name, period) in (select organization_id, name, period from usage
    where name = $1 and period < $2 and period <> '' limit $3)`,
)

/** `recount`: each database adds up stored bytes in its own way. */
export function usageRecords(
  database: Database,
  { usage }: Pick<Inside, 'usage'>,
  recount: Pick<UsageCounts, 'beginCount' | 'countSome'>,
): UsageCounts {
  return {
    ...recount,
    of: (organizationId, now) =>
      database.read(function* () {
        return {
          storedBytes: yield* used(organizationId, 'stored_bytes'),
          testMessages: yield* used(organizationId, 'test_messages', monthOf(now)),
          forwards: yield* used(organizationId, 'forwards', dayOf(now)),
          scheduledMessages: yield* sum(SCHEDULED, organizationId),
          suppressions: yield* used(organizationId, 'suppressions'),
        }
      }),
    isStorageFull: async (organizationId) => {
      const { storedBytes } = usage.planOf(organizationId)
      if (storedBytes === UNLIMITED) return false
      return (await database.read(() => used(organizationId, 'stored_bytes'))) >= storedBytes
    },
    forwardsReached: (organizationId, recipients, now) =>
      database.read(function* () {
        const plan = usage.planOf(organizationId)
        const forwards = () => used(organizationId, 'forwards', dayOf(now))
        const volume = () => sum(VOLUME, organizationId, monthOf(now))
        return (
          (yield* limitReached(plan, 'forwards_per_day', forwards, recipients)) ??
          (yield* limitReached(plan, 'messages_per_month', volume, recipients))
        )
      }),
    prune: (now, limit) =>
      database.write(function* () {
        const before = dayOf(now - USAGE_KEPT_MS)
        const forwards = yield* run(PRUNE, 'forwards', before, limit)
        return forwards + (yield* run(PRUNE, 'confirmation_mails', before, limit - forwards))
      }),
  }
}

const used = (organizationId: string, counter: UsageCounter, period = '') => sum(USED, organizationId, counter, period)

/** Never below 0, as a counter may be during a recount. */
function* sum(statement: Statement<Used>, ...values: string[]): Work<number> {
  return Math.max(0, (yield* row(statement, ...values))?.used ?? 0)
}
