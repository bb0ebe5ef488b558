import { valueArray } from './arrays.ts'
import type { Queries } from './transactions.ts'

/** A table of settings, complete in memory. */
export interface Mirror<Row extends { id: string }> {
  /** Null if there is no such record. */
  get(id: string): Row | null
  /** All records, in no order. */
  all(): Iterable<Row>
  /** Column → the records with a value, oldest ID first. */
  index(keyOf: (row: Row) => string | null): (value: string) => readonly Row[]
  /** Reads the whole table. */
  load(queries: Queries): Promise<void>
  /** Reads these records again; those that are gone are removed. */
  refresh(queries: Queries, ids: readonly string[]): Promise<void>
}

/** `read` returns the records with these IDs, null = all → an empty Mirror. */
export function createMirror<Row extends { id: string }>(
  read: (queries: Queries, ids: readonly string[] | null) => Promise<Row[]>,
): Mirror<Row> {
  const rows = new Map<string, Row>()
  const indexes: { put(row: Row): void; remove(row: Row): void }[] = []

  const remove = (id: string) => {
    const row = rows.get(id)
    if (row === undefined) return
    rows.delete(id)
    for (const index of indexes) index.remove(row)
  }
  const put = (row: Row) => {
    remove(row.id)
    rows.set(row.id, row)
    for (const index of indexes) index.put(row)
  }

  return {
    get: (id) => rows.get(id) ?? null,
    all: () => rows.values(),
    index: (keyOf) => {
      const byValue = new Map<string, readonly Row[]>()
      const change = (row: Row, to: (present: readonly Row[]) => readonly Row[]) => {
        const value = keyOf(row)
        if (value === null) return
        const next = to(byValue.get(value) ?? [])
        if (next.length === 0) byValue.delete(value)
        else byValue.set(value, next)
      }
      const putRow = (row: Row) => change(row, (present) => [...present, row].sort((a, b) => (a.id < b.id ? -1 : 1)))
      for (const row of rows.values()) putRow(row)
      indexes.push({
        put: putRow,
        remove: (row) => change(row, (present) => present.filter(({ id }) => id !== row.id)),
      })
      return (value) => byValue.get(value) ?? []
    },
    load: async (queries) => {
      for (const row of await read(queries, null)) put(row)
    },
    refresh: async (queries, ids) => {
      const present = await read(queries, ids)
      for (const id of ids) remove(id)
      for (const row of present) put(row)
    },
  }
}

/** Statement that returns all rows of a mirror → what reads them, or those with some IDs. */
export function readerOf<Row>(all: string): (queries: Queries, ids: readonly string[] | null) => Promise<Row[]> {
  const some = `select * from (${all}) records where id = any($1::text[])`
  return ({ query }, ids) => (ids === null ? query<Row>(all) : query<Row>(some, [valueArray(ids)]))
}
