import { createHash } from 'node:crypto'
import { StoreMismatch } from './errors.ts'
import postgresTables from './postgres/tables.sql' with { type: 'text' }
import schema from './schema.sql' with { type: 'text' }
import sqliteTables from './sqlite/tables.sql' with { type: 'text' }
import { schemaToSqlite } from './sqlite/translate-schema.ts'

/** A step of the schema, as one of the databases runs it. */
export interface Migration {
  name: string
  sql: string
  /** True if versions that do not have this step cannot run with it: it waits until every live node has it, and so do the
   *  steps behind it, so that this version runs without them. Other steps add tables, columns with defaults, or indexes.
   *  SQLite has no other nodes. */
  isNarrow?: boolean
}

/** `both` is in PostgreSQL's words; then follows what only one of the databases changes. */
interface Step extends Pick<Migration, 'name' | 'isNarrow'> {
  both: string
  sqlite: string
  postgres: string
}

/** In order. The number is the position in the list, from 1. After a release, neither a step is edited nor how
 *  schemaToSqlite translates it, because stores whose steps have other checksums are refused. */
const STEPS: readonly Step[] = [{ name: '0001_schema', both: schema, sqlite: sqliteTables, postgres: postgresTables }]

export const SQLITE_MIGRATIONS: readonly Migration[] = STEPS.map(({ both, sqlite, ...step }) => ({
  ...step,
  sql: schemaToSqlite(both) + sqlite,
}))

export const POSTGRES_MIGRATIONS: readonly Migration[] = STEPS.map(({ both, postgres, ...step }) => ({
  ...step,
  sql: both + postgres,
}))

/** Number of steps of this version. */
export const NEWEST_SCHEMA = STEPS.length

/** A step that a database records. */
export interface Done {
  number: number
  name: string
  checksum: string
}

export function checksumOf({ sql }: Migration): string {
  return createHash('sha256').update(sql).digest('hex')
}

/** Steps that a store records, in order → their number. Throws StoreMismatch if one differs from that of `migrations`, or
 *  if the store has more. The first is found first, so that a store that began otherwise is not called newer. */
export function requireKnown(
  done: readonly Done[],
  migrations: readonly Migration[],
  store: 'data directory' | 'database',
): number {
  for (const { number, name, checksum } of done) {
    const known = migrations[number - 1]
    if (known !== undefined && checksum !== checksumOf(known)) {
      throw new StoreMismatch(
        `schema step ${number} (${name}) of the ${store} differs from the one in this version. Run the version that wrote it.`,
      )
    }
  }
  const newest = done.at(-1)
  if (newest !== undefined && newest.number > migrations.length) {
    throw new StoreMismatch(
      `a newer Postrider wrote the ${store} (schema ${newest.number} ${newest.name}, this version has ${migrations.length}). Run that version, or restore a backup made before the upgrade.`,
    )
  }
  return done.length
}
