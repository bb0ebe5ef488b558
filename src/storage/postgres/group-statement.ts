import type { Connection } from './connection.ts'
import type { GroupWriter } from './write-lane.ts'

/** How changes of one kind become a statement. */
export interface GroupKind<Change, Result> {
  /** Changes → further CTEs, and the columns of the one row that the statement returns. Every CTE that writes must join
   *  `fence`, which has one row or, if the lane was ended, none. Parameters start at $4; the texts are few, because
   *  PostgreSQL prepares each. */
  statement(changes: readonly Change[]): { ctes: string; columns: string; values: readonly unknown[] }
  /** The row → the result of each change, in order. */
  results(row: Readonly<Record<string, unknown>>, changes: readonly Change[]): readonly Result[]
  /** Reads the results of a group that was committed without an answer. */
  recover(connection: Connection, changes: readonly Change[]): Promise<readonly Result[]>
}

/** Kind of changes → what writes a group of them with one statement: one round trip and one commit. */
export function groupStatement<Change, Result>(kind: GroupKind<Change, Result>): GroupWriter<Change, Result> {
  return {
    write: async (connection, { laneId, number, writtenTo }, changes) => {
      const { ctes, columns, values } = kind.statement(changes)
      const text = `with ${FENCE}, ${ctes} select (select count(*) from fence) as fence, ${columns}`
      const [row] = await connection.query<Row>(text, [laneId, number, writtenTo, ...values])
      return row === undefined || Number(row.fence) !== 1 ? null : kind.results(row, changes)
    },
    recover: kind.recover,
  }
}

type Row = Readonly<Record<string, unknown>>

const FENCE = `fence as (update nodes set group_no = $2::bigint, written_to = $3::bigint, seen_at = clock_timestamp()
  where id = $1::int and group_no = $2::bigint - 1 and ended_at is null returning 1)`
