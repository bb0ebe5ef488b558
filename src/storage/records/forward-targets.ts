import type { AskResult, ForwardTargetStatus } from '../../model/forward-target.ts'
import { dayOf, FIXED_LIMITS } from '../../model/limits.ts'
import { suppressionKey } from '../../model/suppression.ts'
import { use, used } from '../inside.ts'
import { type Database, row, run, sql, type Work } from '../sql.ts'

const STATUS = sql<{ status: ForwardTargetStatus }>(
  'select status from forward_targets where organization_id = $1 and address = $2',
)
const ASKED = sql<{ count: number }>(`select coalesce(sum(asked_count), 0)::float8 as count from forward_targets
  where address = $1 and asked_day = $2`)
const ASK = sql(`insert into forward_targets as present
    (organization_id, address, status, changed_at, asked_at, asked_day, asked_count)
  values ($1, $2, 'pending', $3, $3, $4, 1)
  on conflict (organization_id, address) do update set asked_at = excluded.asked_at, asked_day = excluded.asked_day,
    asked_count = case when present.asked_day = excluded.asked_day then present.asked_count + 1 else 1 end
    where present.status = 'pending'`)
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

/** External addresses in forward routes. A confirmation applies to the organization and all its routes. Addresses
 *  are compared without case. */
export function forwardTargetRecords(database: Database) {
  return {
    /** `pending` for an address that was never asked. */
    status: async (organizationId: string, email: string): Promise<ForwardTargetStatus> =>
      (await database.row(STATUS, organizationId, suppressionKey(email)))?.status ?? 'pending',
    /** Counts a confirmation mail that is about to be sent, unless none is needed or a daily limit is reached: for the
     *  address over all organizations, or for this organization (FIXED_LIMITS). */
    ask: (organizationId: string, email: string, now: number): Promise<AskResult> =>
      database.write(function* () {
        const [day, address] = [dayOf(now), suppressionKey(email)]
        const present = yield* answerOf(organizationId, address)
        if (present !== null) return present
        const { confirmationsPerTarget, confirmationsPerDay } = FIXED_LIMITS
        const ofTarget = (yield* row(ASKED, address, day))?.count ?? 0
        const ofOrganization = yield* used(organizationId, 'confirmation_mails', day)
        if (ofTarget >= confirmationsPerTarget || ofOrganization >= confirmationsPerDay) return 'too_many'
        // The answer to an earlier mail may come meanwhile.
        if ((yield* run(ASK, organizationId, address, now, day)) === 0)
          return (yield* answerOf(organizationId, address)) ?? 'too_many'
        yield* use(organizationId, 'confirmation_mails', 1, day)
        return 'asked'
      }, 'settings'),
    set: (organizationId: string, email: string, status: ForwardTargetStatus, now: number): Promise<void> =>
      database.run(SET, organizationId, suppressionKey(email), status, now),
    /** Deletes at most `limit` targets whose last request is older than `before` and unanswered; returns the number
     *  deleted. */
    prune: (before: number, limit: number): Promise<number> => database.count(PRUNE, before, limit),
  }
}

/** What the owner of the address answered; null if nothing yet. */
function* answerOf(organizationId: string, address: string): Work<Exclude<ForwardTargetStatus, 'pending'> | null> {
  const status = (yield* row(STATUS, organizationId, address))?.status ?? 'pending'
  return status === 'pending' ? null : status
}
