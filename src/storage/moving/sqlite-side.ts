import type { Connection } from '../sqlite/driver.ts'
import type { Source, Target } from './copy-tables.ts'
import { addHashes, type PartHash, type Row, rowHasher } from './row-hashes.ts'
import { type MovedTable, partNamed, type Range } from './tables.ts'

/** Rows between two turns of the event loop: a few milliseconds. */
const TURN = 1_000
/** Bytes of rows that are read together. */
const TOGETHER_BYTES = 4 * 1024 * 1024

/** What is not read as it is. The parts of contents that were being written have no owner any more. */
const READ: Readonly<Record<string, string>> = {
  usage: `(select * from usage where name <> 'stored_bytes_count')`, // of a recount, which begins again
  large_contents: `(select number, iif(kind = 'coming', 'gone', kind) as kind, owner, 0 as writer from large_contents)`,
}

/** A database that nothing else writes. */
export function sqliteSource(db: Connection): Source {
  const from = ({ name }: MovedTable) => READ[name] ?? name
  return {
    hashes: (table) => hashesIn(db, table, from(table)),
    rows: (table, range) => rowsIn(db, table, { from: from(table), range }),
  }
}

/** A database that is being filled, in one connection. */
export function sqliteTarget(db: Connection): Target {
  return {
    hashes: (table) => hashesIn(db, table, table.name),
    remove: async ({ name, part }, range) => {
      const values = range === null ? [] : [range.low, range.high]
      return db.prepare(`delete from ${name}${within(part?.column, range)}`).run(...values).changes
    },
    add: async ({ name, columns }, rows) => {
      const names = columns.map((column) => column.name)
      const insert = db.prepare(`insert into ${name} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`)
      db.transaction(() => {
        for (const row of rows) insert.run(...row.map((value) => (typeof value === 'boolean' ? Number(value) : value)))
      })()
    },
    written: async () => {},
  }
}

async function hashesIn(db: Connection, table: MovedTable, from: string): Promise<Map<string, PartHash>> {
  const { columns, part } = table
  const hashOf = rowHasher(columns)
  const at = columns.findIndex(({ name }) => name === part?.column)
  const hashes = new Map<string, PartHash>()
  for await (const rows of rowsIn(db, table, { from, range: null })) {
    for (const row of rows) {
      const name = part === null ? '' : partNamed(part, row[at])
      const known = hashes.get(name) ?? { rows: 0, hash: 0 }
      known.rows++
      known.hash = addHashes(known.hash, hashOf(row))
      hashes.set(name, known)
    }
  }
  return hashes
}

async function* rowsIn(
  db: Connection,
  { columns, part }: MovedTable,
  { from, range }: { from: string; range: Range | null },
): AsyncGenerator<Row[]> {
  const names = columns.map(({ name }) => name).join(', ')
  const statement = db.prepare<unknown[], Row>(`select ${names} from ${from}${within(part?.column, range)}`).raw()
  let some: Row[] = []
  let bytes = 0
  for (const row of range === null ? statement.iterate() : statement.iterate(range.low, range.high)) {
    some.push(row)
    for (const value of row) if (value instanceof Uint8Array) bytes += value.byteLength
    if (some.length < TURN && bytes < TOGETHER_BYTES) continue
    yield some
    some = []
    bytes = 0
    await new Promise(setImmediate)
  }
  if (some.length > 0) yield some
}

const within = (column: string | undefined, range: Range | null) =>
  range === null ? '' : ` where ${column} >= ? and ${column} < ?`
