import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPostgresStore } from '../../src/storage/postgres/open.ts'
import { STATEMENTS } from '../../src/storage/sql.ts'
import { connect } from '../../src/storage/sqlite/driver.ts'
import { migrate } from '../../src/storage/sqlite/migrate.ts'
import '../../src/storage/records/re-encrypt.ts'
import '../../src/storage/sqlite/open.ts' // both declare all statements
import { toSqlite } from '../../src/storage/sqlite/translate.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts'

/** Statements that differ between the databases, by their beginning, with the reason. */
const DIFFERENT = [
  ['select 1 as queued from delivery_queue', 'SQLite has no table of the queue: the state stands in the message'],
  ['delete from forward_targets where', 'PostgreSQL compares a list of pairs with every row'],
  ['select 1 as waiting from delivery_queue', 'the same'],
  ['update webhooks set status', 'SQLite has no column `removing`: it deletes the webhook with its last deliveries'],
  ['select id, created_at as at from webhook_deliveries', 'SQLite has another index, without entries of deleted rows'],
  ['with queued as (delete from webhook_queue', 'SQLite has no table of the queue, and deletes attempts by reference'],
  [
    'update inbound_routes set enabled',
    'SQLite has no column `removing`: it deletes the route with its last deliveries',
  ],
  ['select id from inbound_deliveries', 'SQLite has another index, which a delivery leaves when it ends'],
  ['with queued as (delete from inbound_queue', 'SQLite has no table of the queue'],
  ['select coalesce(e.opens, 0) as opens', 'SQLite counts opens and clicks in the delivery'],
  ['insert into engagement as present', 'the same'],
  ['update inbound_messages set delivery_status', 'messages of SQLite have numbers'],
  ['select coalesce(e.opens, 0) as opens', 'SQLite counts opens and clicks in the delivery'],
  ['insert into engagement', 'the same'],
  [
    "select coalesce(sum(used), 0)::float8 as used from usage\n    where organization_id = $1 and name = 'volume'",
    'SQLite counts the mail of a month in a table of its own',
  ],
  ['select count(distinct message_id) as used', 'SQLite counts messages that wait for their time as they change'],
  ['select 1 as found from pg_attribute', 'the catalogs of the databases'],
  ['select pg_advisory_xact_lock', 'SQLite has one writer'],
  ['delete from usage', 'the table of SQLite has no row numbers'],
  ['select at::int, counted', 'SQLite has no lateral join, and other ranges of tags'],
  ['select key, sum(', 'the same'],
  ['with recursive counted (id) as (', 'SQLite has no lateral join and the table no row numbers'],
] as const

test('the statements with a text of their own for SQLite are these', () => {
  const different = STATEMENTS.filter(({ sqlite }) => sqlite !== null).map(({ text }) => text)
  expect(different.filter((text) => !DIFFERENT.some(([beginning]) => text.startsWith(beginning)))).toEqual([])
  for (const [beginning] of DIFFERENT)
    expect(different.filter((text) => text.startsWith(beginning))).not.toHaveLength(0)
})

test('each statement fits the schema of SQLite', () => {
  const db = connect(':memory:', { busyTimeoutMs: 0 })
  migrate(db, 0)
  for (const { text, sqlite } of STATEMENTS) expect(() => db.prepare(toSqlite(sqlite ?? text).text)).not.toThrow()
  expect(() => db.prepare('select misspelt from alerts')).toThrow()
  db.close()
})

describeWithPostgres('on PostgreSQL', () => {
  let server: TestPostgres
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.stop())

  test('each statement fits the schema', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'postrider-statements-'))
    const url = await server.createDatabase('statements')
    const store = await openPostgresStore({ url, dataDir, now: 0 })
    const prepare = (text: string, number: number) => `prepare s${number} as ${text};`
    for (let from = 0; from < STATEMENTS.length; from += 50) {
      const some = STATEMENTS.slice(from, from + 50).map(({ text }, number) => prepare(text, number))
      expect(server.psql(some.join('\n'), 'statements')).toBe('')
    }
    expect(() => server.psql(prepare('select misspelt from alerts', 0), 'statements')).toThrow('misspelt')
    await store.close()
    rmSync(dataDir, { recursive: true })
  })
})
