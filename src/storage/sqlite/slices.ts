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

/** Runs all steps of a walk → at most `limit` rows. */
export function walked<K extends Key, Row>(step: Step<K, Row>, high: K, limit: number): Row[] {
  const rows: Row[] = []
  for (let end: K | null = high; end !== null && rows.length < limit; ) end = step(rows, end, limit)
  return rows
}

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
