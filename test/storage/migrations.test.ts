import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StoreMismatch } from '../../src/storage/errors.ts'
import type { Migration } from '../../src/storage/migrations.ts'
import { type Connection, connect } from '../../src/storage/sqlite/driver.ts'
import { migrate } from '../../src/storage/sqlite/migrate.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import { ORGANIZATION } from './records.ts'

const FIRST: Migration = { name: '0001_first', sql: 'create table a (n integer) strict; insert into a values (1);' }
const SECOND: Migration = { name: '0002_second', sql: 'alter table a add column m integer; update a set m = n + 1;' }

let dataDir: string
let file: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'postrider-migrations-'))
  file = join(dataDir, 'postrider.db')
})
afterEach(() => rmSync(dataDir, { recursive: true }))

test('a fresh data directory gets the schema, and opening it again changes nothing', async () => {
  await (await openStore({ dataDir, now: 1 })).close()
  const before = await inside((db) => [schemaOf(db), db.prepare('select * from migrations').all()])
  const store = await openStore({ dataDir, now: 2 })
  await store.organizations.create({ id: ORGANIZATION, name: 'a', plan: 'free', createdAt: 0 })
  await store.close()
  expect(await inside((db) => [schemaOf(db), db.prepare('select * from migrations').all()])).toEqual(before)
  const again = await openStore({ dataDir, now: 3 })
  expect(await again.organizations.get(ORGANIZATION)).not.toBeNull()
  await again.close()
})

test('every table is strict', async () => {
  await inside((db) => migrate(db, 1))
  const others = `select name from pragma_table_list where schema = 'main' and not strict and name not like 'sqlite_%'`
  expect(await inside((db) => db.prepare(others).all())).toEqual([])
})

test('steps run in order and each once', async () => {
  await inside((db) => migrate(db, 10, [FIRST]))
  await inside((db) => migrate(db, 20, [FIRST, SECOND]))
  await inside((db) => migrate(db, 30, [FIRST, SECOND]))
  await inside((db) => {
    expect(db.prepare('select n, m from a').all()).toEqual([{ n: 1, m: 2 }])
    expect(db.prepare('select number, name, applied_at as at from migrations').all()).toEqual([
      { number: 1, name: '0001_first', at: 10 },
      { number: 2, name: '0002_second', at: 20 },
    ])
  })
})

// threat: operator-mistakes
test('a newer schema is refused without changing a byte', async () => {
  await (await openStore({ dataDir, now: 1 })).close()
  await inside((db) => db.exec("insert into migrations values (999, '0999_future', 'x', 1)"))
  const before = hashOf(file)
  expect(openStore({ dataDir, now: 2 })).rejects.toThrow(StoreMismatch)
  expect(openStore({ dataDir, now: 2 })).rejects.toThrow(/newer Postrider.*schema 999 0999_future/)
  expect(hashOf(file)).toBe(before)
})

test('a step that differs from the one that ran is refused', async () => {
  await inside((db) => migrate(db, 1, [FIRST]))
  const before = hashOf(file)
  const edited = { ...FIRST, sql: `${FIRST.sql} ` }
  await inside((db) => {
    expect(() => migrate(db, 2, [edited, SECOND])).toThrow(StoreMismatch)
    expect(() => migrate(db, 2, [edited, SECOND])).toThrow('schema step 1 (0001_first) of the data directory')
  })
  expect(hashOf(file)).toBe(before)
})

test('a store that began with another first step is not called newer, although it has more steps', async () => {
  await inside((db) => migrate(db, 1, [{ ...FIRST, sql: `${FIRST.sql} ` }, SECOND]))
  await inside((db) =>
    expect(() => migrate(db, 2, [FIRST])).toThrow('schema step 1 (0001_first) of the data directory'),
  )
})

test('a step that fails half-way leaves nothing and runs again', async () => {
  await inside((db) => migrate(db, 1, [FIRST]))
  const before = await inside((db) => [schemaOf(db), db.prepare('select * from a').all()])
  const broken = { ...SECOND, sql: `${SECOND.sql} insert into missing values (1);` }
  await inside((db) => expect(() => migrate(db, 2, [FIRST, broken])).toThrow('no such table: missing'))
  expect(await inside((db) => [schemaOf(db), db.prepare('select * from a').all()])).toEqual(before)
  await inside((db) => migrate(db, 3, [FIRST, SECOND]))
  expect(await inside((db) => db.prepare('select m from a').pluck().get())).toBe(2)
})

test('a step that fails in a new store leaves nothing of the steps before it', async () => {
  const broken = { ...SECOND, sql: `${SECOND.sql} insert into missing values (1);` }
  await inside((db) => expect(() => migrate(db, 1, [FIRST, broken])).toThrow('no such table: missing'))
  expect(await inside((db) => db.prepare("select name from sqlite_schema where type = 'table'").pluck().all())).toEqual(
    ['migrations'],
  )
  await inside((db) => expect(migrate(db, 2, [FIRST, SECOND])).toEqual([]))
  expect(await inside((db) => db.prepare('select m from a').pluck().get())).toBe(2)
})

test('a process that is killed during a step leaves nothing of it', async () => {
  await inside((db) => migrate(db, 1, [FIRST]))
  const before = await inside((db) => [schemaOf(db), db.prepare('select * from a').all()])
  const at = (path: string) => JSON.stringify(join(import.meta.dir, '../../src/storage/sqlite', path))
  const script = `
    const { connect } = await import(${at('driver.ts')})
    const { migrate } = await import(${at('migrate.ts')})
    const db = connect(${JSON.stringify(file)}, { busyTimeoutMs: 0 })
    db.function('die', () => process.kill(process.pid, 'SIGKILL'))
    migrate(db, 2, ${JSON.stringify([FIRST, { ...SECOND, sql: `${SECOND.sql} select die();` }])})`
  const killed = Bun.spawn([process.execPath, '-e', script], { stderr: 'inherit' })
  await killed.exited
  expect(killed.signalCode).toBe('SIGKILL')
  expect(await inside((db) => [schemaOf(db), db.prepare('select * from a').all()])).toEqual(before)
  await inside((db) => migrate(db, 3, [FIRST, SECOND]))
})

test('one of two processes that upgrade a store at once does it', async () => {
  await inside(async (db) => {
    migrate(db, 1, [FIRST])
    const other = connect(file, { busyTimeoutMs: 0 })
    // As if the other process came first, between our check and our step.
    const prepare = db.prepare.bind(db)
    db.prepare = ((sql: string) => {
      if (sql.startsWith('insert into migrations')) migrate(other, 2, [FIRST, SECOND])
      return prepare(sql)
    }) as Connection['prepare']
    migrate(db, 3, [FIRST, SECOND])
    other.close()
  })
  expect(await inside((db) => db.prepare('select number, applied_at from migrations').raw().all())).toEqual([
    [1, 1],
    [2, 2],
  ])
})

test('a commit is on disk before it is reported, in new and in reopened stores', async () => {
  for (const _ of ['made', 'opened again']) {
    const store = await openStore({ dataDir, now: 1 })
    await store.checkWritable()
    await store.close()
    await inside((db) => {
      expect(db.pragma('journal_mode', { simple: true })).toBe('wal')
      expect(db.pragma('synchronous', { simple: true })).toBe(FULL)
      db.exec('update heartbeat set beats = beats + 1')
      expect(db.pragma('synchronous', { simple: true })).toBe(FULL)
      expect(db.pragma('foreign_keys', { simple: true })).toBe(1)
      expect(db.pragma('auto_vacuum', { simple: true })).toBe(INCREMENTAL)
      expect(db.pragma('secure_delete', { simple: true })).toBe(1)
    })
  }
})

// threat: secrets-exposed
test('only the owner can read the files, also with an open umask', async () => {
  const umask = process.umask(0)
  try {
    const store = await openStore({ dataDir: join(dataDir, 'deep/er'), now: 1 })
    await store.checkWritable()
    expect(modeOf(join(dataDir, 'deep/er'))).toBe(0o700)
    for (const end of ['', '-wal', '-shm'])
      expect([end, modeOf(join(dataDir, `deep/er/postrider.db${end}`))]).toEqual([end, 0o600])
    await store.close()
  } finally {
    process.umask(umask)
  }
})

/** sqlite.org/pragma.html: values of synchronous and auto_vacuum. */
const FULL = 2
const INCREMENTAL = 2

/** The file, open as the server opens it, while `look` runs. */
async function inside<T>(look: (db: Connection) => T | Promise<T>): Promise<T> {
  const db = connect(file, { busyTimeoutMs: 0 })
  try {
    return await look(db)
  } finally {
    db.close()
  }
}

function schemaOf(db: Connection): unknown[] {
  return db.prepare('select type, name, sql from sqlite_schema order by name').all()
}

/** Only while this process does not have the file open: closing it would drop SQLite's locks. */
function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o777
}

test('a store in use is copied before a step, once', async () => {
  await inside((db) => migrate(db, 1, [FIRST]))
  const copy = `${file}.before-schema-2`
  expect(existsSync(copy)).toBe(false)
  const broken = { ...SECOND, sql: `${SECOND.sql} insert into missing values (1);` }
  await inside((db) => expect(() => migrate(db, 2, [FIRST, broken])).toThrow('no such table: missing'))
  const before = hashOf(copy)
  await inside((db) => migrate(db, 3, [FIRST, SECOND]))
  expect([hashOf(copy), statSync(copy).mode & 0o777, existsSync(`${copy}.part`)]).toEqual([before, 0o600, false])
  const old = connect(copy, { busyTimeoutMs: 0, readonly: true })
  expect(old.prepare('select * from a').all()).toEqual([{ n: 1 }])
  old.close()
})
