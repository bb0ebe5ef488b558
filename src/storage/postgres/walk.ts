import type { Queries } from './transactions.ts'

/** Rows that the first statement of a list examines, and at most each further one: some milliseconds. */
const FIRST_SLICE = 128
const SLICE = 4096

/** An index that a list reads from its newest end, with a condition that the index answers. */
export interface Walk {
  /** Tables and condition: what follows `from`. The listed records are `m`. */
  from: string
  /** Column with the record's ID that descends along the walk. */
  key: string
}

/** What a list selects along a walk. Its parameters are those of the filter, then the four of a slice. */
export interface Listed {
  columns: string
  /** Conditions of the filter that the walk leaves open. */
  filter: string
  /** Number of the filter's parameters. All of them occur in `filter`. */
  parameters: number
}

/** Statement for one slice of a walk. It returns the slice's end in each row, and one row without a record if nothing
 *  matches. */
export function sliceText({ from, key }: Walk, { columns, filter, parameters }: Listed): string {
  const [high, low, size, limit] = [1, 2, 3, 4].map((at) => `$${parameters + at}`)
  return `with slice as materialized (
      select m.* from ${from} and ${key} < ${high} and ${key} >= ${low} order by ${key} desc limit ${size}::int),
    ends as (select min(id) as "sliceEnd", count(*)::int as "sliceSize" from slice)
  select e.*, f.* from ends e left join lateral (
    select ${columns} from slice m where ${filter} order by m.id desc limit ${limit}::int) f on true
  order by f.id desc`
}

/** Reads records along a walk, newest first, slice by slice, so that reads of others run in between → at most `limit`
 *  of those with IDs from `low` to before `high`. */
export async function walkSlices<Row extends { id: string }>(
  { query }: Queries,
  text: string,
  values: readonly unknown[],
  { low, high, limit }: { low: string; high: string; limit: number },
): Promise<Row[]> {
  const found: Row[] = []
  let end = high
  for (let size = Math.max(FIRST_SLICE, limit); ; size = Math.min(4 * size, SLICE)) {
    const rows = await query<SliceRow>(text, [...values, end, low, size, limit - found.length])
    for (const { sliceEnd: _, sliceSize: __, ...row } of rows) if (row.id !== null) found.push(row as unknown as Row)
    const [first] = rows
    if (first === undefined || first.sliceEnd === null || first.sliceSize < size || found.length >= limit) return found
    end = first.sliceEnd
  }
}

interface SliceRow {
  sliceEnd: string | null
  sliceSize: number
  /** Of the record; null = the slice has none. */
  id: string | null
}
