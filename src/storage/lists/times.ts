import { type NamedQuery, named } from '../named.ts'
import { SLACK_MS } from '../page.ts'
import type { Work } from '../sql.ts'
import type { TimeRange } from '../store.ts'

/** Numbers of records, from `low` to before `high`. */
export interface Numbers {
  low: number
  high: number
}

/** Columns of a table whose numbers increase with its times, to within SLACK_MS → the first number from `:low` to `:high`
 *  whose record, or the next one with the same `:owner`, has a time from `:at` on; `:high` if there is none. A binary
 *  search, so that no index of times is needed. `index` begins with the owner and the number. */
export function firstSince(of: {
  table: string
  index: string
  owner: string
  time: string
}): NamedQuery<{ number: number }> {
  const { table, index, owner, time } = of
  const middle = '(low + high) / 2'
  const text = (next: string) => {
    const isSince = `coalesce((select case when ${owner} = :owner then ${time} end from ${next} limit 1) >= :at, true)`
    return `with recursive search (low, high) as (
        select cast(:low as bigint), cast(:high as bigint)
        union all
        select case when ${isSince} then low else ${middle} + 1 end, case when ${isSince} then ${middle} else high end
        from search where low < high)
      select low as number from search where low >= high`
  }
  return named({
    // As a whole row, so that no plan reads another index; SQLite would lose the bound of the number.
    text: text(`${table} where (${owner}, number) >= (:owner, ${middle}) order by ${owner}, number`),
    sqlite: text(`${table} indexed by ${index} where ${owner} = :owner and number >= ${middle} order by number`),
  })
}

/** The numbers that records of the owner in a range of time can have. */
export function* numbersIn(
  { createdAfter, createdBefore }: TimeRange,
  { low, high }: Numbers,
  since: (values: { low: number; high: number; at: number }) => Work<{ number: number }[]>,
): Work<Numbers> {
  const first = function* (at: number) {
    return (yield* since({ low, high, at }))[0]?.number ?? high
  }
  return {
    low: createdAfter === null ? low : yield* first(createdAfter - SLACK_MS),
    high: createdBefore === null ? high : yield* first(createdBefore + SLACK_MS),
  }
}
