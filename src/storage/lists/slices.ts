import { type NamedQuery, named, type Texts, type Values } from '../named.ts'
import { toPage } from '../page.ts'
import type { Work } from '../sql.ts'
import type { Page, PageRequest } from '../store.ts'

/** An index that a list reads from its newest end: the narrowest that matches. */
export interface Walk {
  /** The table and its alias. */
  table: string
  /** Null: its primary key. SQLite reads this index even if it would choose another one. */
  index: string | null
  /** Columns that begin the index → the parameters that they equal. */
  equal: Readonly<Record<string, string>>
  /** Column that descends along the walk: a number or an ID. */
  key: string
  /** What the rows of the index have in common. */
  condition?: string
  /** A key may occur several times. */
  isRepeated?: boolean
}

/** The number or ID of a record. */
export type Key = number | string

/** Walk → statements that return its `key`s from `:low` to before `:high`, newest first, at most `:size`. Equalities and not
 *  a comparison of rows, whose end PostgreSQL would not see: it would read the rest of what has the same first column. */
export function walkTexts({ table, index, equal, key, condition, isRepeated = false }: Walk): Texts {
  const and = condition === undefined ? '' : ` and ${condition}`
  const equalities = Object.entries(equal).map(([column, name]) => `${column} = :${name} and `)
  const text = (from: string) => `select ${isRepeated ? 'distinct ' : ''}${key} as key from ${from}
    where ${equalities.join('')}${key} >= :low and ${key} < :high${and} order by ${key} desc limit :size`
  return { text: text(table), sqlite: text(index === null ? table : `${table} indexed by ${index}`) }
}

/** What a list selects of the records on its walks. */
export interface Listed {
  table: string
  /** The table's column with the key of the walks. */
  key: string
  /** Columns of the table, which is `m`. */
  columns: string
  /** What the walks leave open, with parameters. */
  conditions: Texts
}

/** A record of a list, with its key. */
export type Keyed<Row, K extends Key = number> = Row & { key: K }

/** Rows of a slice, at least one: it says what was examined. */
type SliceRow<K extends Key, Row> = { examined: number; lowest: K | null } & (Keyed<Row, K> | { key: null })

/** A slice of a walk, which returns keys as walkTexts: examines at most `:size` records from `:low` to before `:high`, and
 *  reads at most `:limit` of them that meet the conditions. */
export function sliceOf<Row, K extends Key = number>(walked: Texts, listed: Listed): NamedQuery<SliceRow<K, Row>> {
  const { table, key, columns, conditions } = listed
  const text = (walk: string, join: string, conditions: string) => `with walked as materialized (${walk})
    select slice.examined, slice.lowest, found.*
    from (select count(*) as examined, min(key) as lowest from walked) slice
    left join (select w.key, ${columns} from walked w ${join} where ${conditions} order by w.key desc limit :limit) found
      on true order by found.key desc`
  return named({
    // By their keys, whatever the conditions are.
    text: text(
      walked.text,
      `cross join lateral (select * from ${table} where ${key} = w.key offset 0) m`,
      conditions.text,
    ),
    sqlite:
      walked.sqlite === null || conditions.sqlite === null
        ? null
        : text(walked.sqlite, `cross join ${table} m on m.${key} = w.key`, conditions.sqlite),
  })
}

/** How a list spends its time. */
export interface Pace {
  /** Time per page. Then the page ends, even if it is not full, and says where to continue. */
  enoughMs: number
  /** Records that are examined in any case, or a cold or busy machine would give short pages of a small store. */
  fewest: number
  /** Records that one statement examines at most. */
  most: number
  /** Any clock. */
  nowMs: () => number
}

const clock = () => performance.now()
/** For SQLite, which cannot interrupt a statement, in the reading thread: a slice takes a millisecond, or ten if each
 *  record has to come from the disk. */
export const IN_THREAD: Pace = { enoughMs: 25, fewest: 2_048, most: 256, nowMs: clock }
/** For PostgreSQL, where each statement is a round trip. */
export const BY_STATEMENT: Pace = { enoughMs: 200, fewest: 0, most: 16_384, nowMs: clock }

/** Records that the first statement of a list examines. */
const FIRST_SLICE = 256
/** A slice that took less is followed by a larger one, a slice that took more by a smaller one. */
const QUICK_MS = 15
const SLOW_MS = 50

/** Size of the next slice: few statements, and none that takes long. */
export function nextSize(size: number, tookMs: number, most: number): number {
  if (tookMs > SLOW_MS) return Math.ceil(size / 4)
  return tookMs < QUICK_MS ? Math.min(most, size * 4) : size
}

/** What a step has read. */
export interface Read<Row, K extends Key = number> {
  rows: Keyed<Row, K>[]
  /** Where it ended; null if there is nothing more. */
  end: K | null
  /** Records that it examined, at most; absent: it took its time, whatever it examined. */
  examined?: number
}

/** Reads matches below a key, newest first, up to `limit`. */
export type Step<Row, K extends Key = number> = (high: K, limit: number) => Work<Read<Row, K>>

/** Steps that examine every record of a walk down to `asked.low`. */
export function walkSteps<Row, K extends Key = number>(
  slice: NamedQuery<SliceRow<K, Row>>,
  asked: Values,
  { nowMs, most }: Pace,
): Step<Row, K> {
  let size = FIRST_SLICE
  return function* (high, limit) {
    const beganAt = nowMs()
    const found = yield* slice({ ...asked, high, size, limit })
    const examined = size
    size = nextSize(size, nowMs() - beganAt, most)
    return { ...readSlice(found, examined, limit), examined }
  }
}

/** Rows of a slice of that size → the matches, and where it ended. */
export function readSlice<Row, K extends Key>(
  slice: readonly SliceRow<K, Row>[],
  size: number,
  limit: number,
): Read<Row, K> {
  const rows = slice.flatMap(
    ({ examined: _, lowest: __, ...row }) => (row.key === null ? [] : [row as unknown as Keyed<Row, K>]), // what is left of a row with a record
  )
  if (rows.length === limit) return { rows, end: rows.at(-1)?.key ?? null }
  const { examined, lowest } = slice[0] ?? { examined: 0, lowest: null }
  return { rows, end: examined < size ? null : lowest }
}

/** For pageOf: where a list of an organization goes on, whose walk may also have records of others. `from`: the ID of its
 *  oldest record from `:end` to before `:high`. `newest`: the number of its newest one before `:end`. */
export function amongOwn(
  from: NamedQuery<{ id: string }>,
  newest: NamedQuery<{ number: number }>,
  values: Values & { high: number },
) {
  return {
    idFrom: function* (end: number): Work<string | undefined> {
      return (yield* from({ ...values, end }))[0]?.id
    },
    below: function* (end: number): Work<number | null> {
      const [own] = yield* newest({ ...values, end })
      return own === undefined ? null : own.number + 1
    },
  }
}

/** Runs steps from below `high` on → the page. `idFrom`: the ID of the last record of the list among those that were
 *  examined, down to a key; undefined if there was none yet. `below`: where to go on from there, for a walk that also has
 *  records of others: past these, which would take time that nobody limits; null if there are no more of the list. */
export function* pageOf<Row, T, K extends Key = number>(
  step: Step<Row, K>,
  high: K,
  page: PageRequest,
  how: {
    toRecord: (row: Keyed<Row, K>) => T | null
    idFrom: (key: K) => Work<string | undefined>
    below?: (key: K) => Work<K | null>
    pace: Pace
  },
): Work<Page<T>> {
  const { enoughMs, fewest, nowMs } = how.pace
  const records: T[] = []
  const until = nowMs() + enoughMs
  let from = high
  for (let examined = 0; ; ) {
    const { rows, end, ...read } = yield* step(from, page.limit + 1 - records.length)
    for (const row of rows) {
      const record = how.toRecord(row)
      if (record !== null) records.push(record)
    }
    if (end === null || records.length > page.limit) return toPage(records, page, (record) => record)
    from = end
    examined += read.examined ?? fewest
    if (examined < fewest || nowMs() < until) continue
    const next = yield* how.idFrom(end)
    if (next !== undefined) return { records, hasMore: true, next }
    const rest = how.below === undefined ? end : yield* how.below(end)
    if (rest === null) return toPage(records, page, (record) => record)
    from = rest
  }
}
