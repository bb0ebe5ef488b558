import { contentParts } from '../sqlite/content-parts.ts'
import { type Connection, connect } from '../sqlite/driver.ts'
import { migrate } from '../sqlite/migrate.ts'
import { columnsIn } from './alike.ts'
import { addHashes, type PartHash, partOf, rowHasher } from './part-hashes.ts'
import type { ColumnType, MovedTable } from './tables.ts'

/** A row's values: of the compared columns, then those besides. */
export type SourceRow = (string | number | Uint8Array | null)[]

/** A SQLite database that nothing else writes, as the source of a move. */
export interface Source {
  instanceId: string
  /** `table.column` of every table. */
  columns(): string[]
  /** Rows of a table, or of one of its parts. With `isOrdered`, by ID. */
  rows(table: MovedTable, how?: { part?: string; isOrdered?: boolean }): IterableIterator<SourceRow>
  /** Hashes of the parts of a table. */
  hashes(table: MovedTable): Promise<Map<string, PartHash>>
  close(): void
}

/** Compared columns of a table with their types. */
export function columnsOf({ columns }: MovedTable): [name: string, type: ColumnType][] {
  return Object.entries(columns).map(([name, column]) => [name, typeof column === 'string' ? column : column[0]])
}

/** Rows between two turns of the event loop: a few milliseconds. */
const TURN = 2000
const PATIENCE_MS = 5_000

/** Opens a database, upgraded to this version's schema. `now`: ms UTC. Throws as migrate, and what the driver throws. */
export function openSource(file: string, now: number): Source {
  const db = connect(file, { busyTimeoutMs: PATIENCE_MS })
  migrate(db, now)
  // A connection runs no statement inside a function that another one calls.
  const beside = connect(file, { busyTimeoutMs: PATIENCE_MS })
  const parts = contentParts(beside)
  db.function('whole_content', (kind, number, first) =>
    parts.whole(kind as 'content' | 'parsed' | 'raw', Number(number), first as Uint8Array),
  )
  const rows: Source['rows'] = (table, { part, isOrdered = false } = {}) => {
    const statement = db.prepare<unknown[], SourceRow>(selectOf(table, part !== undefined, isOrdered)).raw()
    return part === undefined ? statement.iterate() : statement.iterate(part, `${part}~`)
  }
  return {
    instanceId: value<string>(db, 'select id from instance'),
    columns: () => columnsIn(db),
    rows,
    hashes: async (table) => {
      const columns = columnsOf(table)
      const hashOf = rowHasher(columns.map(([, type]) => type))
      const idAt = columns.findIndex(([name]) => name === table.id?.[1])
      const hashes = new Map<string, PartHash>()
      let turn = 0
      for (const row of rows(table)) {
        const part = idAt === -1 ? '' : partOf(String(row[idAt]))
        const known = hashes.get(part) ?? { rows: 0, hash: 0 }
        known.rows++
        known.hash = addHashes(known.hash, hashOf(row))
        hashes.set(part, known)
        if (++turn % TURN === 0) await new Promise(setImmediate)
      }
      return hashes
    },
    close: () => {
      beside.close()
      db.close()
    },
  }
}

function selectOf({ columns, besides = {}, from, where, id }: MovedTable, isPart: boolean, isOrdered: boolean): string {
  const values = [
    ...Object.entries(columns).map(([name, column]) => (typeof column === 'string' ? name : column[1])),
    ...Object.values(besides),
  ]
  const conditions = [
    ...(where === undefined ? [] : [`(${where})`]),
    ...(isPart && id !== undefined ? [`${id[0]} >= ? and ${id[0]} < ?`] : isPart ? ['? < ?'] : []),
  ]
  const order = isOrdered && id !== undefined ? ` order by ${id[0]}` : ''
  const condition = conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`
  return `select ${values.join(', ')} from ${from}${condition}${order}`
}

function value<T>(db: Connection, text: string): T {
  const found = db.prepare<unknown[], T>(text).pluck().get()
  if (found === undefined) throw new Error(`no row for: ${text}`)
  return found
}
