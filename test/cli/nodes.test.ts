import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { chmodSync, copyFileSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startZone, type Zone } from '../../src/cli/try/zone-server.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { startWith, testFolder } from './command.ts'
import { postriderInOneProcess } from './in-one-process.ts'

/** Nothing here waits for it. */
const TAKEOVER_SECONDS = 600

describeWithPostgres('several nodes', () => {
  const postrider = postriderInOneProcess()
  let postgres: TestPostgres
  let databases = 0
  let url: string
  let places: ReturnType<typeof testFolder>[]
  const undo: (() => unknown)[] = []
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())
  beforeEach(async () => {
    url = await postgres.createDatabase(`cli${++databases}`)
    places = [testFolder(), testFolder()]
  })
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
    for (const place of places) place.remove()
  })

  const at = (n: number) => places[n - 1]!
  const sealKey = (n: number) => join(at(n).dataDir, 'seal.key')
  const on = (n: number, ...args: string[]) => postrider(...args, '--config', at(n).file)
  const init = (...more: string[]) => {
    const place = ['--data-dir', at(1).dataDir, '--hostname', 'mx1.example.com', '--skip-checks']
    return on(1, 'init', '--domain', 'example.com', ...place, ...more)
  }
  const joinSecond = (...more: string[]) => {
    const place = ['--data-dir', at(2).dataDir, '--hostname', 'mx2.example.com', '--skip-checks']
    return on(2, 'join', ...place, ...more)
  }
  const initAndJoin = async () => {
    expect((await init('--database', url)).code).toBe(0)
    expect((await joinSecond('--database', url, '--seal-key', sealKey(1))).code).toBe(0)
  }
  /** Starts the server of a node → its base URL, and what stops it. */
  const serve = async (n: number, env: Record<string, string> = {}) => {
    const server = await startWith(
      {
        POSTRIDER_HTTP_LISTEN: '127.0.0.1:0',
        POSTRIDER_SMTP_INBOUND_LISTEN: 'off',
        POSTRIDER_CLUSTER_TAKEOVER_SECONDS: String(TAKEOVER_SECONDS),
        ...env,
      },
      'serve',
      '--config',
      at(n).file,
    )
    undo.push(async () => {
      server.kill('SIGKILL')
      await server.ended
    })
    const line = await server.line
    if (line === '') throw new Error((await server.ended).stderr)
    const base = `http://${JSON.parse(line).http}`
    return { ...server, base, ready: async () => (await fetch(`${base}/health/ready`)).status }
  }
  test('join and doctor name the settings that differ from those of a running node', async () => {
    expect((await init('--database', url)).code).toBe(0)
    const more = '\n[plans.gold]\ndomains = 7\n[quality]\nbounce_rate = 0.02\n'
    writeFileSync(at(1).file, readFileSync(at(1).file, 'utf8') + more)
    const first = await serve(1)
    const args = ['--database', url, '--seal-key', sealKey(1)]
    const joined = await joinSecond(...args)
    expect(joined.stdout).toMatch(/other values of these settings\. [^:]+: .*plans\.gold, quality\.bounce_rate/)
    const second = await serve(2)
    const settings = async (n: number) => {
      const { checks } = JSON.parse((await on(n, 'doctor', '--json')).stdout)
      return checks.find(({ name }: { name: string }) => name === 'node_settings')
    }
    expect((await settings(2)).message).toMatch(/between mx1\.example\.com, mx2\.example\.com: .*quality\.bounce_rate/)
    const published = await postgres.psql(
      'select settings from nodes where settings is not null',
      new URL(url).pathname.slice(1),
    )
    expect(published).toContain('"quality.bounce_rate"')
    expect(published).not.toContain('0.02')

    second.kill('SIGTERM')
    await second.ended
    writeFileSync(at(2).file, readFileSync(at(2).file, 'utf8') + more)
    await serve(2)
    expect(await settings(2)).toMatchObject({ status: 'pass' })
    expect(await first.ready()).toBe(200)
  })

  const nodes = async () => JSON.parse((await on(1, 'node', 'list', '--json')).stdout).data
  test('init and join prepare two machines, and change nothing when they run again', async () => {
    const first = await init('--database', url)
    expect([first.code, first.stderr]).toEqual([0, ''])
    expect(first.stdout).toContain(`wrote ${join(at(1).folder, 'database-url')}`)
    expect(first.stdout).toContain('join --help')
    expect(readFileSync(join(at(1).folder, 'database-url'), 'utf8')).toBe(`${url}\n`)
    expect(statSync(join(at(1).folder, 'database-url')).mode & 0o777).toBe(0o600)
    expect(readFileSync(at(1).file, 'utf8')).toContain('[database]\n')
    expect(readFileSync(at(1).file, 'utf8')).not.toContain(url)
    expect((await init('--database', url)).stdout).toContain('Nothing was changed')

    const dry = await joinSecond('--database', url, '--seal-key', sealKey(1), '--dry-run', '--json')
    const writes = [sealKey(2), join(at(2).folder, 'database-url'), at(2).file]
    expect(JSON.parse(dry.stdout)).toEqual({ changed: false, writes })
    expect(existsSync(at(2).file)).toBe(false)
    const joined = await joinSecond('--database', url, '--seal-key', sealKey(1))
    expect([joined.code, joined.stderr]).toEqual([0, ''])
    expect(joined.stdout).toContain('joins an installation without a running node')
    expect(joined.stdout).toContain('a:mx2.example.com')
    expect(statSync(sealKey(2)).mode & 0o777).toBe(0o600)
    const again = await joinSecond('--database', url, '--seal-key', sealKey(1), '--json')
    const about = { name: 'mx2.example.com', hostname: 'mx2.example.com', nodes: [] }
    expect(JSON.parse(again.stdout)).toEqual({ changed: false, ...about })
    expect(JSON.parse((await on(2, 'org', 'list', '--json')).stdout).data).toMatchObject([{ name: 'example.com' }])
    expect((await on(1, 'node', 'list')).stdout).toBe('no node has started yet\n')
  })

  test('two configs in one folder share the file with the URL, and another URL is refused', async () => {
    await init('--database', url)
    const joinBeside = (database: string) => {
      const place = ['--data-dir', at(2).dataDir, '--hostname', 'mx2.example.com', '--skip-checks']
      const config = join(at(1).folder, 'second.toml')
      return postrider('join', ...place, '--database', database, '--seal-key', sealKey(1), '--config', config)
    }
    const other = await joinBeside(`${url}?sslmode=disable`)
    expect([other.code, other.stderr]).toEqual([
      2,
      `config: ${join(at(1).folder, 'database-url')} exists with another URL. Choose another folder with --config\n`,
    ])
    expect(existsSync(at(2).dataDir)).toBe(false)
    const joined = await joinBeside(url)
    expect([joined.code, joined.stderr]).toEqual([0, ''])
    expect(readFileSync(join(at(1).folder, 'database-url'), 'utf8')).toBe(`${url}\n`)
  })

  test('a node is drained and forgotten from another machine', async () => {
    await initAndJoin()
    const [one, two] = [await serve(1), await serve(2)]
    expect(await nodes()).toMatchObject([
      { name: 'mx1.example.com', hostname: 'mx1.example.com', state: 'active', in_progress: 0, ended_at: null },
      { name: 'mx2.example.com', state: 'active' },
    ])
    expect((await on(1, 'status')).stdout).toContain('mx2.example.com')
    expect([await one.ready(), await two.ready()]).toEqual([200, 200])

    const drained = await on(1, 'node', 'drain', 'mx2.example.com')
    expect(drained.stdout).toStartWith('mx2.example.com drains. It has handed everything over.')
    expect([await one.ready(), await two.ready()]).toEqual([200, 503])
    expect((await fetch(`${two.base}/healthz`)).status).toBe(200)
    const again = await on(1, 'node', 'drain', 'mx2.example.com', '--json')
    expect(JSON.parse(again.stdout)).toEqual({ name: 'mx2.example.com', changed: false, in_progress: 0 })
    const running = await on(1, 'node', 'forget', 'mx2.example.com')
    expect(running.code).toBe(1)
    expect(running.stderr).toContain('has not ended')

    places.push(testFolder())
    const third = ['--data-dir', at(3).dataDir, '--hostname', 'mx2.example.com', '--skip-checks']
    const sameName = await on(3, 'join', '--database', url, '--seal-key', sealKey(1), ...third)
    expect(sameName.stderr).toContain('a node mx2.example.com runs already')
    expect([sameName.code, existsSync(at(3).dataDir)]).toEqual([2, false])

    two.kill('SIGTERM')
    expect((await two.ended).code).toBe(0)
    expect(await nodes()).toMatchObject([{ state: 'active' }, { state: 'ended' }])
    const forget = () => on(1, 'node', 'forget', 'mx2.example.com')
    expect((await forget()).stdout).toBe('mx2.example.com is off the list.\n')
    expect((await forget()).stdout).toContain('Nothing was changed')
    expect(await nodes()).toHaveLength(1)
    const unknown = await on(1, 'node', 'drain', 'mx2.example.com')
    expect(unknown.code).toBe(1)
    expect(unknown.stderr).toContain('postrider node list')
    const log = (await on(1, 'audit')).stdout
    for (const action of ['nodes_drain', 'nodes_forget']) expect(log).toContain(action)
  })

  test('doctor checks PostgreSQL and the nodes', async () => {
    await initAndJoin()
    await Promise.all([serve(1), serve(2)])
    const doctor = await startWith(
      { POSTRIDER_HEALTH_LOOK_OUTSIDE: 'false', POSTRIDER_DELIVERY_SMARTHOST: 'smtp://127.0.0.1:1' },
      ...['doctor', '--json', '--config', at(1).file],
    )
    const { stdout, stderr } = await doctor.ended
    expect(stderr).toBe('')
    const checks: { name: string; status: string; message: string }[] = JSON.parse(stdout).checks
    const shared = checks.filter(({ name }) => name.startsWith('database') || name.startsWith('node'))
    expect(shared.map(({ name, status }) => `${name} ${status}`)).toEqual([
      'database pass',
      'database_durability fail',
      'database_standbys skip',
      'database_connections pass',
      'database_wal warn',
      expect.stringMatching(/^database_latency (pass|warn)$/),
      'database_clock pass',
      'database_vacuum pass',
      'database_transactions pass',
      'database_replication_slots skip',
      'nodes pass',
      'node_settings pass',
      'node_names skip',
    ])
    const messageOf = (name: string) => shared.find((check) => check.name === name)?.message
    expect(messageOf('nodes')).toBe('2 nodes run: mx1.example.com, mx2.example.com')
    expect(messageOf('database_durability')).toContain('fsync off')
    expect(checks.find(({ name }) => name === 'store')).toMatchObject({ status: 'pass' })
  })

  test('mail of a node that stops goes out once, from both, without waiting for the takeover time', async () => {
    await initAndJoin()
    const remote: RemoteMx = await startRemoteMx()
    undo.push(() => remote.stop())
    const zone: Zone = await startZone([
      { name: '*.remote.example', type: 'MX', data: { preference: 10, exchange: 'mx.hosts.example' } },
      { name: 'mx.hosts.example', type: 'A', data: '127.0.0.1' },
    ])
    undo.push(() => zone.stop())
    const env = {
      POSTRIDER_DNS_SERVERS: zone.address,
      POSTRIDER_DELIVERY_PORT: String(remote.port),
      POSTRIDER_DELIVERY_ALLOW_PRIVATE_DESTINATIONS: 'true',
      POSTRIDER_SENDING_REQUIRE_VERIFIED_DOMAIN: 'false',
    }
    const [one, two] = [await serve(1, env), await serve(2, env)]
    const key = JSON.parse(
      (await on(1, 'key', 'create', '--domain', 'example.com', '--permission', 'send', '--json')).stdout,
    ).key
    const send = async (base: string, n: number) => {
      const body = { from: 'a@example.com', to: `b@d${n}.remote.example`, subject: String(n), text: 'Hello' }
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const answer = await fetch(`${base}/v1/messages/send`, { method: 'POST', headers, body: JSON.stringify(body) })
      expect(answer.status).toBe(202)
    }
    await Promise.all(Array.from({ length: 30 }, (_, n) => send(n % 2 === 0 ? one.base : two.base, n)))
    two.kill('SIGTERM')
    for (let n = 30; n < 40; n++) await send(one.base, n)
    const mails = await remote.received(40)
    expect((await two.ended).code).toBe(0)
    const recipients = mails.flatMap(({ rcptTo }) => rcptTo)
    expect(new Set(recipients).size).toBe(40)
    expect(remote.mails).toHaveLength(40)
  })

  test('a wrong key or database is refused with what to do', async () => {
    const usage = async (ended: ReturnType<typeof init>, ...parts: string[]) => refused(await ended, 2, parts)
    const failed = async (ended: ReturnType<typeof init>, ...parts: string[]) => refused(await ended, 1, parts)
    await failed(joinSecond('--database', url, '--seal-key', sealKey(1)), 'postrider init --database')
    expect((await init('--database', url)).code).toBe(0)

    const other = join(at(2).folder, 'other.key')
    const join2 = (file: string, database = url) => joinSecond('--database', database, '--seal-key', file)
    await usage(join2(other), 'does not exist')
    writeFileSync(other, `${Buffer.alloc(32, 7).toString('base64')}\n`, { mode: 0o600 })
    await usage(join2(other), 'encrypted with another key')
    copyFileSync(sealKey(1), other)
    chmodSync(other, 0o644)
    await usage(join2(other), 'chmod 600')
    await usage(on(2, 'join', '--database', url, '--seal-key', sealKey(1)), 'hostname: missing')
    await usage(joinSecond('--seal-key', sealKey(1)), 'database: missing')
    await usage(join2(sealKey(1), 'mysql://db/x'), 'database.url', 'postgres://')
    await usage(join2(sealKey(1), `${url}?sslmode=maybe`), 'sslmode maybe is not supported')
    expect([existsSync(at(2).file), existsSync(at(2).dataDir)]).toEqual([false, false])

    const second = ['init', '--domain', 'example.org', '--hostname', 'mx2.example.com', '--data-dir', at(2).dataDir]
    await usage(on(2, ...second, '--skip-checks', '--database', url), 'postrider join --database')
    await usage(init('--database', `${url}2`), 'names another database')
    const sqlite = [...second, '--skip-checks']
    expect((await on(2, ...sqlite)).code).toBe(0)
    await usage(on(2, ...sqlite, '--database', url), 'uses SQLite')
    await usage(on(2, 'node', 'drain', 'x'), 'database.url')
    expect((await on(2, 'node', 'list', '--json')).stdout).toBe('{"data":[]}\n')
  })

  test('a database that cannot be used is refused with what to do', async () => {
    const fails = async (database: string, ...parts: string[]) => {
      refused(await init('--database', database), 1, parts)
      expect(existsSync(at(1).file)).toBe(false)
    }
    await fails('postgres://postgres@127.0.0.1:1/x', '127.0.0.1: Failed to connect', 'Check host and port')
    await fails(`${url}_none`, 'does not exist', 'createdb')
    await fails(`${url}?sslmode=require`, 'sslmode=disable')
    postgres.psql(`create database latin template template0 encoding 'LATIN1' lc_collate 'C' lc_ctype 'C'`)
    await fails(postgres.url('latin'), 'LATIN1', 'template0')
    // A server that gives an old version.
    const old = await postgres.createDatabase(`old${databases}`)
    const version = `select case $1 when 'server_version_num' then '140011' else pg_catalog.current_setting($1) end`
    postgres.psql(
      `create schema old; create function old.current_setting(text) returns text language sql as $$ ${version} $$;
         alter database old${databases} set search_path = old, pg_catalog, public`,
      `old${databases}`,
    )
    await fails(old, 'PostgreSQL 14 is too old', 'Use PostgreSQL 15 or newer')
    postgres.psql('create role guest login')
    const asGuest = url.replace('postgres@', 'guest@')
    await fails(asGuest, 'may not create tables', 'grant create, usage on schema public to guest')
    await fails(url.replace('postgres@', 'nobody@'), 'role "nobody"', 'createuser')
    const hba = join(postgres.psql('show data_directory'), 'pg_hba.conf')
    writeFileSync(hba, `host all guest 127.0.0.1/32 scram-sha-256\n${readFileSync(hba, 'utf8')}`)
    postgres.psql('select pg_reload_conf()')
    await fails(asGuest.replace('guest@', 'guest:wrong@'), 'password authentication failed', 'Correct user')

    expect((await init('--database', url)).code).toBe(0)
    rmSync(at(1).file)
    rmSync(join(at(1).folder, 'database-url'))
    postgres.psql('create role other login; grant create on schema public to other', `cli${databases}`)
    await fails(url.replace('postgres@', 'other@'), 'belong to postgres', 'grant postgres to other')
  })
})

function refused(ended: { code: number | null; stdout: string; stderr: string }, code: number, parts: string[]): void {
  for (const part of parts) expect(ended.stderr).toContain(part)
  expect([ended.code, ended.stdout]).toEqual([code, ''])
  expect(ended.stderr.trim().split('\n')).toHaveLength(1)
}
