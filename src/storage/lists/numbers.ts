import { firstId, type IdPrefix } from '../../os/ids.ts'
import { named } from '../named.ts'
import { SLACK_MS } from '../page.ts'
import type { Work } from '../sql.ts'
import type { TimeRange } from '../store.ts'

/** Time range and cursor → the numbers that matching records of the table can have, from `low` to before `high`. The
 *  table's numbers and IDs both count up with time, to within SLACK_MS. */
export function numbersOn(
  table: string,
  prefix: IdPrefix,
): (range: TimeRange, after: string | null) => Work<{ low: number; high: number }> {
  const of = named<{ number: number }>(`select number from ${table} where id = :id`)
  // For a cursor whose record retention has removed: continues with everything older than the time in its ID.
  const before = named<{ number: number }>(`select number from ${table} where id < :id order by id desc limit 1`)
  const since = named<{ number: number }>(`select number from ${table} where id >= :id order by id limit 1`)
  const endBefore = function* (id: string) {
    return ((yield* before({ id }))[0]?.number ?? -1) + 1
  }
  return function* ({ createdAfter, createdBefore }, after) {
    const cursor =
      after === null ? Number.MAX_SAFE_INTEGER : ((yield* of({ id: after }))[0]?.number ?? (yield* endBefore(after)))
    const low = createdAfter === null ? 0 : yield* endBefore(firstId(prefix, createdAfter - SLACK_MS))
    const [first] = createdBefore === null ? [] : yield* since({ id: firstId(prefix, createdBefore + SLACK_MS) })
    return { low, high: Math.min(cursor, first?.number ?? cursor) }
  }
}
