import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KEPT_STORES, keepStore } from '../../scripts/keep-store.ts'
import { FIRST_USER } from '../../src/model/user.ts'
import { connect } from '../../src/storage/sqlite/driver.ts'
import { MIGRATIONS, type Migration, migrate } from '../../src/storage/sqlite/migrate.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import { postrider } from '../cli/command.ts'
import { ALL_MESSAGES } from './records.ts'

/** Stores of every released schema, kept as backups, and the present one: all of them work. */

const kept = existsSync(KEPT_STORES) ? readdirSync(KEPT_STORES) : []

let folder: string
let today: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-upgrade-'))
  today = join(folder, 'today.tar.zst')
  await keepStore(today)
})
afterAll(() => rmSync(folder, { recursive: true }))

/** The newest step of each release except the next one. */
const RELEASED = ['0001_start']

test('a store of every released schema is kept', () => {
  expect(RELEASED.filter((name) => !kept.includes(`${name}.tar.zst`))).toEqual([])
  expect(MIGRATIONS.map(({ name }) => name)).toEqual(expect.arrayContaining(RELEASED))
})

test.each([...kept, 'today'])('the store %s is restored and upgraded, and all of it is there', async (name) => {
  const dataDir = join(folder, `restored-${name}`)
  const file = name === 'today' ? today : join(KEPT_STORES, name)
  const restored = await postrider('restore', file, '--to', dataDir, '--unauthenticated', '--json')
  expect(restored.stderr).toBe('')
  expect(JSON.parse(restored.stdout)).toMatchObject({ composed: 2, held: { deliveries: 1 } })
  const store = await openStore({ dataDir, now: Date.UTC(2026, 10, 21) })
  const organizations = await store.organizations.list()
  expect(organizations.map((each) => each.name)).toEqual(['kept.example', 'Second'])
  const filter = { ...ALL_MESSAGES, organizationId: organizations[0]!.id }
  const { records } = await store.messages.list(filter, { limit: 9, after: null })
  expect(records.map(({ subject, status }) => ({ subject, status }))).toEqual([
    { subject: 'Kept 🎉', status: 'queued' },
    { subject: 'Kept 🎉', status: 'bounced' },
  ])
  expect((await store.domains.findByName('second.example'))?.dkim).toHaveLength(2)
  await store.close()
})

test('an upgrade counts what was stored before it, and confirms the targets of routes that already forward', async () => {
  const dataDir = join(folder, 'with-routes')
  mkdirSync(dataDir)
  const db = connect(join(dataDir, 'postrider.db'), { busyTimeoutMs: 0 })
  migrate(db, 1, MIGRATIONS.slice(0, 1))
  db.exec(`create table numbers as with recursive n (value) as (select 1 union all select value + 1 from n where value < 2500)
        select value from n;
      insert into organizations values ('org_a', 'A', 'free', 1);
      insert into inbound_routes values ('rte_a', 'org_a', 'r', 'catch_all', null, 'forward',
        '{"to":["Ann@x.example","bo@x.example"]}', 'none', 1, 0, x'00', 1);
      insert into suppressions values ('sup_a', 'org_a', '', 'a@x.example', 'manual', null, 1, null);
      insert into messages (id, organization_id, domain_id, mode, source, status, sender, sender_address, recipients,
          subject, tags, metadata, size_bytes, message_id_header, created_at, require_tls, unsubscribe, track_opens,
          track_clicks)
        select 'msg_' || value, 'org_a', 'dom_a', 'live', 'api', iif(value < 3, 'scheduled', 'delivered'), 's', 's',
          '{"to":"a@x.example","cc":null,"bcc":null,"reply_to":null}', 's', '[]', '{}', 1000, '<m>', 1, 0, 0, 0, 0
        from numbers;
      drop table numbers`)
  db.close()

  const upgraded: string[] = []
  const store = await openStore({ dataDir, now: 2, onUpgrade: (steps) => upgraded.push(...steps) })
  expect(upgraded).toEqual(MIGRATIONS.slice(1).map(({ name }) => name))
  expect(await store.forwardTargets.status('org_a', 'ann@X.example')).toBe('confirmed')
  expect(await store.forwardTargets.countByUpgrade()).toBe(2)
  expect(await store.suppressions.get('sup_a')).toMatchObject({ stream: null })
  expect(await store.usage.of('org_a', 2)).toMatchObject({ scheduledMessages: 2, suppressions: 1, storedBytes: 0 })
  let steps = 0
  while (await store.usage.countSome()) steps++
  expect(steps).toBeGreaterThan(1)
  expect((await store.usage.of('org_a', 2)).storedBytes).toBe(2500 * (1000 + 2048))
  await store.close()
})

test('an upgrade makes the operator the first user, who keeps password and sessions', async () => {
  const dataDir = join(folder, 'with-operator')
  mkdirSync(dataDir)
  const db = connect(join(dataDir, 'postrider.db'), { busyTimeoutMs: 0 })
  migrate(db, 1, MIGRATIONS.slice(0, 7))
  db.exec(`insert into operator_password values (1, 'hash', 1);
      insert into sessions values ('ses_1', x'01', 1, 1, 99, null, 'b');`)
  db.close()
  const store = await openStore({ dataDir, now: 2 })
  expect(await store.users.only()).toMatchObject({ id: FIRST_USER, name: 'Operator', isOperator: true, email: null })
  expect(await store.users.passwordHash(FIRST_USER)).toBe('hash')
  expect(await store.sessions.findByToken(Uint8Array.of(1))).toMatchObject({ id: 'ses_1', userId: FIRST_USER })
  await store.close()
})

test('a later step finds what this version wrote, and three of the copies before it stay', async () => {
  const dataDir = join(folder, 'later')
  expect((await postrider('restore', today, '--to', dataDir, '--unauthenticated')).code).toBe(0)
  const file = join(dataDir, 'postrider.db')
  const steps: Migration[] = [...MIGRATIONS]
  for (let later = 1; later <= 5; later++) {
    steps.push({ name: `later_${later}`, sql: `alter table messages add column later_${later} integer default 7;` })
    const db = connect(file, { busyTimeoutMs: 0 })
    migrate(db, later, steps)
    expect(db.prepare(`select count(*), sum(later_${later}) from messages`).raw().get()).toEqual([2, 14])
    db.close()
  }
  const copies = readdirSync(dataDir).filter((name) => name.includes('.before-schema-'))
  const newest = steps.length
  expect(copies.toSorted()).toEqual(
    [newest - 2, newest - 1, newest].map((n) => `postrider.db.before-schema-${n}`).toSorted(),
  )

  const refused = await postrider('restore', '--verify', await backedUp(dataDir))
  expect(refused.stderr).toContain(
    `a newer Postrider wrote the data directory (schema ${newest} later_5, this version has ${MIGRATIONS.length})`,
  )
})

/** A backup of a store that may be newer than the program: it is copied, not parsed. */
async function backedUp(dataDir: string): Promise<string> {
  const config = join(folder, 'later.toml')
  writeFileSync(config, `hostname = "mail.kept.example"\ndata_dir = "${dataDir}"\n`)
  mkdirSync(join(folder, 'backups'), { recursive: true })
  const made = await postrider('backup', join(folder, 'backups/later.tar.zst'), '--config', config)
  expect(made).toMatchObject({ code: 0, stderr: '' })
  return join(folder, 'backups/later.tar.zst')
}
