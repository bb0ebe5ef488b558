import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DUMP } from '../../src/cli/backup/manifest.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { membersOf, pack, relisted } from './backup-members.ts'
import { start, testFolder } from './command.ts'
import { postriderInOneProcess } from './in-one-process.ts'

// biome-ignore lint/suspicious/noExplicitAny: records of every kind
type Json = any

const RELAXED = `[sending]
require_verified_domain = false
[webhooks]
allowed_private_networks = ["127.0.0.0/8"]
`

describeWithPostgres('backup and restore with PostgreSQL', () => {
  let postgres: TestPostgres
  let place: ReturnType<typeof testFolder>
  let databases = 0
  const undo: (() => unknown)[] = []
  const postrider = postriderInOneProcess()
  const run = (...args: string[]) => postrider(...args, '--config', place.file)
  const json = async (...args: string[]): Promise<Json> => {
    const { stdout, stderr, code } = await run(...args, '--json')
    if (code !== 0) throw new Error(`${args[0]}: exit code ${code}: ${stderr}`)
    return JSON.parse(stdout)
  }
  const at = (name: string) => join(place.folder, name)
  const setUrl = (url: string) => {
    const text = readFileSync(place.file, 'utf8').replace(/^database.url.*\n/, '')
    writeFileSync(place.file, `database.url = "${url}"\n${text}`)
  }
  const send = (mode: string) => {
    const mail = ['--from', 'a@example.com', '--to', 'b@example.net', '--subject', 'Hello', '--text', 'x']
    return json('send', ...mail, '--mode', mode)
  }

  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())
  beforeEach(async () => {
    place = testFolder()
    place.writeConfig('off', RELAXED)
    setUrl(await postgres.createDatabase(`backup${++databases}`))
    await json('init', '--domain', 'example.com', '--skip-checks')
  })
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
    place.remove()
  })

  test('with a dump is everything that a new machine and an empty database need, and holds what waited', async () => {
    const { id } = await send('live')
    const made = await json('backup', at('all.tar.zst'), '--dump')
    expect(made.files).toEqual(['config.toml', 'seal.key', 'postrider.dump'])
    expect(statSync(at('all.tar.zst')).mode & 0o777).toBe(0o600)
    const verified = await run('restore', at('all.tar.zst'), '--verify')
    expect(verified.stdout).toContain('It contains a dump of the PostgreSQL database.')

    const full = await run('restore', at('all.tar.zst'), '--to', at('new'))
    expect([full.code, full.stderr]).toEqual([1, expect.stringContaining('is not empty. Create an empty one.')])
    setUrl(await postgres.createDatabase(`restored${databases}`))
    const { held } = await json('restore', at('all.tar.zst'), '--to', at('new'))
    expect(held).toEqual({ deliveries: 1, webhook_deliveries: 0, inbound_deliveries: 0 })
    expect(existsSync(at('new/postrider.dump'))).toBe(false)
    expect(readFileSync(at('new/seal.key'))).toEqual(readFileSync(join(place.dataDir, 'seal.key')))
    expect(await json('message', 'show', id)).toMatchObject({ id, status: 'queued' })
    const released = await json('restore', 'release', '--discard')
    expect(released.discarded.deliveries).toBe(1)
  })

  // threat: changed-backups
  test('with a changed dump is refused, and the database stays empty', async () => {
    await json('backup', at('all.tar.zst'), '--dump')
    await json('user', 'add', 'mallory@example.net', '--operator')
    await json('backup', at('more.tar.zst'), '--dump')
    const members = await membersOf(at('all.tar.zst'))
    members.set(DUMP, (await membersOf(at('more.tar.zst'))).get(DUMP)!)
    const changed = pack(relisted(members), at('changed.tar.zst'))
    setUrl(await postgres.createDatabase(`changed${databases}`))
    const refused = await run('restore', changed, '--replace')
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('the backup is not signed with')])
    expect(
      postgres.psql('select count(*) from pg_tables where schemaname = current_schema', `changed${databases}`),
    ).toBe('0')
    const forced = await json('restore', changed, '--replace', '--unauthenticated')
    expect(forced.authenticated).toBe(false)
    expect((await run('audit')).stdout).toMatch(/restore .* unauthenticated /)
    expect((await json('user', 'list')).data.map((user: Json) => user.email)).toContain('mallory@example.net')
  })

  test('without a dump has keys and config only, and says where the database comes from', async () => {
    const made = await json('backup', at('keys.tar.zst'))
    expect(made.files).toEqual(['config.toml', 'seal.key', 'postrider.json'])
    const restored = await run('restore', at('keys.tar.zst'), '--to', at('keys'))
    expect([restored.code, restored.stdout]).toEqual([0, expect.stringContaining('postrider restore adopt')])
    expect(existsSync(at('keys/seal.key'))).toBe(true)
    expect(existsSync(at('keys/postrider.json'))).toBe(false)
    const sqlite = testFolder()
    undo.push(() => sqlite.remove())
    sqlite.writeConfig('off')
    const by = ['--signed-by', made.signed_by]
    const refused = await postrider('restore', at('keys.tar.zst'), '--config', sqlite.file, ...by)
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('Set database.url first.')])
    await postrider('init', '--domain', 'example.com', '--skip-checks', '--config', sqlite.file)
    await postrider('backup', at('sqlite.tar.zst'), '--config', sqlite.file)
    const other = await run('restore', at('sqlite.tar.zst'), '--to', at('other'), '--unauthenticated')
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('installation with SQLite')])
    const dumped = await postrider('backup', at('x.tar.zst'), '--dump', '--config', sqlite.file)
    expect([dumped.code, dumped.stderr]).toEqual([2, expect.stringContaining('--dump is for PostgreSQL')])
  })

  test('a copy of the database does not serve until it is adopted, and then holds what waited', async () => {
    await send('live')
    postgres.psql(`create database copied${databases} template backup${databases}`)
    setUrl(postgres.url(`copied${databases}`))
    const refused = await run('serve')
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('run: postrider restore adopt')])
    const adopted = await json('restore', 'adopt')
    expect(adopted.held.deliveries).toBe(1)
    const server = await start('serve', '--config', place.file)
    undo.push(() => server.kill('SIGKILL'))
    expect(JSON.parse(await server.line)).toMatchObject({ event: 'ready' })
    const running = await run('restore', 'adopt')
    expect([running.code, running.stderr]).toEqual([2, expect.stringContaining('End all nodes first.')])
    const rotating = await run('seal', 'rotate')
    expect(rotating.code).not.toBe(0)
  })

  test('seal rotate encrypts all secrets with a new key, and nodes without it do not start', async () => {
    const { id } = await json('webhook', 'create', '--url', 'https://127.0.0.1:9/x')
    const before = readFileSync(join(place.dataDir, 'seal.key'), 'utf8')
    const { secrets } = await json('seal', 'rotate')
    expect(secrets).toBeGreaterThan(2)
    expect(readFileSync(join(place.dataDir, 'seal.key'), 'utf8').split('\n')[1]).toBe(before.trim())
    expect((await json('webhook', 'list')).data.map((hook: Json) => hook.id)).toEqual([id])
    writeFileSync(join(place.dataDir, 'seal.key'), before, { mode: 0o600 })
    const refused = await run('webhook', 'list')
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('seal.key')])
  })
})
