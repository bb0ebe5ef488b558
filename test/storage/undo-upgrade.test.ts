import { afterAll, describe, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NEWEST_SCHEMA, SQLITE_MIGRATIONS } from '../../src/storage/migrations.ts'
import { connect } from '../../src/storage/sqlite/driver.ts'
import { migrate } from '../../src/storage/sqlite/migrate.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import { schemaOf, undoUpgrade } from '../../src/storage/sqlite/undo-upgrade.ts'
import { accept, createRecords, found, ORGANIZATION, START } from './records.ts'

const folder = mkdtempSync(join(tmpdir(), 'postrider-undo-'))
afterAll(() => rmSync(folder, { recursive: true }))
const NEXT = [...SQLITE_MIGRATIONS, { name: 'next', sql: 'alter table messages add column next integer default 7;' }]
const SCHEMA = NEWEST_SCHEMA
let count = 0

/** A store with one message by default, upgraded by one step; then `change` is run on it as SQL. */
async function upgraded(change = '', messages = 1): Promise<string> {
  const dataDir = join(folder, String(count++))
  const store = await openStore({ dataDir, now: START })
  const records = createRecords()
  await found(store, records)
  if (messages > 0) await accept(store, records.accepted())
  await store.close()
  const file = join(dataDir, 'postrider.db')
  const db = connect(file, { busyTimeoutMs: 0 })
  migrate(db, START, NEXT)
  db.exec(change)
  db.close()
  return file
}

const NEW_MESSAGE = `create temp table one as select * from messages limit 1;
  update one set id = 'new', number = null; insert into messages select * from one`
const NEW_EVENT = `insert into events (id, kind, type, organization_id, mode, created_at, body)
  values ('new', 1, 'message.bounced', 'org_a', 'live', 1, '{}')`
const NEW_SUPPRESSION = `insert into suppressions (id, organization_id, domain_id, mode, email, reason, created_at)
  values ('new', 'org_a', '', 'live', 'a@x.example', 'manual', 1)`

describe('the return to the schema before an upgrade', () => {
  test('takes the copy from before, and keeps the newer database', async () => {
    const file = await upgraded()
    expect(schemaOf(file)).toBe(SCHEMA + 1)
    const copy = readFileSync(`${file}.before-schema-${SCHEMA + 1}`)
    const newer = `${file}.after-schema-${SCHEMA}`
    expect(undoUpgrade(file, SCHEMA)).toEqual({ kind: 'undone', newer })
    expect(readFileSync(file)).toEqual(copy)
    expect(schemaOf(newer)).toBe(SCHEMA + 1)
    // The present program opens it, and a second upgrade makes a new copy.
    const store = await openStore({ dataDir: join(file, '..'), now: START })
    expect((await store.organizations.list()).map(({ id }) => id)).toEqual([ORGANIZATION])
    await store.close()
    expect(existsSync(`${file}.before-schema-${SCHEMA + 1}`)).toBe(false)
    expect(undoUpgrade(file, SCHEMA)).toEqual({ kind: 'no copy' })
  })

  test.each([
    ['messages', NEW_MESSAGE],
    ['events', NEW_EVENT],
    ['deliveries', 'update deliveries set attempts = attempts + 1'],
    ['deliveries', `update deliveries set status = 'delivered'`],
    ['suppressions', NEW_SUPPRESSION],
  ])('does nothing when the newer program wrote %s', async (table, sql) => {
    const file = await upgraded(sql)
    expect(undoUpgrade(file, SCHEMA)).toEqual({ kind: 'written', written: { [table]: 1 } })
    expect(schemaOf(file)).toBe(SCHEMA + 1)
    expect(existsSync(`${file}.before-schema-${SCHEMA + 1}`)).toBe(true)
    expect(existsSync(`${file}.after-schema-${SCHEMA}`)).toBe(false)
  })

  test('does nothing when tables cannot be compared', async () => {
    const file = await upgraded('alter table messages rename to mail')
    expect(undoUpgrade(file, SCHEMA)).toEqual({ kind: 'written', written: null })
    expect(schemaOf(file)).toBe(SCHEMA + 1)
  })

  test('does not take a copy of an earlier upgrade, which lacks the mail since', async () => {
    const stale = await upgraded('', 0)
    const file = await upgraded()
    cpSync(`${stale}.before-schema-${SCHEMA + 1}`, `${file}.before-schema-${SCHEMA + 1}`)
    expect(undoUpgrade(file, SCHEMA)).toMatchObject({ kind: 'written', written: { messages: 1 } })
  })
})
