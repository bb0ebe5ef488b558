import { type LimitName, type LimitReached, PLAN_LIMITS } from '../../model/limits.ts'
import { type Organization, type Plan, UNLIMITED } from '../../model/organization.ts'
import type { Mirror } from './mirror.ts'
import type { Queries, Statements } from './transactions.ts'

const USED = `select used::float8 as used from usage where organization_id = $1 and name = $2 and period = $3`
const ADD = `insert into usage as present (organization_id, name, period, used) values ($1, $2, $3, $4)
  on conflict (organization_id, name, period) do update set used = present.used + excluded.used`
const PRUNE = `delete from usage where (organization_id, name, period) in (
  select organization_id, name, period from usage where name = $1 and period < $2 and period <> '' limit $3)`

/** What is counted as it changes; the rest is counted from records. */
export type Counter = 'stored_bytes' | 'suppressions' | 'confirmation_mails'

/** Counters and limits of the plans of organizations, inside changes. */
export interface Usage {
  used(queries: Queries, organizationId: string, counter: Counter, period?: string): Promise<number>
  add(statements: Statements, organizationId: string, counter: Counter, by: number, period?: string): Promise<void>
  /** Null if `more` fits the plan, else the limit that it would exceed. `used` is called for limited plans only. */
  reached(
    organizationId: string,
    name: LimitName,
    more: number,
    used: () => Promise<number>,
  ): Promise<LimitReached | null>
  planOf(organizationId: string): Plan
  /** Deletes at most `limit` counts of periods before `before`; returns the number deleted. */
  prune(statements: Statements, counter: Counter, before: string, limit: number): Promise<number>
}

/** Plans by name, as configured → Usage. */
export function createUsage(organizations: Mirror<Organization>, plans: (name: string) => Plan): Usage {
  const planOf = (organizationId: string) => plans(organizations.get(organizationId)?.plan ?? '')
  return {
    planOf,
    used: async (queries, organizationId, counter, period = '') => {
      const [row] = await queries.query<{ used: number }>(USED, [organizationId, counter, period])
      return Math.max(0, row?.used ?? 0)
    },
    add: async ({ run }, organizationId, counter, by, period = '') => {
      if (by !== 0) await run(ADD, [organizationId, counter, period, by])
    },
    reached: async (organizationId, name, more, used) => {
      const limit = planOf(organizationId)[PLAN_LIMITS[name].of]
      if (limit === UNLIMITED || more <= 0) return null
      const count = await used()
      return count + more > limit ? { kind: 'limit', name, limit, used: count } : null
    },
    prune: ({ run }, counter, before, limit) => run(PRUNE, [counter, before, limit]),
  }
}
