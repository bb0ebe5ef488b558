import type { Connection } from '../postgres/connection.ts'
import type { Connection as Database } from '../sqlite/driver.ts'
import { type ColumnType, DIFFERENT, type MovedTable } from './tables.ts'

/** Columns of PostgreSQL that only nodes write. */
const OF_NODES = new Set(['inbound_routes.removing', 'webhooks.removing'])
/** Tables about the database itself, of what is done once it is served again, and made of others. */
const UNMOVED = new Set(['event_kinds', 'fan_out_targets', 'fan_outs', 'heartbeat', 'instance', 'migrations'])

/** How PostgreSQL's catalog names the types of columns (manual, table 8.1). */
const TYPES: Readonly<Record<string, ColumnType>> = {
  text: 'text',
  int8: 'bigint',
  int4: 'int',
  int2: 'smallint',
  bool: 'boolean',
  bytea: 'bytea',
  float8: 'float8',
}

/** Tables of records by time, compared in parts; `isEarly`: their rows move while the server runs. */
const BY_TIME: Readonly<Record<string, Pick<MovedTable, 'id' | 'isEarly'>>> = {
  audit_log: { id: ['id', 'id'], isEarly: true },
  erasures: { id: ['id', 'id'] },
  suppressions: { id: ['id', 'id'], isEarly: true },
  unsubscribables: { id: ['delivery_id', 'delivery_id'], isEarly: true },
}

const COLUMNS = `select table_name as "table", column_name as name, udt_name as type, is_identity = 'YES' as "isNumber"
  from information_schema.columns where table_schema = current_schema() order by table_name, ordinal_position`
const REFERENCES = `select conrelid::regclass::text as "from", confrelid::regclass::text as "to"
  from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace`
const SQLITE_COLUMNS = `select t.name || '.' || c.name from pragma_table_list t join pragma_table_info(t.name) c
  where t.schema = 'main' and t.type = 'table'`

/** The tables of which both databases have the same columns, read from their catalogs; those that others refer to come
 *  first, in the order in which their rows are written. `here`: columnsIn(SQLite). Throws if a table, but for those that
 *  are made of different ones (tables.ts), has a column in one database only, which a move would lose. */
export async function tablesAlike(here: readonly string[], postgres: Connection): Promise<MovedTable[]> {
  const there = await postgres.query<{ table: string; name: string; type: string; isNumber: boolean }>(COLUMNS)
  const both = new Set(here.map(tableOf)).difference(DIFFERENT).difference(UNMOVED)
  const columns = there.filter(({ table, name }) => both.has(table) && !OF_NODES.has(`${table}.${name}`))
  const byTable = Map.groupBy(columns, ({ table }) => table)
  const names = new Set(columns.map(({ table, name }) => `${table}.${name}`))
  const onlyHere = here.filter((column) => byTable.has(tableOf(column)) && !names.has(column))
  const onlyThere = [...names].filter((column) => !here.includes(column))
  const lost = [...onlyHere, ...onlyThere]
  if (lost.length > 0) throw new Error(`columns of one database only: ${lost.join(', ')}`)

  const references = await postgres.query<{ from: string; to: string }>(REFERENCES)
  const referred = inOrder(references.filter(({ from, to }) => byTable.has(from) && byTable.has(to)))
  const toTable = (name: string): MovedTable => {
    const all = byTable.get(name) ?? []
    return {
      name,
      from: name,
      columns: Object.fromEntries(all.map((column) => [column.name, typeOf(column)])),
      isReferred: referred.includes(name),
      isNumbered: all.some(({ isNumber }) => isNumber),
      ...BY_TIME[name],
    }
  }
  return [...referred, ...byTable.keys().filter((name) => !referred.includes(name))].map(toTable)
}

const tableOf = (column: string) => column.slice(0, column.indexOf('.'))

/** SQLite database → `table.column` of every table. */
export const columnsIn = (db: Database): string[] => db.prepare<unknown[], string>(SQLITE_COLUMNS).pluck().all()

function typeOf({ table, name, type }: { table: string; name: string; type: string }): ColumnType {
  const known = TYPES[type]
  if (known === undefined) throw new Error(`column ${table}.${name} has the type ${type}, which does not move`)
  return known
}

/** References among tables → their names, each behind those that it refers to. */
function inOrder(references: readonly { from: string; to: string }[]): string[] {
  const ordered: string[] = []
  const add = (name: string) => {
    if (ordered.includes(name)) return
    for (const { from, to } of references) if (from === name && to !== name) add(to)
    ordered.push(name)
  }
  for (const { from } of references) add(from)
  return ordered
}
