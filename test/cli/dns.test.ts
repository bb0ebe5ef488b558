import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { startZone, type Zone } from '../../src/cli/try/zone-server.ts'
import type { DnsRecord } from '../../src/model/domain.ts'
import { until } from '../support/patience.ts'
import { describeWithPeers, zoneRecords } from '../support/real-peers.ts'
import { start, testFolder } from './command.ts'
import { postriderInOneProcess } from './in-one-process.ts'

type Shown = DnsRecord & { status: string; found: string[]; hint?: string | null }

describe('dns', () => {
  const NAME = 'acme.example'
  const postrider = postriderInOneProcess()
  const place = testFolder()
  let zone: Zone
  let records: Shown[]
  const undo: (() => unknown)[] = []
  beforeAll(async () => {
    zone = await startZone()
    place.writeConfig('127.0.0.1:0', `[dns]\nservers = ["${zone.address}"]\n`)
    await postrider('org', 'create', 'Acme', '--config', place.file)
    const added = await postrider('domain', 'add', NAME, '--config', place.file, '--json')
    records = JSON.parse(added.stdout).dns_records
  })
  afterEach(() => {
    for (const step of undo.splice(0)) step()
    for (const { name } of records) zone.remove(name)
  })
  afterAll(async () => {
    await zone.stop()
    place.remove()
  })

  const dns = (...args: string[]) => postrider('dns', ...args, '--config', place.file)
  const publish = ({ name, type, value, priority }: Shown, text = value) =>
    zone.set(name, type, [priority === null ? text : { preference: priority, exchange: text }])
  const of = (purpose: string) => records.find((record) => record.purpose === purpose)!
  const hints = async () => {
    const { stdout, code } = await dns('check', NAME, '--json')
    const { ok, records: shown } = JSON.parse(stdout) as { ok: boolean; records: Shown[] }
    expect(code).toBe(ok ? 0 : 1)
    return { ok, hint: (purpose: string) => shown.find((record) => record.purpose === purpose)!.hint ?? null }
  }

  test('shows what to publish: numbered, required records first; as JSON; as zone lines', async () => {
    const { stdout } = await dns('show', NAME)
    expect(stdout).toMatch(/^# +REQUIRED +FOUND +TYPE +NAME +VALUE\n1 +yes/)
    const needed = stdout.split('\n').filter((line) => /^\d+ +yes /.test(line))
    expect(needed.length).toBeLessThanOrEqual(6)
    const json = JSON.parse((await dns('show', NAME, '--json')).stdout)
    expect(json).toMatchObject({ domain: NAME, records: records.map(({ name, value }) => ({ name, value })) })

    const text = (await dns('show', NAME, '--zone')).stdout
    for (const record of records.filter(({ required }) => required)) {
      expect(text).toContain(`${record.name}. 3600 IN ${record.type} `)
    }
    const strings = [...text.matchAll(/"([^"]*)"/g)].map(([, string]) => string!)
    expect(Math.max(...strings.map((string) => string.length))).toBe(255)
    expect(strings.join('')).toContain(of('dkim').value)
  })

  describeWithPeers('another reader of zone files', () => {
    test('shows zone lines with exactly the records to publish', async () => {
      const read = await zoneRecords((await dns('show', NAME, '--zone')).stdout, NAME)
      const expected = records
        .filter(({ purpose }) => purpose !== 'mx' && purpose !== 'tls_rpt')
        .map(
          ({ name, type, value, priority }) =>
            `${name}. ${type} ${priority === null ? value : `${priority} ${value}.`}`,
        )
      expect(read).toEqual(expected.sort())
    })
  })

  test('check reports what is wrong with each record', async () => {
    for (const record of records) publish(record)
    expect(await hints()).toMatchObject({ ok: true })

    publish(of('dkim'), of('dkim').value.slice(0, 255))
    zone.set(of('spf').name, 'TXT', ['v=spf1 include:_spf.office.example -all'])
    zone.set(of('dmarc').name, 'TXT', ['v=DMARC1; p=reject'])
    zone.remove(of('return_path').name, 'MX')
    zone.set(`${of('return_path').name}.${NAME}`, 'MX', [{ preference: 10, exchange: 'mail.example.com' }])
    const { ok, hint } = await hints()
    expect(ok).toBe(false)
    expect(hint('dkim')).toContain(`cut off after 255 of ${of('dkim').value.length}`)
    expect(hint('spf')).toContain('v=spf1 a:mail.example.com include:_spf.office.example -all')
    expect(hint('dmarc')).toBe(
      'You already have a DMARC record. It can stay unchanged. With this value, this server also receives DMARC reports.',
    )
    expect(hint('return_path')).toContain('Enter bounces only')

    publish(of('dkim'), `"${of('dkim').value}"`)
    expect((await hints()).hint('dkim')).toContain('quotes or backslashes')
    const words = (await dns('check', NAME)).stdout
    expect(words).toMatch(/^✗ MX +bounces\.acme\.example +missing\n {4}expected {2}10 mail\.example\.com\n {4}→ /m)
    expect(words).toMatch(/^✓ TXT +_dmarc\.acme\.example +correct/m)
  })

  test('check fails while the name of the server has no address, and names it like any missing record', async () => {
    await postrider('org', 'create', 'Example', '--config', place.file)
    await postrider('domain', 'add', 'example.com', '--org', 'Example', '--config', place.file)
    const shown = JSON.parse((await dns('show', 'example.com', '--json')).stdout).records as Shown[]
    for (const record of shown) publish(record)
    undo.push(() => {
      for (const { name } of shown) zone.remove(name)
      zone.remove('mail.example.com')
    })
    const without = await dns('check', 'example.com')
    expect(without.code).toBe(1)
    expect(without.stdout).toMatch(/^✗ A +mail\.example\.com +missing$/m)
    const late = await dns('check', 'example.com', '--wait', '--timeout', '1')
    expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('waiting for mail.example.com')])
    zone.set('mail.example.com', 'A', ['192.0.2.1'])
    zone.remove('_dmarc.example.com')
    const right = await dns('check', 'example.com')
    expect(right.code).toBe(0)
    expect(right.stdout).toMatch(/^- TXT +_dmarc\.example\.com +missing {2}\(recommended\)$/m)
  })

  test('check --wait repeats until all is right', async () => {
    const waiting = await start('dns', 'check', NAME, '--config', place.file, '--wait', '--timeout', '3600')
    undo.push(() => waiting.kill('SIGKILL'))
    await until('the first look', () => waiting.complaints().includes(`waiting for ${of('dkim').name}`))
    for (const record of records) publish(record)
    const { code, stdout } = await waiting.ended
    expect(stdout).not.toContain('✗')
    expect(code).toBe(0)
    expect((await postrider('domain', 'show', NAME, '--config', place.file)).stdout).toContain('is verified')
  })

  test('check --wait has a timeout, and an unknown domain is reported', async () => {
    const late = await dns('check', NAME, '--wait', '--timeout', '1')
    expect(late.code).toBe(1)
    expect((await dns('check', 'other.example')).stderr).toContain('no domain other.example')
  })
})
