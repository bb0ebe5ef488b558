import type { Event } from '../../model/event.ts'
import { textArray, valueArray } from '../postgres/arrays.ts'
import type { Connection } from '../postgres/connection.ts'
import { addContents, type NewContent } from '../postgres/contents.ts'
import { createEventKinds } from '../postgres/event-kinds.ts'
import { createSearchRanges } from '../postgres/search-ranges.ts'
import { type PartHash, postgresPart, postgresRowHash, postgresSum } from './part-hashes.ts'
import { columnsOf, type SourceRow } from './source.ts'
import type { Chosen, MovedRow, MovedTable } from './tables.ts'

/** A PostgreSQL database that is being filled. */
export interface Target {
  /** Hashes of the parts of a table. */
  hashes(table: MovedTable): Promise<Map<string, PartHash>>
  /** Rows of a part: where they are, and their hashes. */
  places(table: MovedTable, part: string): Promise<{ place: string; hash: number }[]>
  /** Deletes rows by their places. */
  remove(table: MovedTable, places: readonly string[]): Promise<void>
  removeAll(table: MovedTable): Promise<void>
  /** Writes rows. Resolves when it takes the next ones; `written` waits for all. */
  add(table: MovedTable, rows: readonly SourceRow[]): Promise<void>
  written(): Promise<void>
}

/** Any statement: one over a large table takes minutes. */
const DEADLINE_MS = 6 * 60 * 60_000
/** Statements that wait for their answers. */
const UNDER_WAY = 4
/** Bytes of contents in one statement. */
const CONTENTS_BYTES = 4 * 1024 * 1024

export function openTarget(connection: Connection): Target {
  const query = <Row>(text: string, values: readonly unknown[] = []) => connection.query<Row>(text, values, DEADLINE_MS)
  const run = async (text: string, values: readonly unknown[] = []) => {
    await query(text, values)
    return 0
  }
  const statements = { query, run, laneId: 0 }
  const searchRanges = createSearchRanges()
  const eventKinds = createEventKinds()
  const underWay = new Set<Promise<unknown>>()
  /** Of a statement that failed; the next one throws it. */
  let failure: { error: unknown } | null = null
  const send = async (sent: Promise<unknown>) => {
    const settled = sent
      .catch((error: unknown) => {
        failure ??= { error }
      })
      .finally(() => underWay.delete(settled))
    underWay.add(settled)
    if (underWay.size >= UNDER_WAY) await Promise.race(underWay)
    if (failure !== null) throw failure.error
  }
  const written = async () => {
    await Promise.all(underWay)
    if (failure !== null) throw failure.error
  }

  return {
    hashes: async (table) => {
      const text = `select ${postgresPart(table)} as part, count(*)::float8 as rows,
          ${postgresSum(postgresRowHash(columnsOf(table)))} as hash from ${table.name} group by 1`
      const found = await query<PartHash & { part: string }>(text)
      return new Map(found.map(({ part, rows, hash }) => [part, { rows, hash }]))
    },
    places: (table, part) => {
      const among = table.id === undefined ? '$1::text < $2::text' : `${table.id[1]} >= $1 and ${table.id[1]} < $2`
      const text = `select ctid::text as place, ${postgresRowHash(columnsOf(table))}::float8 as hash
        from ${table.name} where ${among}`
      return query(text, [part, `${part}~`])
    },
    remove: async ({ name }, places) => {
      if (places.length > 0) await query(`delete from ${name} where ctid = any($1::tid[])`, [textArray(places)])
    },
    removeAll: async ({ name }) => {
      await query(`delete from ${name}`)
    },
    add: async (table, rows) => {
      if (table.hasLongValues) {
        for (const some of together(rows)) {
          await send(addContents(statements, some.map(contentOf)))
        }
        return
      }
      const ranges = searchRanges.begin()
      const kinds = eventKinds.begin()
      const chosen: Chosen = {
        rangeCode: ranges.codeFor,
        kind: (row) => kinds.kindOf(eventOf(row)),
      }
      const { text, values } = insertOf(table, rows, chosen)
      await send(Promise.all([run(text, values), ranges.write(statements), kinds.write(statements)]))
      ranges.committed()
      kinds.committed()
    },
    written,
  }
}

function insertOf(table: MovedTable, rows: readonly SourceRow[], chosen: Chosen): { text: string; values: string[] } {
  const columns = columnsOf(table)
  const derived = Object.entries(table.derived ?? {})
  const all = [...columns, ...derived.map(([name, [type]]) => [name, type] as const)]
  const names = [...columns.map(([name]) => name), ...Object.keys(table.besides ?? {})]
  const values = columns.map((_, at) => rows.map((row) => row[at] ?? null))
  if (derived.length > 0) {
    const named = rows.map((row): MovedRow => Object.fromEntries(names.map((name, at) => [name, row[at] ?? null])))
    for (const [, [, make]] of derived) values.push(named.map((row) => make(row, chosen)))
  }
  const arrays = all.map(([, type], at) => `$${at + 1}::${type}[]`)
  return {
    text: `insert into ${table.name} (${all.map(([name]) => name).join(', ')}) overriding system value
      select * from unnest(${arrays.join(', ')})`,
    values: values.map(valueArray),
  }
}

// The columns have these types.
function eventOf(row: MovedRow): Pick<Event, 'organizationId' | 'type' | 'mode' | 'domainId'> {
  const { organization_id, type, mode, domain_id } = row
  return {
    organizationId: organization_id as string,
    type: type as Event['type'],
    mode: mode as Event['mode'],
    domainId: domain_id as string | null,
  }
}

function contentOf([ownerId, kind, bytes]: SourceRow): NewContent {
  return { ownerId: ownerId as string, kind: kind as NewContent['kind'], bytes: bytes as Uint8Array }
}

/** Rows with long values → those of one statement each. */
function* together(rows: readonly SourceRow[]): Generator<SourceRow[]> {
  let some: SourceRow[] = []
  let bytes = 0
  for (const row of rows) {
    const [, , content] = row
    const length = content instanceof Uint8Array ? content.byteLength : 0
    if (some.length > 0 && bytes + length > CONTENTS_BYTES) {
      yield some
      some = []
      bytes = 0
    }
    some.push(row)
    bytes += length
  }
  if (some.length > 0) yield some
}
