import { afterEach, expect, test } from 'bun:test'
import { AbortError, ConnectionError, Postrider, UnauthorizedError } from '../../src/client/index.ts'
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts'
import { until } from '../support/patience.ts'
import { startRemoteMx } from '../support/remote-mx.ts'
import { MAIL, startTestServer, type TestServer, untilInTime } from '../support/server.ts'
import { startHostile } from './hostile.ts'
import { type Line, startLine } from './line.ts'

/** Live events over connections that fail. */
let server: TestServer
let line: Line
let clock: FakeClock
let client: Postrider
const ended = new AbortController()

async function open() {
  const remote = await startRemoteMx()
  undo.push(remote.stop)
  server = await startTestServer({ remote })
  undo.push(server.close)
  line = await startLine(server.running().listening.http!)
  undo.push(line.stop)
  clock = createFakeClock(0)
  client = new Postrider({ baseUrl: line.url, apiKey: server.keys.test, clock: { ...clock, random: () => 0.5 } })
}
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})
const undo: (() => Promise<void>)[] = []

const bounced = async () =>
  (await server.send({ ...MAIL, to: 'bounce@customer.example' }, { authorization: `Bearer ${server.keys.test}` })).body
    .id

test('new events are yielded; disconnections lose nothing and repeat nothing', async () => {
  await open()
  await bounced() // published before the stream starts: not sent
  const seen: string[] = []
  const following = (async () => {
    for await (const event of client.events.stream({ types: ['message.bounced'] }, { signal: ended.signal })) {
      if (event.type === 'message.bounced') seen.push(event.data.message_id)
    }
  })()
  const failure = following.catch((error) => error)
  await until('the stream', () => line.open() === 1 && clock.sleeps()[0] === 45_000)

  const sent = []
  for (let round = 0; round < 3; round++) {
    line.cut() // the first time before any event was received
    sent.push(await bounced(), await bounced())
    await until('the break to be seen', () => line.open() === 0)
    sent.push(await bounced())
    await untilInTime(clock, 'all of them', () => seen.length >= sent.length)
    expect(seen).toEqual(sent)
  }
  // A server that is silent for too long counts as disconnected.
  line.freeze()
  sent.push(await bounced())
  await untilInTime(clock, 'the last one', () => seen.length >= sent.length)
  expect(seen).toEqual(sent)

  ended.abort()
  expect(await failure).toBeInstanceOf(AbortError)
  await until('the connection to be closed', () => line.open() === 0)
})

test('break ends it, after sets its start, and a revoked key ends it with the server’s message', async () => {
  await open()
  const first = await bounced()
  const second = await bounced()
  for (const [after, message] of [
    ['', first],
    [(await server.eventsOf(first))[0].id, second],
  ]) {
    for await (const event of client.events.stream({ after })) {
      expect(event.data).toMatchObject({ message_id: message })
      break
    }
  }
  await until('the connections to be closed', () => line.open() === 0)

  const [key] = (await client.apiKeys.list().page()).data.filter(({ mode }) => mode === 'test')
  await server.ask('DELETE', `/v1/api-keys/${key!.id}`)
  const walk = Array.fromAsync(client.events.stream({ after: '' })).catch((error) => error)
  expect(await walk).toBeInstanceOf(UnauthorizedError)
})

test('a stream that never connected fails like any other call', async () => {
  const server = await startHostile('cut')
  undo.push(server.stop)
  const still = createFakeClock(0)
  const stranger = new Postrider({ baseUrl: server.url, apiKey: 'svc_test_x', clock: { ...still, random: () => 0.5 } })
  const walk = Array.fromAsync(stranger.events.stream({ after: '' })).catch((error) => error)
  for (const ms of [250, 500]) {
    await until('the pause', () => still.sleeps()[0] === still.now() + ms)
    await still.advance(ms)
  }
  expect(await walk).toBeInstanceOf(ConnectionError)
  expect(server.requests).toHaveLength(3)
})
