import type { Connection } from '../postgres/connection.ts'
import { sendEach } from '../postgres/each.ts'
import type { Statements } from '../postgres/transactions.ts'
import type { Each } from '../sql.ts'
import type { Source, Target } from './copy-tables.ts'
import { type PartHash, postgresHashes, type Row } from './row-hashes.ts'
import type { MovedTable, Range } from './tables.ts'

/** Any statement: one over a large table takes minutes. */
const DEADLINE_MS = 6 * 60 * 60_000
/** Statements that wait for their answers. */
const UNDER_WAY = 4
/** Rows read at once, and of those with whole mails. */
const TOGETHER = 1_000
const CONTENTS_TOGETHER = 32

/** Statements without a transaction, which may take long. */
export function longStatements(connection: Connection): Statements {
  const query: Statements['query'] = (text, values) => connection.query(text, values, DEADLINE_MS)
  const run: Statements['run'] = async (text, values) => (await query(text, values)).length
  return { query, run }
}

/** A database that is being filled. */
export function postgresTarget(connection: Connection): Target {
  const statements = longStatements(connection)
  const inserts = new Map<string, Each<unknown, unknown>>()
  const underWay = new Set<Promise<unknown>>()
  /** Of a statement that failed; the next one throws it. */
  let failure: { error: unknown } | null = null
  const note = (sent: Promise<unknown>) => {
    const settled = sent
      .catch((error: unknown) => {
        failure ??= { error }
      })
      .finally(() => underWay.delete(settled))
    underWay.add(settled)
  }
  const atMost = async (count: number) => {
    while (underWay.size > count) await Promise.race(underWay)
    if (failure !== null) throw failure.error
  }
  return {
    hashes: (table) => hashesIn(connection, table, table.name),
    remove: async (table, range) => {
      // Their words come again with what is written.
      const from = [...(table.name === 'messages' ? ['message_words'] : []), table.name]
      let removed = 0
      for (const name of from) {
        const column = name === table.name ? table.part?.column : 'message_number'
        const [gone] = await statements.query<{ count: number }>(
          `with gone as (delete from ${name}${within(column, range)} returning 1)
            select count(*)::float8 as count from gone`,
          valuesOf(range),
        )
        removed = gone?.count ?? 0
      }
      return removed
    },
    add: async (table, rows) => {
      const statement = inserts.get(table.name) ?? insertInto(table)
      inserts.set(table.name, statement)
      const sent: Promise<unknown>[] = []
      sendEach({ wants: 'each', statement, given: rows, most: null, isRead: false }, { statements, sent })
      for (const each of sent) note(each)
      await atMost(UNDER_WAY - 1)
    },
    written: () => atMost(0),
  }
}

/** A database that no node uses, as of one moment: the statements belong to one transaction, which createNumbers began. */
export function postgresSource(connection: Connection): Source {
  return {
    hashes: (table) => hashesIn(connection, table, `${readFrom(table)} t`),
    rows: async function* (table, range) {
      const names = table.columns.map(({ name }) => name)
      const text = `select ${names.join(', ')} from ${readFrom(table)} t${within(table.part?.column, range)}`
      await connection.query(`declare walked no scroll cursor for ${text}`, valuesOf(range), DEADLINE_MS)
      const together = table.columns.some(({ type }) => type === 'bytea') ? CONTENTS_TOGETHER : TOGETHER
      for (let isMore = true; isMore; ) {
        const rows = await connection.query<Record<string, Row[number]>>(
          `fetch ${together} from walked`,
          [],
          DEADLINE_MS,
        )
        if (rows.length > 0) yield rows.map((row) => names.map((name) => row[name] ?? null))
        isMore = rows.length === together
      }
      await connection.query('close walked')
    },
  }
}

/** SQLite divides its full text by numbers, and has the events of the feed in the order of theirs. So messages and events
 *  get numbers from 1, in their order. */
const NUMBERS = {
  messages: 'number',
  events: 'position, number',
} as const

/** Begins the transaction of a source. */
export async function createNumbers(connection: Connection): Promise<void> {
  await connection.query('begin isolation level repeatable read')
  for (const [table, order] of Object.entries(NUMBERS)) {
    const text = `create temp table moved_${table} on commit drop as
      select number as old, row_number() over (order by ${order}) as new from ${table}`
    await connection.query(text, [], DEADLINE_MS)
    await connection.query(`analyze moved_${table}`, [], DEADLINE_MS)
  }
}

/** Column of a table → the table whose numbers it has, if they change. */
function numbered(table: string, column: string): keyof typeof NUMBERS | null {
  if (column === 'event_number') return 'events'
  if (column === 'message_number') return table.startsWith('inbound_') ? null : 'messages'
  return column === 'number' && (table === 'messages' || table === 'events') ? table : null
}

/** Where the rows of a table are read, as SQLite has them. */
function readFrom({ name, columns, key }: MovedTable): string {
  if (name === 'large_contents') {
    // Of parts that were being written, nobody continues.
    return `(select c.number, case when kind = 'coming' then 'gone' else kind end as kind, 0 as writer,
        case when kind = 'content' then n.new else owner end as owner
      from large_contents c left join moved_messages n on c.kind = 'content' and n.old = c.owner)`
  }
  if (key.includes('writer')) {
    const keys = key.filter((column) => column !== 'writer')
    const sums = columns.filter((column) => !key.includes(column.name))
    return `(select ${keys.join(', ')}, 0 as writer,
        ${sums.map((sum) => `sum(${sum.name})::${sum.type} as ${sum.name}`).join(', ')}
      from ${name} group by ${keys.join(', ')})`
  }
  const column = columns.find((each) => numbered(name, each.name) !== null)
  if (column === undefined) return name
  const others = columns.filter((each) => each !== column).map((each) => `r.${each.name}`)
  return `(select n.new as ${column.name}, ${others.join(', ')}
    from ${name} r join moved_${numbered(name, column.name)} n on n.old = r.${column.name})`
}

async function hashesIn(connection: Connection, table: MovedTable, from: string): Promise<Map<string, PartHash>> {
  const found = await connection.query<PartHash & { part: string }>(postgresHashes(table, from), [], DEADLINE_MS)
  return new Map(found.map(({ part, rows, hash }) => [part, { rows, hash }]))
}

/** What moved comes before everything that PostgreSQL writes. */
const POSITION = '0'

function insertInto({ name, columns }: MovedTable): Each<unknown, unknown> {
  const names = columns.map((column) => column.name)
  const isEvents = name === 'events'
  return {
    text: `insert into ${name} (${names.join(', ')}${isEvents ? ', position' : ''}) overriding system value
      select ${names.map((column) => `r.${column}`).join(', ')}${isEvents ? `, ${POSITION}` : ''} from rows r`,
    sqlite: null,
    names,
    types: columns.map(({ type }) => type),
    // The rows are those of `rows`, whose values are in the order of the columns.
    values: columns.map(({ type }, at) => (row) => {
      const value = (row as Row)[at] ?? null
      return type === 'boolean' && value !== null ? Boolean(value) : value
    }),
  }
}

const within = (column: string | undefined, range: Range | null) =>
  range === null ? '' : ` where ${column} >= $1 and ${column} < $2`
const valuesOf = (range: Range | null) => (range === null ? [] : [range.low, range.high])
