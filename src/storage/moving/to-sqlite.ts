import { StoreMoved } from '../errors.ts'
import type { DatabaseAddress } from '../postgres/address.ts'
import { requireNoNodes } from '../postgres/adopt.ts'
import { type Connection, connect } from '../postgres/connection.ts'
import { readInstance, setInstanceState } from '../postgres/instance.ts'
import { type ContentParts, contentParts } from '../sqlite/content-parts.ts'
import { connect as connectFile, type Connection as Database } from '../sqlite/driver.ts'
import { migrate } from '../sqlite/migrate.ts'
import { columnsIn, tablesAlike } from './alike.ts'
import { type BackTable, backTables, MADE_LAST } from './back-tables.ts'

const SETTINGS = { statement_timeout: '0', idle_in_transaction_session_timeout: '0', jit: 'off' }
const DEADLINE_MS = 6 * 60 * 60_000
/** Rows read at once. */
const TOGETHER = 2_000
const CONTENTS_TOGETHER = 64
const IN_USE = 'the database does not serve, or belongs to a move that is not finished'

/** Rows of a table. */
export interface BackCount {
  name: string
  rows: number
}

/** Copies a PostgreSQL database that no node uses into the new SQLite file `file`, as of one moment. `beforeMark` makes the
 *  file the one of its data directory, after the database is marked: no node serves it from then on. Throws StoreMoved
 *  while nodes run, and what the databases throw; then the database is unchanged. */
export async function moveToSqlite(options: {
  address: DatabaseAddress
  file: string
  now: number
  onCopied: (table: BackCount) => void
}): Promise<BackCount[]> {
  const { address, file, now, onCopied } = options
  const connection = await connect({ address, name: 'postrider migrate', settings: SETTINGS })
  try {
    const instance = await readInstance(connection)
    if (instance === null || instance.state === 'filling' || instance.state === 'went_back')
      throw new StoreMoved(IN_USE)
    await requireNoNodes(connection)
    const copied = await copyInto(file, connection, { now, instanceId: instance.id, onCopied })
    await setInstanceState(connection, 'moved')
    return copied
  } finally {
    connection.close()
  }
}

async function copyInto(
  file: string,
  connection: Connection,
  how: { now: number; instanceId: string; onCopied: (table: BackCount) => void },
): Promise<BackCount[]> {
  const db = connectFile(file, { busyTimeoutMs: 0 })
  try {
    migrate(db, how.now)
    db.pragma('synchronous = off')
    db.exec('delete from users') // the first one, which a new schema contains
    db.exec('create temp table raws (owner text primary key, number integer not null) without rowid')
    db.prepare('update instance set id = ?').run(how.instanceId)
    const copied: BackCount[] = []
    const note = (count: BackCount) => {
      copied.push(count)
      how.onCopied(count)
    }
    await connection.query('begin isolation level repeatable read read only')
    for (const table of backTables(await tablesAlike(columnsIn(db), connection))) {
      if (table.name === 'inbound_messages') note(await copyMails(db, connection))
      note({ name: table.name, rows: await copyTable(db, connection, table) })
      if (table.name === 'messages') note(await copyContents(db, connection))
    }
    await connection.query('commit')
    db.exec(MADE_LAST)
    db.pragma('synchronous = full')
    db.pragma('wal_checkpoint(truncate)')
    return copied
  } finally {
    db.close()
  }
}

async function copyTable(db: Database, connection: Connection, { name, columns, found = {}, from }: BackTable) {
  const names = Object.keys(columns)
  const places = names.map((column) => found[column] ?? '?')
  const insert = db.prepare(`insert into ${name} (${names.join(', ')}) values (${places.join(', ')})`)
  const values = Object.values(columns).map((sql, at) => `${sql} as c${at}`)
  const add = db.transaction((rows: readonly Record<string, unknown>[]) => {
    for (const row of rows) insert.run(...names.map((_, at) => row[`c${at}`]))
  })
  return walk(connection, `select ${values.join(', ')} from ${from}`, TOGETHER, add)
}

/** Contents of messages. */
async function copyContents(db: Database, connection: Connection): Promise<BackCount> {
  const parts = contentParts(db)
  const insert = db.prepare('insert into message_contents (message_number, content) values (?, ?)')
  const numberOf = db.prepare<unknown[], number>('select number from messages where id = ?').pluck()
  const add = db.transaction((rows: readonly { id: string; content: Uint8Array }[]) => {
    for (const { id, content } of rows) {
      const number = numberOf.get(id)
      if (number === undefined) throw new Error(`message ${id} of a content is missing`)
      const bytes = Buffer.from(content)
      insert.run(number, parts.first(bytes))
      parts.addRest('content', number, bytes)
    }
  })
  const text = `select c.owner_id as id, c.content from contents c join messages m on m.id = c.owner_id
    where c.kind = 'content'`
  return { name: 'message_contents', rows: await walk(connection, text, CONTENTS_TOGETHER, add) }
}

/** Inbound mails, which their messages share. */
async function copyMails(db: Database, connection: Connection): Promise<BackCount> {
  const parts: ContentParts = contentParts(db)
  const insert = db.prepare('insert into inbound_raws (parsed, raw) values (?, ?)')
  const note = db.prepare('insert into temp.raws (owner, number) values (?, ?)')
  const add = db.transaction((rows: readonly { id: string; parsed: Uint8Array; raw: Uint8Array }[]) => {
    for (const { id, ...row } of rows) {
      const [parsed, raw] = [Buffer.from(row.parsed), Buffer.from(row.raw)]
      const { lastInsertRowid: number } = insert.run(parts.first(parsed), parts.first(raw))
      parts.addRest('parsed', number, parsed)
      parts.addRest('raw', number, raw)
      note.run(id, number)
    }
  })
  const text = `select p.owner_id as id, p.content as parsed, r.content as raw from contents p
    join contents r on r.owner_id = p.owner_id and r.kind = 'raw' where p.kind = 'parsed'`
  return { name: 'inbound_raws', rows: await walk(connection, text, CONTENTS_TOGETHER, add) }
}

/** Reads a query in steps → the number of its rows. */
async function walk<Row>(
  connection: Connection,
  text: string,
  together: number,
  add: (rows: readonly Row[]) => void,
): Promise<number> {
  await connection.query(`declare walked cursor for ${text}`, [], DEADLINE_MS)
  let count = 0
  for (;;) {
    const rows = await connection.query<Row>(`fetch ${together} from walked`, [], DEADLINE_MS)
    add(rows)
    count += rows.length
    if (rows.length < together) break
  }
  await connection.query('close walked')
  return count
}
