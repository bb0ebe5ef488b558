import { afterEach, expect, test } from 'bun:test'
import type { ConfigValues } from '../../src/config/load.ts'
import { until } from '../support/patience.ts'
import { type Cue, type Move, type RawMx, startRawMx } from '../support/remote-mx.ts'
import { type Json, startTestServer, type TestServer } from '../support/server.ts'

/** A repeated request, and what a stop in the middle of deliveries must not lose. */

let remote: RawMx
let server: TestServer
async function open(script?: (cue: Cue, line: string, connection: number) => Move | null, config?: ConfigValues) {
  remote = await startRawMx({ script })
  server = await startTestServer({ remote, config })
}
afterEach(async () => {
  await server.close()
  await remote.stop()
})

test('a repeated request gets the first answer byte for byte, after a restart too, and sends nothing', async () => {
  await open()
  const key = { 'idempotency-key': 'order 17' }
  const first = await server.send({}, key)
  const again = await server.send({}, key)
  await server.ended(first.body.id)
  await server.stop()
  await server.reopen()
  const later = await server.send({}, key)
  for (const replay of [again, later]) {
    expect([replay.status, replay.text]).toEqual([first.status, first.text])
    expect(replay.headers.get('idempotent-replayed')).toBe('true')
  }
  expect(first.headers.get('idempotent-replayed')).toBeNull()
  const other = await server.send({ subject: 'Other' }, key)
  expect([other.status, other.body.error.details.reason]).toEqual([409, 'idempotency_key_reused'])
  expect((await server.read('/v1/messages')).data).toHaveLength(1)
  expect(remote.mails).toHaveLength(1)
})

test('twenty equal requests at once are one message', async () => {
  await open()
  const answers = await Promise.all(Array.from({ length: 20 }, () => server.send({}, { 'idempotency-key': 'race' })))
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(19)
  await server.ended(answers[0]!.body.id)
  expect(remote.mails).toHaveLength(1)
})

test('a request with the key of a refused one is a new request', async () => {
  await open()
  const key = { 'idempotency-key': 'k' }
  expect((await server.send({ subject: '' }, key)).status).toBe(400)
  expect((await server.send({}, key)).status).toBe(202)
})

test('a server stopped during deliveries finishes what it began and sends the rest at its next start', async () => {
  let slow = true
  await open((cue) => (cue === 'DOT' && slow ? { do: 'hang' } : null), { delivery: { max_per_destination: 2 } })
  const sent: Json[] = []
  for (let n = 0; n < 30; n++) sent.push((await server.send({ to: `user${n}@one.remote.example` })).body)
  await until('mails to hang', () => remote.mails.length === 2)
  slow = false
  await server.stop('with work that hangs') // whose outcome is unknown then
  await server.reopen()
  await server.clock.advance(2 * 60_000)
  for (const { id } of sent) expect(await server.ended(id)).toMatchObject({ status: 'delivered' })
  const recipients = remote.heard.filter((line) => line.startsWith('RCPT'))
  expect(new Set(recipients).size).toBe(30)
  const events = (await server.read('/v1/events?limit=100&type=message.delivered')).data
  expect(events.map(({ data }: Json) => data.to).sort()).toEqual(sent.map(({ recipients: [to] }) => to.email).sort())
})

test('a stop during a burst sends every mail once', async () => {
  await open()
  const answers = Array.from({ length: 40 }, (_, n) => server.send({ to: `user${n}@d${n % 3}.remote.example` }))
  const sent = await Promise.all(answers)
  await server.stop()
  await server.reopen()
  for (const { body } of sent) expect(await server.ended(body.id)).toMatchObject({ status: 'delivered' })
  expect(remote.mails).toHaveLength(40)
  await server.receiver.received(40)
  expect(new Set(server.receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(40)
})

test('a request that waits for its outcome is answered before the server stops', async () => {
  await open((cue) => (cue === 'RCPT' ? '451 4.3.0 later' : null))
  const waiting = server.send({}, { prefer: 'wait=5' })
  const isDeferred = async () => (await server.read('/v1/messages')).data[0]?.status === 'deferred'
  await until('the first attempt to be stored', isDeferred)
  await server.stop('with work that hangs')
  const { status, body } = await waiting
  expect([status, body.status]).toEqual([200, 'deferred'])
})

test('an event whose endpoint was down is posted after a restart, with its id and attempt number', async () => {
  await open()
  server.receiver.script(500)
  const { body } = await server.send()
  await server.ended(body.id)
  await server.receiver.received(1)
  await server.stop()
  server.receiver.script(200)
  await server.reopen()
  await server.clock.advance(10_000)
  await server.receiver.received(2)
  const [first, second] = server.receiver.requests
  expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id'])
  expect(second!.body).toBe(first!.body)
  expect(second!.headers['x-service-delivery-attempt']).toBe('2')
})
