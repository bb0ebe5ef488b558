import type { Connection } from '../postgres/connection.ts'
import type { ColumnType } from '../sql.ts'
import type { Connection as Database } from '../sqlite/driver.ts'

/** A table that both databases have, and its columns that move. */
export interface MovedTable {
  name: string
  columns: readonly Column[]
  /** Columns of the primary key. */
  key: readonly string[]
  part: Part | null
  /** Refers to another table, or is referred to: its rows are replaced together with theirs. */
  isReferred: boolean
  /** Its column `number` counts up by itself. */
  isIdentity: boolean
}

export interface Column {
  name: string
  type: ColumnType
}

/** How the rows of a table are divided into parts, which are compared, and replaced where they differ: by the numbers or
 *  days in a column of its key, `size` to a part; or by the first characters of its ID, which are a time (size null). A
 *  table without parts is compared as a whole. */
export interface Part {
  column: string
  size: number | null
}

/** Values of a column of a part, from `low` to before `high`. */
export interface Range {
  low: string | number
  high: string | number
}

const NUMBERS_OF_A_PART = 1_024
/** IDs that have the time of a quarter of an hour in common: `msg_` and six of ten characters. */
export const PREFIX = 10

/** Tables that stay. A table that one database does not have is lost, so each one has its reason. */
export const UNMOVED: Readonly<Record<string, string>> = {
  claims: 'leases end with the move',
  instance: 'about the database itself',
  migrations: 'about the database itself',
  heartbeat: 'of SQLite: finds out whether anything can be written',
  search_outdated: 'of SQLite: the full text is made again',
  storage_count: 'of SQLite: a count that begins again',
  certificates: 'of PostgreSQL: a data directory has it as a file',
  challenges: 'of PostgreSQL: ends with the process that asked',
  configuration: 'of PostgreSQL: of its nodes',
  configuration_changes: 'of PostgreSQL: of its nodes',
  due_rates: 'of PostgreSQL: of some minutes',
  lanes: 'of PostgreSQL: of its nodes',
  leases: 'of PostgreSQL: of its nodes',
  message_words: 'of PostgreSQL: the full text is made again',
  nodes: 'of PostgreSQL: of its nodes',
  rates: 'of PostgreSQL: of some minutes',
  search_ranges: 'of PostgreSQL: the full text is made again',
}

/** Columns that stay. */
export const UNMOVED_COLUMNS: Readonly<Record<string, string>> = {
  'deliveries.worker': 'leases end with the move',
  'webhook_deliveries.worker': 'leases end with the move',
  'inbound_deliveries.worker': 'leases end with the move',
  'events.position': 'of PostgreSQL: events that moved come first, in the order of their numbers',
}

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

const COLUMNS = `select c.relname as "table", a.attname as name, t.typname as type, a.attidentity <> '' as "isIdentity",
    coalesce(o.collname = 'C', false) as "isByBytes", coalesce(a.attnum = any(i.indkey), false) as "isKey"
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join pg_type t on t.oid = a.atttypid left join pg_collation o on o.oid = a.attcollation
    left join pg_index i on i.indrelid = c.oid and i.indisprimary
  where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace order by c.relname, a.attnum`
const REFERENCES = `select conrelid::regclass::text as "from", confrelid::regclass::text as "to"
  from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace`
const SQLITE_COLUMNS = `select t.name || '.' || c.name from pragma_table_list t join pragma_table_info(t.name) c
  where t.schema = 'main' and t.type = 'table' and t.name not like 'sqlite%'`

interface Found {
  table: string
  name: string
  type: string
  isIdentity: boolean
  isByBytes: boolean
  isKey: boolean
}

/** Every table that moves, as the catalogs of both databases have it; behind those that it refers to. Throws if one of
 *  them has a table or a column that the other one does not have, which a move would lose. */
export async function movedTables(sqlite: Database, postgres: Connection): Promise<MovedTable[]> {
  const here = sqlite.prepare<unknown[], string>(SQLITE_COLUMNS).pluck().all().filter(moves)
  const there = (await postgres.query<Found>(COLUMNS)).filter(({ table, name }) => moves(`${table}.${name}`))
  const lost = [...new Set(here).symmetricDifference(new Set(there.map(({ table, name }) => `${table}.${name}`)))]
  if (lost.length > 0) throw new Error(`columns of one database only: ${lost.join(', ')}`)

  const byTable = Map.groupBy(there, ({ table }) => table)
  const references = await postgres.query<{ from: string; to: string }>(REFERENCES)
  const referred = inOrder(references.filter(({ from, to }) => byTable.has(from) && byTable.has(to)))
  const names = [...referred, ...byTable.keys().filter((name) => !referred.includes(name))]
  return names.map((name) => toTable(name, byTable.get(name) ?? [], referred.includes(name)))
}

const moves = (column: string): boolean =>
  !(column in UNMOVED_COLUMNS || column.slice(0, column.indexOf('.')) in UNMOVED)

function toTable(name: string, all: readonly Found[], isReferred: boolean): MovedTable {
  const key = all.filter(({ isKey }) => isKey)
  return {
    name,
    columns: all.map((column) => ({ name: column.name, type: typeOf(column) })),
    key: key.map((column) => column.name),
    part: partOf(key),
    isReferred,
    isIdentity: all.some(({ isIdentity }) => isIdentity),
  }
}

function partOf(key: readonly Found[]): Part | null {
  for (const { name, type, isByBytes } of key) {
    if (type === 'int8' && /(^|_)number$|^content$/.test(name)) return { column: name, size: NUMBERS_OF_A_PART }
    if (name === 'day') return { column: name, size: 1 }
    if (key.length === 1 && isByBytes && /(^|_)id$/.test(name)) return { column: name, size: null }
  }
  return null
}

function typeOf({ table, name, type }: Found): ColumnType {
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

/** Value of the column of parts → the name of its part. */
export function partNamed({ size }: Part, value: unknown): string {
  return size === null ? String(value).slice(0, PREFIX) : String(Math.floor(Number(value) / size))
}

/** Names of parts → the ranges that they are, those beside each other together. */
export function rangesOf({ size }: Part, parts: readonly string[]): Range[] {
  // Characters of IDs come before `~`.
  if (size === null) return parts.map((prefix) => ({ low: prefix, high: `${prefix}~` }))
  const ranges: { low: number; high: number }[] = []
  for (const part of parts.map(Number).sort((one, other) => one - other)) {
    const last = ranges.at(-1)
    if (last?.high === part * size) last.high += size
    else ranges.push({ low: part * size, high: (part + 1) * size })
  }
  return ranges
}
