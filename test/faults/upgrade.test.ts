import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pkg from '../../package.json' with { type: 'json' }
import { NEWEST_SCHEMA } from '../../src/storage/migrations.ts'
import { lockDataDir } from '../../src/storage/sqlite/lock.ts'
import { NEXT_VERSION } from '../support/next-version.ts'
import { TEST_LIMIT_MS } from '../support/patience.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { describeWith } from '../support/real-tools.ts'
import { sign } from '../support/release.ts'
import {
  lastUpgrade,
  makeNextRelease,
  makeUpgradedServer,
  type NextRelease,
  type UpgradedServer,
} from '../support/upgraded-server.ts'

/** The built program upgrades itself to the same program as a later version, with one more schema step. */

const OLD_SCHEMA = NEWEST_SCHEMA
const OLD_VERSION = pkg.version

/** Of a version that does not get ready: waited for to the end, and long enough for the old one to start again. */
const READY_WITHIN = ['--ready-within', String(Math.ceil(TEST_LIMIT_MS / 30_000))]

let release: NextRelease
const servers: UpgradedServer[] = []
beforeAll(async () => {
  release = await makeNextRelease()
})
afterAll(async () => {
  for (const server of servers.splice(0)) await server.close()
  release.remove()
})
async function serving(hooks: Parameters<typeof makeUpgradedServer>[1] = {}): Promise<UpgradedServer> {
  const server = await makeUpgradedServer(release, hooks)
  servers.push(server)
  await server.start()
  return server
}
const configOf = (server: UpgradedServer) => ['--config', join(server.folder, 'config.toml')]
const versionOf = async (server: UpgradedServer) => {
  const { running, version } = JSON.parse((await server.postrider('status', '--json', ...configOf(server))).output)
  return { running, version }
}

describeWith(['minisign', 'curl'], 'an upgrade', () => {
  test('replaces program and schema, keeps every message and the old program, and is in the audit log', async () => {
    // One message comes after the backup.
    const server = await serving({ beforeStop: 'send' })
    const sent = await server.send()
    const plan = await server.upgrade({ more: ['--check'] })
    expect(plan.output).toContain(`Postrider ${OLD_VERSION} → ${NEXT_VERSION}`)
    expect(plan.output).toContain('1 schema step\n')
    expect(plan.exitCode).toBe(0)
    expect(await versionOf(server)).toEqual({ running: true, version: OLD_VERSION })
    expect(readdirSync(join(server.folder, 'bin'))).toEqual(['postrider'])

    const done = await server.upgrade({ more: ['--json'] })
    expect(JSON.parse(done.output.trim().split('\n').at(-1)!)).toMatchObject({
      from: OLD_VERSION,
      to: NEXT_VERSION,
      result: 'done',
      reason: null,
    })
    expect(done.exitCode).toBe(0)
    expect(await versionOf(server)).toEqual({ running: true, version: NEXT_VERSION })
    expect(server.schema()).toBe(OLD_SCHEMA + 1)
    const messages = await server.messages()
    expect(messages).toHaveLength(2)
    expect(messages).toContain(sent)
    expect(readdirSync(join(server.folder, 'bin'))).toEqual(['postrider', 'postrider.previous'])
    expect(readdirSync(join(server.folder, 'backups'))).toHaveLength(1)
    const config = configOf(server)
    expect((await server.postrider('audit', ...config)).output).toContain(`upgrade               ${NEXT_VERSION}`)
    expect((await server.postrider('status', ...config)).output).toContain(
      `Upgraded from ${OLD_VERSION} to ${NEXT_VERSION}`,
    )

    const again = await server.upgrade()
    expect(again).toEqual({ exitCode: 0, output: `${NEXT_VERSION} is the newest version; nothing was changed\n` })
  })

  // threat: interrupted-upgrade
  test('goes back with program and store when the new version ends before it is ready, and loses nothing', async () => {
    const server = await serving({ beforeStop: 'send' })
    const sent = await server.send()
    const failed = await server.upgrade({ breaks: 'exit', more: READY_WITHIN })
    expect(failed.output).toContain(`Went back to ${OLD_VERSION}`)
    expect(failed.exitCode).toBe(1)
    expect(await versionOf(server)).toEqual({ running: true, version: OLD_VERSION })
    expect(server.schema()).toBe(OLD_SCHEMA)
    // Also the one that came after the backup.
    const messages = await server.messages()
    expect(messages[0]).toBe(sent)
    expect(messages.length).toBeGreaterThanOrEqual(2)
    expect(lastUpgrade(server)).toMatchObject({ from: OLD_VERSION, to: NEXT_VERSION, result: 'rolled_back' })
    expect(existsSync(join(server.folder, 'bin/.postrider-upgrade'))).toBe(false)

    // The same again succeeds: nothing of the first attempt is in the way.
    expect((await server.upgrade()).exitCode).toBe(0)
    expect(server.schema()).toBe(OLD_SCHEMA + 1)
    expect((await server.messages()).slice(0, messages.length)).toEqual(messages)
  })

  // threat: interrupted-upgrade
  test('does not go back when the new version accepted a message without being ready', async () => {
    const server = await serving({ afterStart: '[ -z "$NEXT_BREAKS" ] || send' })
    const sent = await server.send()
    const failed = await server.upgrade({ breaks: 'hang', more: READY_WITHIN })
    expect(failed.output).toMatch(
      /stays, because going back would lose what it has accepted or sent since: \d+ messages/,
    )
    expect(failed.exitCode).toBe(1)
    expect(server.schema()).toBe(OLD_SCHEMA + 1)
    const messages = await server.messages()
    expect(messages[0]).toBe(sent)
    expect(messages.length).toBeGreaterThanOrEqual(2)
    expect(lastUpgrade(server).result).toBe('kept')
    await server.stop()
    await server.start()
    expect(await versionOf(server)).toEqual({ running: true, version: NEXT_VERSION })
  })

  test('changes nothing without a valid signature, with another archive, or without a way to restart the server', async () => {
    const server = await serving()
    const other = join(server.folder, 'release')
    cpSync(release.folder, other, { recursive: true })
    const from = (more: string[] = []) => server.upgrade({ more: ['--from', other, ...more] })
    const archive = readdirSync(other).find((name) => name.endsWith('.tar.gz'))!
    writeFileSync(join(other, archive), 'something else')
    expect((await from()).output).toContain(`${archive} does not match SHA256SUMS; nothing was changed`)
    writeFileSync(join(other, 'SHA256SUMS'), `${'0'.repeat(64)}  ${archive}\n`)
    expect((await from()).output).toContain('the signature does not count: it does not match. Nothing was changed.')
    await sign(other, release.key, ['-l'])
    expect((await from()).output).toContain('it is not a signature of minisign over a hash')
    const plain = ['--config', join(server.folder, 'config.toml'), '--from', release.folder]
    const builtIn = await server.postrider('upgrade', ...plain)
    expect(builtIn.output).toContain('this program was built without keys of releases')
    expect(builtIn.exitCode).toBe(2)
    const alone = await server.postrider('upgrade', ...plain, '--signers', release.key.signers)
    expect(alone.output).toContain('--stop-command and --start-command')
    expect(alone.exitCode).toBe(1)
    expect((await from(['--version', '7.7.7'])).output).toContain('it is not a signature')
    expect((await server.upgrade({ more: ['--version', '7.7.7'] })).output).toContain('no postrider 7.7.7 for linux-')
    expect((await server.upgrade({ more: ['--no-backup'] })).exitCode).toBe(2)
    expect(await versionOf(server)).toEqual({ running: true, version: OLD_VERSION })
    expect(readdirSync(join(server.folder, 'bin'))).toEqual(['postrider'])
  })

  test('that was interrupted and then replaced by hand ends, and only one runs at a time', async () => {
    const server = await serving()
    const folder = join(server.folder, 'bin/.postrider-upgrade')
    const lock = lockDataDir(folder)!
    expect(await server.upgrade()).toEqual({ exitCode: 1, output: 'another upgrade is running\n' })
    lock.release()
    const journal = {
      format: 1,
      state: 'start',
      reason: '',
      from: OLD_VERSION,
      to: NEXT_VERSION,
      old_sha256: '0',
      new_sha256: '1',
      schema: OLD_SCHEMA,
      backup: null,
      begun_at: '2026-11-26T12:00:00.000Z',
      config: configOf(server)[1],
      service: null,
      ready_within_seconds: 900,
      is_package: false,
    }
    writeFileSync(join(folder, 'journal.json'), JSON.stringify(journal))
    const which = `the upgrade from ${OLD_VERSION} to ${NEXT_VERSION} of ${journal.begun_at}`
    const check = await server.upgrade({ more: ['--check'] })
    expect(check).toEqual({ exitCode: 1, output: `${which} is not finished. Finish it without --check.\n` })
    // Needs no release.
    const ended = await server.postrider('upgrade')
    expect(ended.output).toBe(
      `${which} ends here, because ${server.program} was replaced by hand. Run the command again.\n`,
    )
    expect(ended.exitCode).toBe(1)
    expect((await server.postrider('upgrade', ...configOf(server))).output).toStartWith('missing --from')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'journal.json'), JSON.stringify({ ...journal, format: 2 }))
    expect((await server.upgrade()).output).toContain(`Continue with the program that began the upgrade`)
    expect(existsSync(folder)).toBe(true)
  })
})

describeWithPostgres('an upgrade of two nodes', () => {
  let postgres: TestPostgres
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(async () => {
    for (const server of servers.splice(0)) await server.close()
    await postgres.stop()
  })

  test('asks for a backup of the database, drains each node, and goes on when the other has upgraded the tables', async () => {
    const url = await postgres.createDatabase('upgraded')
    const first = await serving({ node: { url } })
    const second = await serving({ node: { url, first } })
    const unsaved = await first.upgrade()
    expect(unsaved.output).toContain('the first node of the new version upgrades the tables (1 schema step)')
    expect(unsaved.exitCode).toBe(2)
    expect(await versionOf(first)).toEqual({ running: true, version: OLD_VERSION })

    const done = await first.upgrade({ more: ['--no-backup'] })
    expect(done.output).toContain('draining node first')
    expect(done.exitCode).toBe(0)
    expect(await versionOf(first)).toEqual({ running: true, version: NEXT_VERSION })

    // The old program does not open the tables any more, but its server runs.
    const failed = await second.upgrade({ breaks: 'exit', more: READY_WITHIN })
    expect(failed.output).toContain('draining node second')
    expect(failed.output).toContain('stays, because the tables of PostgreSQL are upgraded')
    expect(failed.exitCode).toBe(1)
    await second.start()
    const { nodes } = JSON.parse((await second.postrider('status', '--json', ...configOf(second))).output)
    expect(nodes.map(({ name, version, state }: Record<string, string>) => [name, version, state]).toSorted()).toEqual([
      ['first', NEXT_VERSION, 'active'],
      ['second', NEXT_VERSION, 'active'],
    ])
  })
})
