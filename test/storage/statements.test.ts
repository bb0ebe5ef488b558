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
  [
    'select number::float8 as number',
    'PostgreSQL walks along the records of an organization by pairs, SQLite by numbers',
  ],
  ['delete from forward_targets where', 'PostgreSQL compares a list of pairs with every row'],
  ['select number from inbound_messages where (organization_id', 'PostgreSQL compares rows of the index'],
  ['select number from messages where (organization_id', 'the same'],
  ['select id from inbound_messages where (organization_id', 'the same; SQLite would lose the bound of the number'],
  ['select 1 as found from pg_attribute', 'the catalogs of the databases'],
  ['select pg_advisory_xact_lock', 'SQLite has one writer'],
  ['delete from usage', 'the table of SQLite has no row numbers'],
  ['select at::int, counted', 'SQLite has no lateral join, and other ranges of tags'],
  ['select key, sum(', 'the same'],
  ['with recursive counted (id) as (', 'SQLite has no lateral join and the table no row numbers'],
  ['with walked as materialized', 'SQLite has no lateral join'],
  [
    'with recursive search (low, high)',
    'PostgreSQL compares rows of the index; SQLite would lose the bound of the number',
  ],
  ['select e.', 'events of SQLite have no position: it has one writer, so that their numbers are their order'],
  ['select pg_snapshot_xmin', 'the same'],
  ['select m.number, m.id, m.webhook_id', 'the same'],
  ['select m.number as key, m.id as "messageId"', 'the texts that a search folds are columns of PostgreSQL'],
  ['select id from suppressions', 'PostgreSQL has another order of texts, and other names of functions'],
] as const

/** Without the index that SQLite is told to use. */
const withoutHint = (text: string) =>
  text
    .replaceAll(/ indexed by \w+/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
const isDifferent = (text: string, sqlite: string | null) =>
  sqlite !== null && withoutHint(sqlite) !== withoutHint(text)

test('the statements with a text of their own for SQLite are these', () => {
  const different = STATEMENTS.filter(({ text, sqlite }) => isDifferent(text, sqlite)).map(({ text }) => text)
  expect(different.filter((text) => !DIFFERENT.some(([beginning]) => text.startsWith(beginning)))).toEqual([])
  for (const [beginning] of DIFFERENT)
    expect([beginning, different.filter((text) => text.startsWith(beginning)).length]).not.toEqual([beginning, 0])
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
