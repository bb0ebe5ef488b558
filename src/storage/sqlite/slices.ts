import { toPage } from '../page.ts'
import type { Page, PageRequest } from '../store.ts'
import type { Connection } from './driver.ts'
import type { Condition } from './page.ts'

/** Records of an index that one statement reads at most: a millisecond, or ten if each has to come from the disk. */
export const SLICE = 256

/** An index that a list reads from its newest end: the narrowest that matches. The condition is the index's. */
export interface Walk extends Condition {
  /** Part of the `from` clause, with the index where SQLite would choose another. */
  walked: string
  /** Joined tables that a record needs. */
  join: string
  /** Column that descends along the walk: a number or an ID. */
  key: string
  /** Clause before the order. */
  group?: string
}

/** A number or an ID. */
type Key = number | string

/** Adds matches from the next slice below `high` to `rows`, up to `limit` → where the slice ended; null if it was
 *  the last one. */
export type Step<K extends Key = number, Row = unknown> = (rows: Row[], high: K, limit: number) => K | null

/** Walk, columns and filter → the steps that read all records of the walk, slice by slice. */
export function sliced<Row, K extends Key>(
  db: Connection,
  walk: Walk,
  columns: string,
  conditions: Condition,
  low: K,
): Step<K, Row> {
  const candidate = db.prepare<unknown[], K>(candidateSql(walk)).pluck()
  const listed = db.prepare<unknown[], Row>(`select ${columns} from ${walk.walked} ${walk.join}
    where ${walk.sql} and ${walk.key} >= ? and ${walk.key} < ? and ${conditions.sql} ${orderOf(walk)} limit ?`)
  return (rows, high, limit) => {
    const lowest = candidate.get(...walk.values, low, high, SLICE - 1)
    rows.push(...listed.all(...walk.values, lowest ?? low, high, ...conditions.values, limit - rows.length))
    return lowest ?? null
  }
}

/** Time per page. Then the page ends, even if it is not full, and says where to continue. A minimum of slices is always
 *  read, or a cold or busy machine would give short pages of a small store. */
const ENOUGH_MS = 25
const FEWEST_SLICES = 8

/** Runs the steps of a walk below `high` → the page. `idFrom`: the ID of the last record of the list among those that the
 *  walk has read, down to a key; undefined if it has read none of the list yet. */
export function walked<K extends Key, Row, T>(
  step: Step<K, Row>,
  high: K,
  page: PageRequest,
  {
    toRecord,
    idFrom,
    nowMs,
  }: { toRecord: (row: Row) => T; idFrom: (key: K) => string | undefined; nowMs: () => number },
): Page<T> {
  const rows: Row[] = []
  const beganAt = nowMs()
  let slices = 0
  for (let end: K | null = high; end !== null && rows.length <= page.limit; ) {
    end = step(rows, end, page.limit + 1)
    if (end === null || rows.length > page.limit || ++slices < FEWEST_SLICES || nowMs() - beganAt < ENOUGH_MS) continue
    const next = idFrom(end)
    if (next !== undefined) return { records: rows.map(toRecord), hasMore: true, next }
  }
  return toPage(rows, page, toRecord)
}

/** The clock of the limit above. */
export const monotonicMs = () => performance.now()

/** The key that is that many places behind the newest between two keys; its parameters are low, high and the count. */
export function candidateSql(walk: Walk): string {
  const { walked, sql, key } = walk
  return `select ${key} from ${walked} where ${sql} and ${key} >= ? and ${key} < ? ${orderOf(walk)} limit 1 offset ?`
}

/** All keys between two. */
export function betweenSql({ walked, sql, key }: Walk): string {
  return `select ${key} from ${walked} where ${sql} and ${key} >= ? and ${key} < ?`
}

export function joined(conditions: Condition[]): Condition {
  return { sql: conditions.map(({ sql }) => sql).join(' and '), values: conditions.flatMap(({ values }) => values) }
}

const orderOf = ({ group = '', key }: Walk) => `${group} order by ${key} desc`
