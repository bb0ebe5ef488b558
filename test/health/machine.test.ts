import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { type Check, pass, runChecks } from '../../src/operating/health/check.ts'
import type { AuthorityCertificate, Installation } from '../../src/operating/health/deps.ts'
import { heldPorts } from '../../src/operating/health/held-ports.ts'
import { systemClock } from '../../src/os/clock.ts'
import { clearVerdicts, HOSTNAME, startTestMachine, type TestMachine, verdictTexts } from './setup.ts'

beforeAll(clearVerdicts)

const DAY_MS = 86_400_000

let machine: TestMachine
let folder: string
beforeAll(async () => {
  machine = await startTestMachine()
})
afterAll(() => machine.stop())
const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

/** Files in a temporary folder, by their paths; a text that starts with `->` is a link. */
const files = (texts: Record<string, string>) => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-health-'))
  const own = folder
  undo.push(() => rmSync(own, { recursive: true, force: true }))
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(own, path)), { recursive: true })
    if (text.startsWith('->')) symlinkSync(text.slice(2), join(own, path))
    else writeFileSync(join(own, path), text)
  }
  return own
}
const listen = async (host: string) => {
  const server: Server = createServer()
  undo.push(() => new Promise((resolve) => server.close(resolve)))
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, host, resolve))
  return (server.address() as { port: number }).port
}

describe('ports', () => {
  const inbound = (port: number) => ({ listeners: [{ key: 'smtp.inbound.listen', host: '0.0.0.0', port }] })

  test('a real listener is found with its process', async () => {
    const port = await listen('127.0.0.1')
    const held = heldPorts('/proc')
    const found = held.find((each) => each.port === port)
    expect(found).toMatchObject({ host: '127.0.0.1', holder: { pid: process.pid } })
    const taken = await machine.check('ports', { installation: inbound(port), deps: { held } })
    expect(taken).toMatchObject({ status: 'fail' })
    expect(taken.message).toContain(`port ${port} is in use by`)
    expect(await machine.check('ports', { installation: inbound(port), deps: { held: [] } })).toMatchObject({
      status: 'pass',
      message: `${port}: free`,
    })
  })

  test('Debian’s exim4 on loopback is recognized, and the advice is to remove it', async () => {
    const row = (local: string, state: string, inode: number) =>
      `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0 100 0 0 10 0`
    const proc = files({
      'net/tcp': `  sl  local_address rem_address   st\n${row('0100007F:0019', '0A', 4711)}\n${row('0100007F:0016', '01', 4712)}\n`,
      'net/tcp6': `  sl  local_address\n${row('00000000000000000000000001000000:0019', '0A', 4713)}\n`,
      '812/comm': 'exim4\n',
      '812/fd/3': '->socket:[4711]',
      '812/fd/4': '->/dev/null',
      '1/comm': 'systemd\n',
    })
    const held = heldPorts(proc)
    expect(held).toEqual([
      { host: '127.0.0.1', port: 25, holder: { pid: 812, name: 'exim4' } },
      { host: '::1', port: 25, holder: null },
    ])
    const found = await machine.check('ports', { installation: inbound(25), deps: { held } })
    expect(found).toMatchObject({
      status: 'fail',
      message: 'port 25 is in use by exim4, Debian’s default mail server (process 812)',
      advice: 'If nothing else needs it: systemctl disable --now exim4',
    })
  })

  test('another address of the same port is ignored, and our own server is accepted', async () => {
    const held = [{ host: '127.0.0.2', port: 2525, holder: { pid: 9, name: 'postrider' } }]
    const at = (host: string) => ({ listeners: [{ key: 'http.listen', host, port: 2525 }] })
    expect(await machine.check('ports', { installation: at('127.0.0.1'), deps: { held } })).toMatchObject({
      status: 'pass',
    })
    expect(await machine.check('ports', { installation: at('127.0.0.2'), deps: { held } })).toMatchObject({
      status: 'fail',
    })
    const served = { ...at('127.0.0.2'), server: { pid: 9, ports: [2525] } }
    expect(await machine.check('ports', { installation: served, deps: { held } })).toMatchObject({ status: 'pass' })
  })

  test('below 1024 a port requires a capability, the unit, or a kernel setting', async () => {
    const check = async (texts: Record<string, string>, units: string[] = []) => {
      const proc = files(texts)
      const there = units.map((unit) => join(proc, unit))
      return (await machine.check('low_ports', { installation: inbound(25), deps: { proc, units: there } })).status
    }
    expect(await check({ 'self/status': 'CapEff:\t0000000000000000\n' })).toBe('warn')
    expect(await check({ 'self/status': 'CapEff:\t0000000000000400\n' })).toBe('pass')
    expect(await check({ 'sys/net/ipv4/ip_unprivileged_port_start': '25\n' })).toBe('skip')
    expect(await check({ unit: '[Service]\nAmbientCapabilities=CAP_NET_BIND_SERVICE\n' }, ['unit'])).toBe('pass')
  })
})

describe('clock', () => {
  const clock = async (...aheadMs: (number | null)[]) => {
    const answers = [...aheadMs]
    machine.zone.set('time.cloudflare.com', 'A', ['127.0.0.1'])
    machine.zone.set('time.google.com', 'A', ['127.0.0.1'])
    return machine.check('clock', { deps: { askTime: async () => answers.shift() ?? null } })
  }

  test('a right time passes, a slightly wrong one warns, a wrong one fails; no answer is unknown', async () => {
    expect(await clock(40, -20)).toMatchObject({ status: 'pass', message: 'accurate to 0.02 s' })
    expect(await clock(-8_000, -8_100)).toMatchObject({ status: 'warn', message: '8 seconds behind' })
    expect(await clock(7_300_000, 7_300_000)).toMatchObject({ status: 'fail', message: '2 hours ahead' })
    expect(await clock(null, null)).toMatchObject({ status: 'skip' })
  })

  test('one wrong time server raises no alarm', async () => {
    expect(await clock(9_000_000, 12)).toMatchObject({ status: 'pass' })
  })
})

describe('disk and data directory', () => {
  test('space beyond the reserve passes; less, or none, does not', async () => {
    const dataDir = join(files({}), 'not/there/yet')
    expect(await machine.check('disk', { installation: { dataDir } })).toMatchObject({ status: 'pass' })
    const greedy = { dataDir, minFreeBytes: 2 ** 50 }
    // At most a tenth of the disk is kept free, so the result depends on the disk of this machine.
    const found = await machine.check('disk', { installation: greedy, deps: {} })
    expect(['pass', 'warn', 'fail']).toContain(found.status)
    expect(found.message).toMatch(/\d+ [MG]B free/)
    if (found.status !== 'pass') expect(found.advice).toStartWith('Free space under ')
  })

  test('files that others can read, or another user owns, are reported', async () => {
    const dataDir = files({ 'postrider.db': '', 'seal.key': '', 'backup.secret': '' })
    chmodSync(dataDir, 0o700)
    chmodSync(join(dataDir, 'seal.key'), 0o600)
    const status = async () => (await machine.check('data_dir', { installation: { dataDir } })).status
    expect(await status()).toBe('pass')
    chmodSync(join(dataDir, 'seal.key'), 0o644)
    expect(await status()).toBe('warn')
    chmodSync(join(dataDir, 'seal.key'), 0o600)
    chmodSync(dataDir, 0o755)
    const open = await machine.check('data_dir', { installation: { dataDir } })
    expect(open).toMatchObject({ status: 'warn', advice: `chmod -R go= ${dataDir}` })
    expect(open.message).toContain(join(dataDir, 'backup.secret'))
    const nowhere = join(dataDir, 'not/there')
    expect(await machine.check('data_dir', { installation: { dataDir: nowhere } })).toMatchObject({ status: 'skip' })
  })
})

describe('limits', () => {
  test('open files are those of a running server, else of this shell', async () => {
    const limits = (soft: number, hard: number | string) =>
      `Max open files            ${soft}             ${hard}            files\n`
    const proc = files({ 'self/limits': limits(1024, 1_048_576), '77/limits': limits(256, 256) })
    expect(await machine.check('open_files', { deps: { proc } })).toMatchObject({ status: 'pass', message: '1048576' })
    const served = { installation: { server: { pid: 77, ports: [] } }, deps: { proc } }
    expect(await machine.check('open_files', served)).toMatchObject({ status: 'fail', message: '256' })
    expect(await machine.check('open_files')).toMatchObject({ status: 'skip' })
  })

  test('free memory must be enough for a working server', async () => {
    const check = async (kibibytes: number) =>
      (await machine.check('memory', { deps: { proc: files({ meminfo: `MemAvailable:  ${kibibytes} kB\n` }) } })).status
    expect(await check(1_000_000)).toBe('pass')
    expect(await check(200_000)).toBe('warn')
    expect(await check(50_000)).toBe('fail')
  })

  test('memory must be enough for the largest mail, by the config or the control group of the server', async () => {
    const proc = files({
      meminfo: 'MemTotal: 8000000 kB\nMemAvailable:  5000000 kB\n',
      '77/cgroup': '0::/postrider\n',
    })
    const sys = files({ 'fs/cgroup/postrider/memory.max': '380000000\n' })
    const check = (installation: Partial<Installation>) =>
      machine.check('memory', { installation, deps: { proc, sys } })
    expect(await check({})).toMatchObject({
      status: 'pass',
      message: '5120 MB available, at most 7168 MB for the server',
    })
    const served = { server: { pid: 77, ports: [] } }
    expect(await check(served)).toMatchObject({
      status: 'warn',
      message: '5120 MB available, at most 380 MB for the server',
    })
    expect((await check(served)).advice).toContain('the server may need 429 MB')
    expect((await check(served)).advice).toContain('set limits.message_bytes to 21000000')
    expect(await check({ ...served, messageBytes: 21_000_000 })).toMatchObject({ status: 'pass' })
    expect(await check({ memoryBytes: 300_000_000 })).toMatchObject({ status: 'warn' })
  })
})

describe('certificate', () => {
  const held = (days: number, of = 90) => {
    const endsAt = systemClock.now() + days * DAY_MS + 60_000
    return { names: [HOSTNAME], startsAt: endsAt - of * DAY_MS, endsAt }
  }

  test('its name and its expiry are checked', async () => {
    const now = systemClock.now()
    const made = async (names: string[], days: number) =>
      files({ 'certificate.pem': (await selfSignedCertificate({ names, now, days })).certificatePem })
    const check = async (own: string) =>
      machine.check('certificate', { installation: { certificateFiles: [join(own, 'certificate.pem')] } })
    expect(await check(await made([HOSTNAME], 90))).toMatchObject({ status: 'pass' })
    expect(await check(await made([HOSTNAME], 10))).toMatchObject({ status: 'pass' })
    expect(await check(await made(['other.example'], 90))).toMatchObject({ status: 'warn' })
    const later = { now: () => now + 100 * DAY_MS }
    const file = join(await made([HOSTNAME], 90), 'certificate.pem')
    const soon = { now: () => now + 80 * DAY_MS }
    const ending = await machine.check('certificate', { installation: { certificateFiles: [file] }, deps: soon })
    expect(ending.status).toBe('warn')
    const ended = await machine.check('certificate', { installation: { certificateFiles: [file] }, deps: later })
    expect(ended.status).toBe('fail')
    expect(await check(files({ 'certificate.pem': 'nonsense' }))).toMatchObject({ status: 'fail' })
    expect(await machine.check('certificate')).toMatchObject({ status: 'skip' })
  })

  test.each<[string, Partial<AuthorityCertificate>, string, string]>([
    ['none yet', {}, 'warn', 'no certificate issued yet'],
    ['a missing one with its reason', { trouble: 'no A record' }, 'fail', 'no certificate issued yet: no A record'],
    ['one', { held: held(60) }, 'pass', 'certificate for 1 name, valid for 60 more days'],
    ['one that is not renewed', { held: held(10) }, 'warn', 'valid for 10 more days'],
    ['a new one of six days', { held: held(5, 6) }, 'pass', 'valid for 5 more days'],
    ['a new one of half a day', { held: held(0.49, 0.5) }, 'pass', 'valid for 11 more hours'],
    ['one of six days that is not renewed', { held: held(0.9, 6) }, 'warn', 'valid for 21 more hours'],
    ['a valid one whose renewal fails', { held: held(20), trouble: 'too many' }, 'warn', 'but: too many'],
    [
      'one without a name',
      { held: held(60), names: [HOSTNAME, 'api.sender.example'] },
      'warn',
      'does not include api.sender',
    ],
    ['an expired one', { held: held(-3), trouble: 'refused' }, 'fail', 'expired 3 days ago: refused'],
  ])('of an authority: %s', async (_what, change, status, message) => {
    const authority = { names: [HOSTNAME], held: null, trouble: null, ...change }
    const found = await machine.check('certificate', { installation: { authority } })
    expect([found.status, found.message]).toEqual([status as never, expect.stringContaining(message)])
  })
})

describe('a run of all checks', () => {
  test('skips a slow check and reports one that throws, and neither affects the others', async () => {
    const checks: Check[] = [
      { name: 'slow', look: () => new Promise(() => {}) },
      {
        name: 'broken',
        look: () => {
          throw new Error('nobody foresaw this')
        },
      },
      { name: 'well', look: () => pass('well') },
    ]
    const found = await runChecks(checks, 20)
    expect(found.map(({ name, status }) => [name, status])).toEqual([
      ['slow', 'skip'],
      ['broken', 'warn'],
      ['well', 'pass'],
    ])
    expect(found[1]!.message).toContain('nobody foresaw this')
  })
})

test('messages state what was found, and advice what to do', () => {
  // A full disk is seen only where the disk of this machine is nearly full.
  expect(verdictTexts().filter((text) => !/^disk (?:warn|fail)/.test(text))).toMatchSnapshot()
})
