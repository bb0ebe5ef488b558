import { SQLITE_MIGRATIONS } from '../migrations.ts'
import { StoreDamaged } from '../store.ts'
import { type Connection, connect } from './driver.ts'
import { migrate, requireKnownSchema } from './migrate.ts'

/** Checks that the tables, indexes, triggers and views of an untrusted database are exactly those of this program's
 *  migrations: a foreign trigger would run with every change, a view in place of a table with every query. Reads
 *  only the list of them before. Throws StoreDamaged, and StoreMismatch for a newer schema. */
export function requireOwnSchema(db: Connection): void {
  const found = schemaOf(db)
  const steps = found.get('table migrations')
  const fresh = connect(':memory:', { busyTimeoutMs: 0 })
  try {
    migrate(fresh, 0, [])
    if (steps === undefined || steps !== schemaOf(fresh).get('table migrations')) {
      throw new StoreDamaged('not a Postrider database: the table of schema steps is missing')
    }
    migrate(fresh, 0, SQLITE_MIGRATIONS.slice(0, requireKnownSchema(db)))
    const own = schemaOf(fresh)
    for (const [name, text] of found) {
      if (own.get(name) !== text) throw new StoreDamaged(`the database contains an unknown ${name}`)
    }
    const missing = own.keys().find((name) => !found.has(name))
    if (missing !== undefined) throw new StoreDamaged(`the database has no ${missing}`)
  } finally {
    fresh.close()
  }
}

/** `table messages` → the text that created it. Without SQLite's planner tables (ANALYZE). */
function schemaOf(db: Connection): Map<string, string> {
  const rows = db
    .prepare<unknown[], { type: string; name: string | null; sql: string | null }>(
      'select type, name, sql from sqlite_schema limit 10000',
    )
    .all()
  const named = rows.filter(({ type, name }) => !(type === 'table' && STATISTICS.test(name ?? '')))
  return new Map(named.map(({ type, name, sql }) => [`${type} ${name}`, sql ?? '']))
}

const STATISTICS = /^sqlite_stat[14]$/
