import { type LimitName, type LimitReached, PLAN_LIMITS } from '../../model/limits.ts'
import { type Organization, type Plan, planFor, UNLIMITED } from '../../model/organization.ts'
import { textArray } from './arrays.ts'
import type { Writing } from './combined.ts'
import { insertInto } from './insert.ts'
import type { Mirror } from './mirror.ts'
import type { Queries, Statements } from './transactions.ts'

const USED = `select organization_id as "organizationId", name, period, sum(used)::float8 as used from usage
  where (organization_id, name, period) in (select * from unnest($1::text[], $2::text[], $3::text[])) group by 1, 2, 3`
const LOCK = 'select id from organizations where id = any($1::text[]) order by id for no key update'

/** What is counted as it changes; the rest is counted from records. */
export type Counter =
  | 'stored_bytes'
  | 'suppressions'
  | 'confirmation_mails'
  /** Recipients accepted for live sending. */
  | 'volume'
  | 'test_messages'
  /** Messages that were ever accepted for later. */
  | 'ever_scheduled'
  | 'forwards'

/** One counter of an organization. `period`: a month, a day, or '' for all time. */
export interface Counted {
  organizationId: string
  counter: Counter
  period: string
}

/** Counters and limits of the plans of organizations, inside changes. */
export interface Usage {
  used(queries: Queries, organizationId: string, counter: Counter, period?: string): Promise<number>
  /** Several counters at once → the value of each. */
  usedOf(queries: Queries, counted: readonly Counted[]): Promise<(counted: Counted) => number>
  /** Until the transaction ends, no other one that does the same decides about these organizations. Called before a
   *  limit is checked, since lanes add to counters at the same time. */
  lock(statements: Statements, organizationIds: Iterable<string>): Promise<void>
  add(statements: Statements, organizationId: string, counter: Counter, by: number, period?: string): Promise<void>
  addAll(statements: Writing, sums: readonly (Counted & { by: number })[]): Promise<unknown>
  /** Null if `more` fits the plan, else the limit that it would exceed. `used` is called for limited plans only. */
  reached(
    organizationId: string,
    name: LimitName,
    more: number,
    used: () => Promise<number>,
  ): Promise<LimitReached | null>
  /** The same for a known count. */
  exceeds(organizationId: string, name: LimitName, more: number, used: number): LimitReached | null
  planOf(organizationId: string): Plan
}

const add = insertInto<Counted & { by: number; laneId: number }>(
  'usage as present',
  {
    organization_id: ['text', ({ organizationId }) => organizationId],
    name: ['text', ({ counter }) => counter],
    period: ['text', ({ period }) => period],
    lane_id: ['int', ({ laneId }) => laneId],
    used: ['bigint', ({ by }) => by],
  },
  'on conflict (organization_id, name, period, lane_id) do update set used = present.used + excluded.used',
)

/** Plans by name, as configured → Usage. */
export function createUsage(organizations: Mirror<Organization>, plans: (name: string) => Plan): Usage {
  const planOf = (organizationId: string) => planFor(organizationId, organizations.get(organizationId), plans)
  const usedOf: Usage['usedOf'] = async ({ query }, counted) => {
    const columns = [
      counted.map(({ organizationId }) => organizationId),
      counted.map(({ counter }) => counter),
      counted.map(({ period }) => period),
    ]
    const rows =
      counted.length === 0
        ? []
        : await query<{ organizationId: string; name: Counter; period: string; used: number }>(
            USED,
            columns.map(textArray),
          )
    const sums = new Map(rows.map((row) => [keyOf({ ...row, counter: row.name }), row.used]))
    return (of) => Math.max(0, sums.get(keyOf(of)) ?? 0)
  }
  const exceeds: Usage['exceeds'] = (organizationId, name, more, used) => {
    const limit = planOf(organizationId)[PLAN_LIMITS[name].of]
    const isExceeded = limit !== UNLIMITED && more > 0 && used + more > limit
    return isExceeded ? { kind: 'limit', name, limit, used } : null
  }
  const addAll: Usage['addAll'] = (statements, sums) => {
    const { laneId } = statements
    const rows = sums.filter(({ by }) => by !== 0).map((sum) => ({ ...sum, laneId }))
    return add(statements, rows)
  }
  return {
    planOf,
    usedOf,
    used: async (queries, organizationId, counter, period = '') => {
      const of = { organizationId, counter, period }
      return (await usedOf(queries, [of]))(of)
    },
    lock: async ({ query }, organizationIds) => {
      await query(LOCK, [textArray([...organizationIds])])
    },
    add: async (statements, organizationId, counter, by, period = '') => {
      await addAll(statements, [{ organizationId, counter, period, by }])
    },
    addAll,
    exceeds,
    reached: async (organizationId, name, more, used) => {
      const isLimited = planOf(organizationId)[PLAN_LIMITS[name].of] !== UNLIMITED && more > 0
      return isLimited ? exceeds(organizationId, name, more, await used()) : null
    },
  }
}

/** Text that is the same for the same counter. */
export const keyOf = ({ organizationId, counter, period }: Counted) => `${organizationId} ${counter} ${period}`
