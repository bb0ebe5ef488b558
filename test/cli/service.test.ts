import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pkg from '../../package.json' with { type: 'json' }
import { postrider, start, startWith, testFolder } from './command.ts'

describe('commands around a server', () => {
  let place: ReturnType<typeof testFolder>
  const undo: (() => unknown)[] = []
  beforeEach(() => {
    place = testFolder()
    place.writeConfig()
  })
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
    place.remove()
  })

  const command = (...args: string[]) => postrider(...args, '--config', place.file)

  test('status and healthcheck report whether one runs, where, and what waits', async () => {
    const none = await command('status')
    expect(none).toMatchObject({ code: 1, stdout: '' })
    expect(none.stderr).toContain('no database yet. Create it with: postrider init')
    await command('init', '--domain', 'example.com')
    const stopped = await command('status', '--json')
    expect(stopped.code).toBe(1)
    const nothing = { due: 0, later: 0, held: 0, oldest_due_seconds: null }
    const queues = { deliveries: nothing, webhook_deliveries: nothing, inbound_deliveries: nothing }
    const version = pkg.version
    const still = {
      running: false,
      version,
      pid: null,
      started_at: null,
      listeners: null,
      last_upgrade: null,
      queues,
    }
    expect(JSON.parse(stopped.stdout)).toEqual(still)
    const unanswered = await command('healthcheck')
    expect(unanswered.code).toBe(1)
    expect(unanswered.stderr).toBe(`no server runs with data_dir ${place.dataDir}\n`)

    const server = await start('serve', '--config', place.file)
    undo.push(() => server.kill('SIGKILL'))
    const { event: _, ...listeners } = JSON.parse(await server.line)
    const running = JSON.parse((await command('status', '--json')).stdout)
    const [pid, started_at] = [expect.any(Number), expect.stringMatching(/^20.*Z$/)]
    expect(running).toEqual({ running: true, version, pid, started_at, listeners, last_upgrade: null, queues })
    const reported = await command('status')
    expect(reported.code).toBe(0)
    expect(reported.stdout).toContain(`running since ${running.started_at}`)
    expect(reported.stdout).toContain(`http ${listeners.http}`)
    // The config has port 0; serving.json has the actual port.
    expect(await command('healthcheck')).toEqual({ code: 0, stdout: 'ready\n', stderr: '' })

    server.kill('SIGTERM')
    await server.ended
    expect(existsSync(join(place.dataDir, 'serving.json'))).toBe(false)
  })

  test('a killed server does not count as running', async () => {
    await command('init', '--domain', 'example.com')
    const server = await start('serve', '--config', place.file)
    await server.line
    server.kill('SIGKILL')
    await server.ended
    const stopped = await command('status', '--json')
    expect(stopped.code).toBe(1)
    expect(JSON.parse(stopped.stdout)).toMatchObject({ running: false, pid: null })
    expect((await command('healthcheck')).stderr).toContain('no server runs with')

    // Another server answers at the address of the config.
    const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('ok') })
    undo.push(() => other.stop(true))
    const http = { POSTRIDER_HTTP_LISTEN: `127.0.0.1:${other.port}` }
    const asked = await (await startWith(http, 'healthcheck', '--config', place.file)).ended
    expect([asked.code, asked.stdout]).toEqual([1, ''])
  })

  test('config print shows what is set and where, and no secret', async () => {
    place.writeConfig('127.0.0.1:8026', '[delivery]\nsmarthost_file = "relay"\n[plans.gold]\ndomains = 7\n')
    writeFileSync(join(place.folder, 'relay'), 'smtp://me:hunter2@relay.example')
    const exposed = await command('config', 'print')
    expect(exposed).toMatchObject({ code: 2, stdout: '' })
    expect(exposed.stderr).toContain(
      `delivery.smarthost_file: expected a file that only its owner can read. Run: chmod 600 `,
    )

    chmodSync(join(place.folder, 'relay'), 0o600)
    const print = async (...args: string[]) => {
      const running = await startWith(
        { POSTRIDER_LOG_LEVEL: 'warn' },
        'config',
        'print',
        '--config',
        place.file,
        ...args,
      )
      const { code, stdout } = await running.ended
      expect(code).toBe(0)
      expect(stdout).not.toContain('hunter2')
      return stdout
    }
    const given = JSON.parse(await print('--json')).data
    expect(given).toContainEqual({ key: 'http.listen', value: '"127.0.0.1:8026"', source: `${place.file}:4` })
    expect(given).toContainEqual({ key: 'delivery.smarthost', value: '(secret)', source: `${place.file}:8` })
    expect(given).toContainEqual({ key: 'plans.gold.domains', value: '7', source: `${place.file}:10` })
    expect(given).toContainEqual({ key: 'log.level', value: '"warn"', source: 'environment POSTRIDER_LOG_LEVEL' })
    expect(given.map(({ key }: { key: string }) => key)).not.toContain('log.format')
    expect(await print('--effective')).toMatch(/^log\.format +"auto" +default$/m)
  })

  test('a config needs no file when all is in the environment', async () => {
    const env = {
      POSTRIDER_CONFIG: '',
      POSTRIDER_HOSTNAME: 'mail.example.com',
      POSTRIDER_DATA_DIR: place.dataDir,
      POSTRIDER_HTTP_LISTEN: '127.0.0.1:0',
      POSTRIDER_SMTP_INBOUND_LISTEN: 'off',
    }
    const ask = async (...args: string[]) => (await startWith(env, ...args)).ended
    expect((await ask('config', 'check')).stdout).toBe('environment: configuration is valid\n')
    expect(JSON.parse((await ask('init', '--domain', 'example.com', '--json')).stdout).api_key).toStartWith('svc_live_')
    const report = await ask('init', '--domain', 'example.net')
    expect(report.stdout).toContain('used settings from the environment')
    expect(report.stdout).toMatch(/^ +\S*postrider serve /m)
    expect(report.stdout).not.toContain('systemctl')
    expect(report.stdout).not.toContain('--config')
    const server = await startWith(env, 'serve')
    undo.push(() => server.kill('SIGKILL'))
    await server.line
    expect(await ask('healthcheck')).toEqual({ code: 0, stdout: 'ready\n', stderr: '' })
    server.kill('SIGHUP')
    expect((await ask('status')).code).toBe(0)
    server.kill('SIGTERM')
    const { code, stderr } = await server.ended
    expect(code).toBe(0)
    expect(stderr).not.toContain('faults')
    const { POSTRIDER_HOSTNAME: _, ...nameless } = env
    const refused = await (await startWith(nameless, 'serve')).ended
    expect(refused.code).toBe(2)
    expect(refused.stderr).toStartWith('environment: hostname: expected a hostname')
  })

  test('serve --behind-proxy requires a public https address and overrides the config', async () => {
    const refused = await command('serve', '--behind-proxy')
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('expected http.public_url to be the https:// address of the proxy')
    const env = { POSTRIDER_HTTP_PUBLIC_URL: 'https://api.example.com' }
    const server = await startWith(env, 'serve', '--behind-proxy', '--config', place.file)
    undo.push(() => server.kill('SIGKILL'))
    const { http } = JSON.parse(await server.line)
    const headers = { 'x-forwarded-proto': 'http' }
    const page = await fetch(`http://${http}/docs`, { headers, redirect: 'manual' })
    expect([page.status, page.headers.get('location')]).toEqual([308, 'https://api.example.com/docs'])
    server.kill('SIGTERM')
    expect((await server.ended).code).toBe(0)
  })

  test('a unit for this config is printed', async () => {
    const { code, stdout } = await command('unit')
    expect(code).toBe(0)
    expect(stdout).toContain(` serve --config ${place.file}\n`)
    expect(stdout).toContain(`ReadWritePaths=${place.dataDir}\n`)
  })
})
