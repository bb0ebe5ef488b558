import type { Connection } from './driver.ts'
import { type Condition, nextTurn } from './page.ts'

/** Records looked at one by one before others have a turn: a millisecond, or ten where each has to come from the disk. */
export const SLICE = 256

/** What a list walks from its newest end: the narrowest of what indexes answer. The condition is the index's. */
export interface Walk extends Condition {
  /** Of the `from` clause, with the index where SQLite would choose another. */
  walked: string
  /** What a record is read from beside that. */
  join: string
  /** Column that goes down on the walk: a number, or an id. */
  key: string
  /** Before the order. */
  group?: string
}

/** A number, or an id. */
type Key = number | string

/** Adds what matches in the next piece below `high` to `rows`, up to `limit` of them → where the piece ended; null when it
 *  was the last one. */
export type Step<K extends Key = number, Row = unknown> = (rows: Row[], high: K, limit: number) => K | null

/** Walk, columns and filter → the steps that look at all records of the walk, slice by slice. */
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

/** All steps of such a walk, in turns with everybody else's work → at most `limit` rows. */
export async function walkSlices<K extends Key, Row>(step: Step<K, Row>, high: K, limit: number): Promise<Row[]> {
  const rows: Row[] = []
  for (let end: K | null = high; ; ) {
    end = step(rows, end, limit)
    if (end === null || rows.length >= limit) return rows
    await nextTurn()
  }
}

/** The key that lies so many behind the newest between two keys; what it is asked for are low, high and how many. */
export function candidateSql(walk: Walk): string {
  const { walked, sql, key } = walk
  return `select ${key} from ${walked} where ${sql} and ${key} >= ? and ${key} < ? ${orderOf(walk)} limit 1 offset ?`
}

export function joined(conditions: Condition[]): Condition {
  return { sql: conditions.map(({ sql }) => sql).join(' and '), values: conditions.flatMap(({ values }) => values) }
}

const orderOf = ({ group = '', key }: Walk) => `${group} order by ${key} desc`
