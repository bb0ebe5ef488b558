import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Migration, NEWEST_SCHEMA, SQLITE_MIGRATIONS } from '../../src/storage/migrations.ts'
import { connect } from '../../src/storage/sqlite/driver.ts'
import { migrate } from '../../src/storage/sqlite/migrate.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import { postrider } from '../cli/command.ts'
import { ALL_MESSAGES } from './records.ts'

/** A store that the command line filled, as a backup, and what a later version makes of it. */

let folder: string
let today: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-upgrade-'))
  today = join(folder, 'today.tar.zst')
  await makeBackup(today)
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Creates a store with every kind of record that the command line can create, and its backup in `file`. */
async function makeBackup(file: string): Promise<void> {
  const config = join(folder, 'config.toml')
  writeFileSync(
    config,
    'hostname = "mail.kept.example"\ndata_dir = "data"\n[http]\nlisten = "off"\n[sending]\nrequire_verified_domain = false\n',
  )
  const mail = ['send', '--from', 'Shop <shop@kept.example>', '--subject', 'Kept 🎉', '--html', '<p>Hello</p>']
  const commands = [
    ['init', '--domain', 'kept.example', '--skip-checks'],
    ['org', 'create', 'Second', '--plan', 'free'],
    ['domain', 'add', 'second.example', '--org', 'Second'],
    ['key', 'create', '--domain', 'second.example', '--permission', 'send'],
    [...mail, '--to', 'bounce@customer.example', '--mode', 'test'],
    [...mail, '--to', 'ann@customer.example'],
    ['backup', file],
  ]
  for (const command of commands) {
    expect(await postrider(...command, '--config', config)).toMatchObject({ code: 0 })
  }
}

test('a backup is restored, and all of it is there', async () => {
  const dataDir = join(folder, 'restored')
  const restored = await postrider('restore', today, '--to', dataDir, '--unauthenticated', '--json')
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

test('a later step finds what this version wrote, and three of the copies before it stay', async () => {
  const dataDir = join(folder, 'later')
  expect((await postrider('restore', today, '--to', dataDir, '--unauthenticated')).code).toBe(0)
  const file = join(dataDir, 'postrider.db')
  const steps: Migration[] = [...SQLITE_MIGRATIONS]
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
    `a newer Postrider wrote the data directory (schema ${newest} later_5, this version has ${NEWEST_SCHEMA})`,
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
