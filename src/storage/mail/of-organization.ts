import { type Statement, sql } from '../sql.ts'

/** Above all numbers. */
const HIGHEST = '9223372036854775807'

/** Table and columns → what reads the records of an organization ($1) behind a number ($2), in the order of their numbers and
 *  at most $3. */
export function ofOrganization<Row>(table: 'messages' | 'inbound_messages', columns: string): Statement<Row> {
  // PostgreSQL compares pairs: otherwise it may walk along the records of all organizations. Its `number` alone would be
  // what is returned, by which no index is ordered. SQLite finds no number in an index by a pair.
  return sql<Row>(
    `select ${columns} from ${table}
      where (organization_id, number) > ($1, $2::bigint) and (organization_id, number) <= ($1, ${HIGHEST})
      order by organization_id, ${table}.number limit $3`,
    `select ${columns} from ${table} where organization_id = $1 and number > $2 order by number limit $3`,
  )
}
