import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startZone, type Zone } from '../../src/cli/try/zone-server.ts'
import { PROVIDERS, startGreeter } from '../health/setup.ts'
import { freePort } from '../support/free-port.ts'
import { postrider, start, startWith, testFolder } from './command.ts'

interface Reported {
  ok: boolean
  checks: { name: string; status: string; message: string; advice: string | null }[]
}

describe('doctor', () => {
  let zone: Zone
  let place: ReturnType<typeof testFolder>
  const undo: (() => unknown)[] = []
  beforeEach(async () => {
    zone = await startZone(PROVIDERS)
    place = testFolder(`[dns]\nservers = ["${zone.address}"]\n`)
  })
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
    await zone.stop()
    place.remove()
  })

  const doctor = (...more: string[]) => postrider('doctor', '--config', place.file, ...more)
  const reported = (stdout: string) => {
    const { ok, checks } = JSON.parse(stdout) as Reported
    return { ok, of: (name: string) => checks.find((check) => check.name === name), checks }
  }

  test('checks the machine under the given name without a config, and reports what is missing', async () => {
    const env = {
      POSTRIDER_DATA_DIR: place.dataDir, // not that of this machine
      POSTRIDER_DNS_SERVERS: zone.address,
      POSTRIDER_HEALTH_LOOK_OUTSIDE: 'false',
    }
    const running = await startWith(env, 'doctor', '--config', place.file, '--domain', 'sender.example', '--json')
    const { code, stdout, stderr } = await running.ended
    expect(stderr).toBe('')
    expect(code).toBe(1)
    const { ok, of } = reported(stdout)
    expect(ok).toBe(false)
    expect(of('config')).toMatchObject({ status: 'warn' })
    expect(of('hostname')).toMatchObject({ status: 'fail', message: 'mail.sender.example has no address in DNS' })
    expect(of('dmarc')).toMatchObject({ status: 'warn' })
    expect(of('store')).toMatchObject({ status: 'skip' })
    expect(of('outbound_port_25')).toMatchObject({ status: 'skip' })
  })

  test('checks everything beside a running server, and accepts that server’s own ports', async () => {
    const greeter = await startGreeter()
    undo.push(() => greeter.stop())
    const port = await freePort()
    const delivery = `[delivery]\nport = ${greeter.port}\nallow_private_destinations = true\n`
    place.writeConfig(`127.0.0.1:${port}`, `[dns]\nservers = ["${zone.address}"]\n${delivery}`)
    const server = await start('serve', '--config', place.file)
    undo.push(() => server.kill('SIGKILL'))
    expect(await server.line).toContain('ready')
    await postrider('org', 'create', 'First', '--config', place.file)
    await postrider('domain', 'add', 'sender.example', '--config', place.file)

    const { code, stdout, stderr } = await doctor('--json')
    expect(stderr).toBe('')
    const { ok, of, checks } = reported(stdout)
    expect(code).toBe(ok ? 0 : 1)
    for (const check of checks) expect(Object.keys(check)).toEqual(['name', 'status', 'subject', 'message', 'advice'])
    for (const name of ['config', 'store', 'queue', 'ports', 'outbound_port_25', 'data_dir']) {
      expect(of(name)).toMatchObject({ status: 'pass' })
    }
    expect(of('domains')).toMatchObject({ status: 'warn', advice: 'Run `postrider dns check sender.example`.' })
    expect(new Set(checks.map(({ name }) => name)).size).toBe(checks.length)

    server.kill('SIGTERM')
    expect((await server.ended).code).toBe(0)
  })

  test('prints one line for each check with the advice below; a damaged store is reported, not thrown', async () => {
    place.writeConfig()
    await postrider('org', 'create', 'First', '--config', place.file)
    const file = join(place.dataDir, 'postrider.db')
    const bytes = readFileSync(file)
    writeFileSync(file, bytes.fill(0xff, 0, 100))
    const { code, stdout, stderr } = await doctor()
    expect(stderr).toBe('')
    expect(code).toBe(1)
    expect(stdout).toMatch(/^Checking mail\.example\.com\n/)
    expect(stdout).toMatch(/^ {2}✗ store +data_dir .*postrider\.db is damaged.*\n {6}→ Keep a copy/m)
    expect(stdout).toMatch(/^ {2}✓ config +.*config\.toml$/m)
    expect(stdout).not.toContain('\x1b')
  })

  test('without config and name is a usage error', async () => {
    const refused = await startWith({ POSTRIDER_HOSTNAME: '' }, 'doctor', '--config', place.file, '--hostname', 'here')
    const { code, stderr } = await refused.ended
    expect(code).toBe(2)
    expect(stderr).toContain('--hostname mail.example.com')
  })
})
