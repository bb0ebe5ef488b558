import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KEPT_STORES, keepStore } from '../../scripts/keep-store.ts'
import { connect } from '../../src/storage/sqlite/driver.ts'
import { MIGRATIONS, type Migration, migrate } from '../../src/storage/sqlite/migrate.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import { LIMIT_MS, postrider } from '../cli/command.ts'
import { ALL_MESSAGES } from './records.ts'

/** Stores of every schema there ever was, kept as backups, and the one of today: all of them can be used. */

const kept = existsSync(KEPT_STORES) ? readdirSync(KEPT_STORES) : []

let folder: string
let today: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-upgrade-'))
  today = join(folder, 'today.tar.zst')
  await keepStore(today)
}, LIMIT_MS)
afterAll(() => rmSync(folder, { recursive: true }))

test('of every schema but the newest a store is kept', () => {
  const earlier = MIGRATIONS.slice(0, -1).map(({ name }) => `${name}.tar.zst`)
  expect(earlier.filter((name) => !kept.includes(name))).toEqual([])
})

test.each([...kept, 'today'])(
  'the store %s is restored, brought up to date, and all of it is there',
  async (name) => {
    const dataDir = join(folder, `restored-${name}`)
    const file = name === 'today' ? today : join(KEPT_STORES, name)
    const restored = await postrider('restore', file, '--to', dataDir, '--json')
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
  },
  LIMIT_MS,
)

test(
  'a later step finds what this version wrote, and of the copies from before three stay',
  async () => {
    const dataDir = join(folder, 'later')
    expect((await postrider('restore', today, '--to', dataDir)).code).toBe(0)
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
    expect(copies.toSorted()).toEqual([newest - 2, newest - 1, newest].map((n) => `postrider.db.before-schema-${n}`))

    const refused = await postrider('restore', '--verify', await backedUp(dataDir))
    expect(refused.stderr).toContain(
      `written by a newer Postrider (schema ${newest} later_5, this one knows ${MIGRATIONS.length})`,
    )
  },
  LIMIT_MS,
)

/** A backup of a store that may be newer than the program: it is copied, not understood. */
async function backedUp(dataDir: string): Promise<string> {
  const config = join(folder, 'later.toml')
  writeFileSync(config, `hostname = "mail.kept.example"\ndata_dir = "${dataDir}"\n`)
  mkdirSync(join(folder, 'backups'), { recursive: true })
  const made = await postrider('backup', join(folder, 'backups/later.tar.zst'), '--config', config)
  expect(made).toMatchObject({ code: 0, stderr: '' })
  return join(folder, 'backups/later.tar.zst')
}
