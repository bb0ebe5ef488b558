import type { ForwardTargetStatus } from '../../model/forward-target.ts'
import { dayOf, FIXED_LIMITS } from '../../model/limits.ts'
import { suppressionKey } from '../../model/suppression.ts'
import type { Inside } from '../inside.ts'
import { type Database, row, run, sql } from '../sql.ts'
import type { ForwardTargets } from '../store.ts'

const STATUS = sql<{ status: ForwardTargetStatus }>(
  'select status from forward_targets where organization_id = $1 and address = $2',
)
const ASKED = sql<{ count: number }>(`select coalesce(sum(asked_count), 0)::float8 as count from forward_targets
  where address = $1 and asked_day = $2`)
const ASK = sql(`insert into forward_targets as present
    (organization_id, address, status, changed_at, asked_at, asked_day, asked_count)
  values ($1, $2, 'pending', $3, $3, $4, 1)
  on conflict (organization_id, address) do update set asked_at = excluded.asked_at, asked_day = excluded.asked_day,
    asked_count = case when present.asked_day = excluded.asked_day then present.asked_count + 1 else 1 end`)
const SET = sql(`insert into forward_targets as present (organization_id, address, status, changed_at)
  values ($1, $2, $3, $4)
  on conflict (organization_id, address) do update set status = excluded.status, changed_at = excluded.changed_at
    where present.status <> excluded.status`)
// By their place in the table, because PostgreSQL compares a list of pairs with every row; SQLite's table has none.
const PRUNE = sql(
  `delete from forward_targets where status = 'pending' and asked_at < $1 and ctid = any(array(
    select ctid from forward_targets where status = 'pending' and asked_at < $1 order by asked_at limit $2))`,
  `delete from forward_targets where (organization_id, address) in (
    select organization_id, address from forward_targets
    where status = 'pending' and asked_at < $1 order by asked_at limit $2)`,
)

export function forwardTargetRecords(database: Database, { usage }: Inside): ForwardTargets {
  return {
    status: async (organizationId, email) =>
      (await database.row(STATUS, organizationId, suppressionKey(email)))?.status ?? 'pending',
    ask: (organizationId, email, now) =>
      database.write(function* () {
        const [day, address] = [dayOf(now), suppressionKey(email)]
        const present = (yield* row(STATUS, organizationId, address))?.status
        if (present === 'confirmed' || present === 'stopped') return present
        const { confirmationsPerTarget, confirmationsPerDay } = FIXED_LIMITS
        const ofTarget = (yield* row(ASKED, address, day))?.count ?? 0
        const ofOrganization = yield* usage.used(organizationId, 'confirmation_mails', day)
        if (ofTarget >= confirmationsPerTarget || ofOrganization >= confirmationsPerDay) return 'too_many'
        yield* usage.add(organizationId, 'confirmation_mails', 1, day)
        yield* run(ASK, organizationId, address, now, day)
        return 'asked'
      }, 'settings'),
    set: (organizationId, email, status, now) => database.run(SET, organizationId, suppressionKey(email), status, now),
    prune: (before, limit) => database.count(PRUNE, before, limit),
  }
}
