import { afterEach, expect, test } from 'bun:test'
import type { ConfigValues } from '../../src/config/load.ts'
import { noteBackup } from '../../src/os/last-backup.ts'
import { type RawMx, startRawMx } from '../support/remote-mx.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { talk } from '../support/talk.ts'

/** GET /metrics, as Prometheus asks for it. */

let remote: RawMx
let server: TestServer

/** A server, and a mail server that accepts everything. */
const open = async (config: ConfigValues = {}) => {
  remote = await startRawMx({ script: () => null })
  server = await startTestServer({ remote, config })
}
afterEach(async () => {
  await server.close()
  await remote.stop()
})

const metrics = (headers: Record<string, string> = {}) =>
  fetch(`http://${server.running().listening.http}/metrics`, { headers })

/** A line of the text → its value. */
async function value(line: string): Promise<number | undefined> {
  const text = await (await metrics()).text()
  const found = text.split('\n').find((each) => each.startsWith(`${line} `))
  return found === undefined ? undefined : Number(found.slice(line.length))
}

test('counts the results of mail, and requests', async () => {
  await open()
  for (const to of ['ann@customer.example', 'bounce@customer.example']) {
    await server.send({ to }, { authorization: `Bearer ${server.keys.test}` })
  }
  await server.ask('GET', '/v1/messages/msg_00000000000000000000000000')

  expect(await value('postrider_messages_accepted_total{mode="test"}')).toBe(2)
  expect(await value('postrider_http_requests_total{operation="messages_send",status="202"}')).toBe(2)
  expect(await value('postrider_http_request_seconds_count')).toBeGreaterThanOrEqual(3)
  expect(await value('postrider_store_commit_seconds_count')).toBeGreaterThanOrEqual(2)
  expect(await value('postrider_under_way{kind="delivery"}')).toBe(0)
  expect(await value('process_resident_memory_bytes')).toBeGreaterThan(10_000_000)
})

test('counts attempts by outcome and by destination', async () => {
  await open()
  const { body } = await server.send()
  await server.ended(body.id)

  expect(await value('postrider_delivery_attempt_seconds_count{outcome="delivered"}')).toBe(1)
  expect(await value('postrider_delivery_attempt_seconds_bucket{outcome="delivered",le="+Inf"}')).toBe(1)
  expect(await value('postrider_sites{state="proven"}')).toBe(1)
  expect(await (await metrics()).text()).toMatch(/^postrider_site_under_way\{site="[a-z.]+"\} 0$/m)
})

test('reports what waits, and the age of the oldest', async () => {
  await open()
  const tomorrow = new Date(server.clock.now() + 86_400_000).toISOString()
  await server.send({ scheduled_at: tomorrow })
  await server.send({ scheduled_at: tomorrow })
  expect(await value('postrider_queued{queue="delivery",when="later",scope="cluster"}')).toBe(2)
  expect(await value('postrider_queued{queue="delivery",when="due",scope="cluster"}')).toBe(0)
  expect(await value('postrider_oldest_due_seconds{queue="delivery",scope="cluster"}')).toBe(0)
  expect(await value('postrider_queued{queue="webhook_post",when="due",scope="cluster"}')).toBe(0)
})

test('counts suppressions by reason, each once', async () => {
  await open()
  for (const email of ['ann@customer.example', 'ann@customer.example', 'bob@customer.example']) {
    await server.ask('POST', '/v1/suppressions', { email })
  }
  expect(await value('postrider_suppressions_total{reason="manual"}')).toBe(2)
})

test('has the right format, help and type for every family, and no user data', async () => {
  await open()
  const { body } = await server.send({ to: 'secret-name@customer.example', subject: 'secret subject' })
  await server.ended(body.id)
  await server.ask('GET', '/v1/nowhere/secret-path')

  const response = await metrics()
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  const text = await response.text()
  expect(text.endsWith('\n')).toBe(true)
  for (const line of text.trimEnd().split('\n')) {
    expect(line).toMatch(
      /^(# HELP [a-z_]+ .+|# TYPE [a-z_]+ (counter|gauge|histogram)|[a-z_]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? [\d.e+-]+)$/,
    )
  }
  const families = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)
  expect(new Set(families).size).toBe(families.length)
  expect(text).not.toMatch(/secret|msg_|svc_|@/)
})

test('is served to the networks of the config, by the client address behind our proxy', async () => {
  await open({ metrics: { allowed_networks: ['127.0.0.0/8', '192.0.2.0/24'] } })
  expect((await metrics()).status).toBe(200)
  expect((await metrics({ 'x-forwarded-for': '192.0.2.7' })).status).toBe(200)
  const refused = await metrics({ 'x-forwarded-for': '198.51.100.7' })
  expect(refused.status).toBe(404)
  expect(await refused.text()).not.toContain('postrider')
  expect((await fetch(`http://${server.running().listening.http}/metrics`, { method: 'POST' })).status).toBe(405)
})

test('is not served through the proxy of the server without the address of the client', async () => {
  await open({ http: { behind_proxy: true, public_url: 'https://mail.example.com' } })
  const through = { host: 'mail.example.com', 'x-forwarded-proto': 'https' }
  expect((await metrics(through)).status).toBe(404)
  expect((await metrics({ ...through, 'x-forwarded-for': '198.51.100.7' })).status).toBe(404)
  expect((await metrics({ ...through, 'x-forwarded-for': '127.0.0.1' })).status).toBe(200)
})

test('trusts no proxy that the config does not name', async () => {
  await open({ http: { trusted_proxies: [] } })
  expect((await metrics()).status).toBe(200)
  expect((await metrics({ 'x-forwarded-for': '198.51.100.7' })).status).toBe(404)
  expect((await metrics({ 'x-forwarded-for': '127.0.0.1, 198.51.100.7' })).status).toBe(404)
})

test('is turned off by an empty list', async () => {
  await open({ metrics: { allowed_networks: [] } })
  expect((await metrics()).status).toBe(404)
})

test('is alone on a separate listener, for the same networks', async () => {
  await open({ metrics: { listen: '127.0.0.1:0' } })
  expect((await metrics()).status).toBe(404)
  const own = `http://${server.running().listening.metrics}`
  const answer = await fetch(`${own}/metrics`)
  expect(answer.status).toBe(200)
  expect(await answer.text()).toContain('postrider_build_info')
  expect((await fetch(`${own}/metrics`, { headers: { 'x-forwarded-for': '198.51.100.7' } })).status).toBe(404)
  expect((await fetch(`${own}/metrics`, { method: 'POST' })).status).toBe(404)
  expect((await fetch(`${own}/healthz`)).status).toBe(404)
  const port = Number(own.split(':').at(-1))
  for (const [head, status] of [
    ['HTTP/1.0\r\n', 200],
    ['HTTP/1.1\r\nConnection: close\r\nHost: localhost:1\r\n', 200],
    ['HTTP/1.1\r\nConnection: close\r\nHost: evil.example\r\n', 403],
    ['HTTP/1.1\r\nConnection: close\r\nHost: a b:99999\r\n', 400],
  ] as const) {
    expect(await talk(port, [`GET /metrics ${head}\r\n`])).toStartWith(`HTTP/1.1 ${status} `)
    expect(await talk(port, [`GET // ${head}\r\n`])).toStartWith(`HTTP/1.1 ${status === 400 ? 400 : 404} `)
  }
  await server.stop()
  await expect(fetch(`${own}/metrics`)).rejects.toThrow()
})

test('has the time of the last backup, once there is one', async () => {
  await open()
  expect(await value('postrider_backup_last_success_timestamp_seconds')).toBeUndefined()
  noteBackup(server.dataDir, { madeAt: 1_795_262_400_000, bytes: 1, to: 'somewhere', signedBy: 'ed25519:A' })
  expect(await value('postrider_backup_last_success_timestamp_seconds')).toBe(1_795_262_400)
  expect(await value('postrider_held{queue="delivery",scope="cluster"}')).toBe(0)
})
