import { type NamedQuery, named } from './named.ts'
import type { Queries } from './transactions.ts'

/** Time per page of a list. Then the page ends, even if it is not full, and says where to continue. */
export const ENOUGH_MS = 200
/** Records that the first statement of a list examines. */
export const FIRST_SLICE = 256
/** Records that one statement examines at most. */
const SLICE_MAX = 16_384
/** A slice that took less is followed by a larger one, a slice that took more by a smaller one. */
const QUICK_MS = 15
const SLOW_MS = 50

/** Rows of a slice, at least one: it says what was examined. */
export type SliceRow<Row> = { examined: number; lowest: string | null } & (Row | { id: null })

/** What a list selects: columns of a table, which is `m`, and the conditions that its walks leave open. */
export interface Listed {
  table: string
  columns: string
  conditions: string
}

/** A walk selects the `id` of records, newest first: those from `:low` to before `:high`, at most `:size`, some perhaps
 *  several times → a statement that reads at most `:limit` of them that meet the conditions. */
export function sliceOf<Row>({ table, columns, conditions }: Listed, walk: string): NamedQuery<SliceRow<Row>> {
  return named(`with walked as materialized (${walk})
    select slice.examined, slice.lowest, found.*
    from (select count(*)::int as examined, min(id) as lowest from walked) slice
    left join lateral (
      select ${columns} from (select distinct id from walked order by id desc) w
        cross join lateral (select * from ${table} where id = w.id offset 0) m
      where ${conditions} order by w.id desc limit :limit) found on true
    order by found.id desc`)
}

/** Rows of a slice → records and the ID of the last one that was examined; `isWhole` if that was the whole walk. */
export function readSlice<Row extends { id: string }>(slice: readonly SliceRow<Row>[], size: number, limit: number) {
  const rows = slice.flatMap(({ examined: _, lowest: __, ...row }) => (row.id === null ? [] : [row as unknown as Row]))
  const { examined, lowest } = slice[0] ?? { examined: 0, lowest: null }
  const isFull = rows.length === limit
  return {
    rows,
    last: isFull ? (rows.at(-1)?.id ?? null) : lowest,
    isWhole: !isFull && examined < size,
  }
}

/** Size of the next slice: few statements, and none that takes long. */
export function nextSize(size: number, tookMs: number, most = SLICE_MAX): number {
  if (tookMs > SLOW_MS) return Math.ceil(size / 4)
  return tookMs < QUICK_MS ? Math.min(most, size * 4) : size
}

/** Reads matches below the ID `high`, up to `limit` → where it ended; null if there is nothing more. */
export type Step<Row> = (high: string, limit: number) => Promise<{ rows: Row[]; end: string | null }>

/** Steps that examine every record of a walk. `asked`: the values of its parameters. */
export function walkSteps<Row extends { id: string }>(
  reads: Queries,
  statement: NamedQuery<SliceRow<Row>>,
  asked: Readonly<Record<string, unknown>>,
  nowMs: () => number,
): Step<Row> {
  let size = FIRST_SLICE
  return async (high, limit) => {
    const beganAt = nowMs()
    const { rows, last, isWhole } = readSlice(await statement(reads, { ...asked, high, size, limit }), size, limit)
    size = nextSize(size, nowMs() - beganAt)
    return { rows, end: isWhole ? null : last }
  }
}
