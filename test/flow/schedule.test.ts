import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type RawMx, startRawMx } from '../support/remote-mx.ts'
import { START, startTestServer, type TestServer } from '../support/server.ts'

/** Scheduled mail. */

const MINUTE = 60_000
const at = (minutes: number) => new Date(START + minutes * MINUTE).toISOString()

let remote: RawMx
let server: TestServer
beforeEach(async () => {
  remote = await startRawMx()
  server = await startTestServer({ remote })
})
afterEach(async () => {
  await server.close()
  await remote.stop()
})

test('a scheduled message waits until its minute, and gets its date when it is sent', async () => {
  const { status, body } = await server.send({ scheduled_at: at(10) })
  expect([status, body.status, body.scheduled_at]).toEqual([202, 'scheduled', at(10)])
  await server.clock.leap(10 * MINUTE - 1)
  expect((await server.read(`/v1/messages/${body.id}`)).status).toBe('scheduled')
  expect(remote.connections()).toBe(0)
  await server.clock.advance(1)
  const message = await server.ended(body.id)
  expect(message).toMatchObject({ status: 'delivered', recipients: [{ delivered_at: at(10) }] })
  expect(remote.mails[0]!.toString()).toContain('Date: Sat, 21 Nov 2026 12:10:00 +0000')
})

test('a cancelled scheduled message is never sent', async () => {
  const { body } = await server.send({ scheduled_at: at(10), to: ['ann@one.remote.example', 'bob@one.remote.example'] })
  expect((await server.ask('POST', `/v1/messages/${body.id}/cancel`)).status).toBe(200)
  await server.clock.advance(15 * MINUTE)
  expect(await server.ended(body.id)).toMatchObject({ status: 'cancelled' })
  expect(remote.connections()).toBe(0)
  expect(await server.eventsOf(body.id)).toEqual([])
  const again = await server.ask('POST', `/v1/messages/${body.id}/cancel`)
  expect([again.status, again.body.error.code]).toEqual([422, 'invalid_state'])
})

test('a scheduled message that is moved forward is sent then', async () => {
  const { body } = await server.send({ scheduled_at: at(30) })
  expect((await server.ask('PATCH', `/v1/messages/${body.id}`, { scheduled_at: at(5) })).status).toBe(200)
  await server.clock.leap(5 * MINUTE)
  expect(await server.ended(body.id)).toMatchObject({ status: 'delivered', scheduled_at: at(5) })
})

test('the maximum age of a message counts from when it is due', async () => {
  const { body } = await server.send({ scheduled_at: at(10), expires_in: 60 })
  await server.clock.leap(10 * MINUTE)
  expect(await server.ended(body.id)).toMatchObject({ status: 'delivered' })
})

test('a message that was due while the server was down is sent at its next start', async () => {
  const { body } = await server.send({ scheduled_at: at(5) })
  await server.stop()
  await server.clock.advance(20 * MINUTE)
  await server.reopen()
  expect(await server.ended(body.id)).toMatchObject({ status: 'delivered', recipients: [{ delivered_at: at(20) }] })
})

test('a message that expired while the server was down is a soft bounce without a connection', async () => {
  const { body } = await server.send({ scheduled_at: at(5), expires_in: 60 })
  await server.stop()
  await server.clock.advance(20 * MINUTE)
  await server.reopen()
  const message = await server.ended(body.id)
  expect(message.recipients).toMatchObject([{ status: 'bounced', bounce_type: 'soft', bounce_code: '4.4.7' }])
  expect(remote.connections()).toBe(0)
})
