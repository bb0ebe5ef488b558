import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createLog } from '../../src/os/log.ts'
import { until } from '../support/patience.ts'
import { type RawMx, startRawMx } from '../support/remote-mx.ts'
import { START, startTestServer, type TestServer } from '../support/server.ts'

/** The server checks itself every hour, and reports to the log and /metrics. */

let remote: RawMx
let server: TestServer
let lines: Record<string, unknown>[]
beforeEach(async () => {
  lines = []
  const clock = { now: () => START, sleep: async () => {} }
  const log = createLog({ clock, level: 'info', format: 'json', write: (line) => lines.push(JSON.parse(line)) })
  remote = await startRawMx({ script: () => null })
  server = await startTestServer({ remote, log })
})
afterEach(async () => {
  await server.close()
  await remote.stop()
})

const statusOf = async (name: string) => {
  const text = await (await fetch(`http://${server.running().listening.http}/metrics`)).text()
  return new RegExp(`^postrider_health_check\\{name="${name}",status="(\\w+)"\\} 1$`, 'm').exec(text)?.[1]
}
const found = (name: string, status: string) =>
  until(`${name} to be ${status}`, async () => (await statusOf(name)) === status)
const reported = (message: string, check: string) =>
  lines.find((line) => line.message === message && line.check === check)

test('a missing DKIM record is noticed within an hour, and its return too', async () => {
  expect(await statusOf('domains')).toBeUndefined()
  await server.clock.advance(60_000)
  await found('domains', 'pass')
  expect(await statusOf('store')).toBe('pass')
  expect(await statusOf('queue')).toBe('pass')
  expect(await statusOf('ports')).toBeUndefined()

  const name = server.zone.queries.find((query) => query.name.includes('_domainkey'))!.name
  const [domain] = (await server.read('/v1/domains')).data
  const record = domain.dns_records.find((each: { name: string }) => each.name === name)
  server.zone.remove(name)
  await server.clock.leap(3_600_000)
  await found('domains', 'fail')
  expect(reported('health check got worse', 'domains')).toMatchObject({ level: 'warn', status: 'fail' })
  expect(String(reported('health check got worse', 'domains')!.found)).toContain(`${domain.name} has 1 missing`)

  server.zone.set(name, 'TXT', [record.value])
  await server.clock.leap(3_600_000)
  await found('domains', 'pass')
  expect(reported('health check improved', 'domains')).toMatchObject({ level: 'info', status: 'pass' })
})
