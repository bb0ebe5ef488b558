import { afterEach, expect, test } from 'bun:test'
import { type RawMx, startRawMx } from '../support/remote-mx.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

const DAY = 86_400_000
const PASS = 10 * 60_000

let remote: RawMx
let server: TestServer
afterEach(async () => {
  await server.close()
  await remote.stop()
})

/** Days without activity, and then the minutes until the first pass. */
async function daysLater(days: number) {
  await server.stop()
  await server.clock.advance(days * DAY)
  await server.reopen()
  await server.clock.advance(PASS)
}

test('mail is available as long as its plan says, and answers 404 after that', async () => {
  remote = await startRawMx({})
  server = await startTestServer({ remote, config: { plans: { enterprise: { retention_days: 3 } } } })
  const sent = (await server.send()).body
  await server.ended(sent.id)
  const [event] = await server.eventsOf(sent.id)
  const later = (await server.send({ scheduled_at: new Date(server.clock.now() + 20 * DAY).toISOString() })).body
  await daysLater(2)
  expect((await server.read(`/v1/messages/${sent.id}`)).status).toBe('delivered')
  await daysLater(1)
  const paths = ['', '/content', '/events', '/attempts'].map((end) => `/v1/messages/${sent.id}${end}`)
  for (const path of [...paths, `/v1/events/${event.id}`])
    expect([path, (await server.ask('GET', path)).status]).toEqual([path, 404])
  expect((await server.read('/v1/messages')).data.map(({ id }: { id: string }) => id)).toEqual([later.id])
  expect((await server.read('/v1/usage')).usage.messages).toBe(2)
})
