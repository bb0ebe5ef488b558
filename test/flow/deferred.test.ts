import { afterEach, expect, test } from 'bun:test'
import type { ConfigValues } from '../../src/config/load.ts'
import { type Move, type RawMx, startRawMx } from '../support/remote-mx.ts'
import { type Json, START, startTestServer, type TestServer } from '../support/server.ts'

/** Deferred, later delivered or given up. */

const MINUTE = 60_000

let remote: RawMx
let server: TestServer

/** Replies to RCPT in order, the last one repeated; null = accepted. */
async function open(replies: (Move | null)[], config: ConfigValues = {}, cue = 'RCPT') {
  remote = await startRawMx({
    script: (at) => (at !== cue ? null : replies.length > 1 ? replies.shift()! : replies[0]!),
  })
  server = await startTestServer({ remote, config })
}
afterEach(async () => {
  await server.close()
  await remote.stop()
})

/** When each event was published, in minutes since the start. */
const timeline = (events: Json[]) =>
  events.map(({ type, timestamp, data }) => {
    const bounce = data.bounce_type === undefined ? '' : ` ${data.bounce_type}${data.will_retry ? ' will retry' : ''}`
    return `${(Date.parse(timestamp) - START) / MINUTE} ${type.replace('message.', '')}${bounce}`
  })
const messageIds = () => remote.mails.map((mail) => /^Message-ID: (\S+)/m.exec(mail.toString('latin1'))![1])

test('deferred three times, delivered at the fourth attempt, each at its minute', async () => {
  await open(['451 4.3.0 one', '451 4.3.0 two', '451 4.3.0 three', null])
  const { body } = await server.send()
  for (let attempt = 1; attempt <= 3; attempt++) {
    const message = await server.tried(body.id, attempt)
    expect(message.status).toBe('deferred')
    await server.toNextAttempt(body.id)
  }
  await server.ended(body.id)
  const events = await server.eventsOf(body.id)
  expect(timeline(events)).toEqual(['0 deferred', '1 deferred', '6 deferred', '21 delivered'])
  expect(events.map(({ data }) => [data.attempt, data.smtp_response])).toEqual([
    [1, '451 4.3.0 one'],
    [2, '451 4.3.0 two'],
    [3, '451 4.3.0 three'],
    [undefined, '250 2.0.0 queued'],
  ])
  expect(events[0].data.next_attempt_at).toBe('2026-11-21T12:01:00.000Z')
  // A pipelining server answered 354 before the refusal, and got an empty mail.
  expect(remote.mails.filter((mail) => mail.length > 0)).toHaveLength(1)
  const { data: attempts } = await server.read(`/v1/messages/${body.id}/attempts`)
  expect(attempts.map(({ number, outcome }: Json) => `${number} ${outcome}`)).toEqual([
    '4 delivered',
    '3 deferred',
    '2 deferred',
    '1 deferred',
  ])
})

test('deferred until it is given up: one soft bounce at the maximum age, and no suppression', async () => {
  await open(['451 4.3.0 later'], { delivery: { retry_schedule_seconds: [60, 300, 600], max_age_seconds: 1800 } })
  const { body } = await server.send()
  for (let attempt = 1; ; attempt++) {
    const message = await server.tried(body.id, attempt)
    if (message.status === 'bounced') break
    await server.toNextAttempt(body.id)
  }
  const events = await server.eventsOf(body.id)
  expect(timeline(events)).toEqual(['0 deferred', '1 deferred', '6 deferred', '16 deferred', '26 bounced soft'])
  expect(events.at(-1).data).toMatchObject({
    bounce_code: '4.3.0',
    bounce_message: 'gave up: 451 4.3.0 later',
    will_retry: false,
  })
  expect((await server.send()).body.status).toBe('queued')
})

test('a full mailbox is published as a soft bounce once, however often it is full', async () => {
  await open(['452 4.2.2 full', '452 4.2.2 full', '452 4.2.2 full', null])
  const { body } = await server.send()
  for (let attempt = 1; attempt <= 3; attempt++) {
    await server.tried(body.id, attempt)
    await server.toNextAttempt(body.id)
  }
  await server.ended(body.id)
  expect(timeline(await server.eventsOf(body.id))).toEqual([
    '0 deferred',
    '0 bounced soft will retry',
    '1 deferred',
    '6 deferred',
    '21 delivered',
  ])
})

// threat: smtp-connection-resets
test('lost after the final dot: an unknown outcome, retried with the same Message-ID and the same bytes', async () => {
  await open([{ do: 'drop' }, null], {}, 'DOT')
  const { body } = await server.send()
  await server.tried(body.id, 1)
  const { data } = await server.read(`/v1/messages/${body.id}/attempts`)
  expect(data).toMatchObject([{ outcome: 'unknown', mx_host: 'mx.hosts.example' }])
  await server.toNextAttempt(body.id)
  await server.ended(body.id)
  expect(timeline(await server.eventsOf(body.id))).toEqual(['0 deferred', '1 delivered'])
  expect(messageIds()).toEqual([messageIds()[0], messageIds()[0]])
  expect(remote.mails[0]!.equals(remote.mails[1]!)).toBe(true)
})

test('a message that expires while it waits is a soft bounce and is not retried', async () => {
  await open(['451 4.3.0 later'])
  const { body } = await server.send({ expires_in: 200 })
  await server.tried(body.id, 1)
  await server.toNextAttempt(body.id)
  const message = await server.ended(body.id)
  expect(message.recipients[0]).toMatchObject({ status: 'bounced', bounce_type: 'soft', attempts: 2 })
  expect(timeline(await server.eventsOf(body.id))).toEqual(['0 deferred', '1 bounced soft'])
  await server.clock.advance(10 * MINUTE)
  expect(remote.heard.filter((line) => line.startsWith('RCPT'))).toHaveLength(2)
})

test('a deferred message that is cancelled is not retried', async () => {
  await open(['451 4.3.0 later', null])
  const { body } = await server.send()
  await server.tried(body.id, 1)
  const { status } = await server.ask('POST', `/v1/messages/${body.id}/cancel`)
  expect(status).toBe(200)
  await server.clock.advance(10 * MINUTE)
  expect((await server.read(`/v1/messages/${body.id}`)).status).toBe('cancelled')
  expect(remote.heard.filter((line) => line.startsWith('RCPT'))).toHaveLength(1)
})

test('mail is delivered when broken DNS works again', async () => {
  await open([null], { delivery: { retry_schedule_seconds: [5] } })
  server.zone.set('healing.example', 'MX', [{ preference: 10, exchange: 'mx.hosts.example' }])
  server.zone.fail('healing.example', 'SERVFAIL')
  const { body } = await server.send({ to: 'ann@healing.example' })
  let message = await server.tried(body.id, 1)
  expect(message.recipients[0]).toMatchObject({ status: 'deferred', mx_host: null })
  server.zone.fail('healing.example', null)
  // The delivery threads use real time, and keep a DNS failure for a second of it.
  for (let attempt = 2; message.status === 'deferred'; attempt++) {
    await server.toNextAttempt(body.id)
    message = await server.tried(body.id, attempt)
  }
  expect(message.status).toBe('delivered')
})

test('the second of two hosts accepts the mail when the first is down or busy', async () => {
  await open([null])
  const second = await startRawMx({ host: '127.0.0.2', port: remote.port })
  server.zone.set('mx2.hosts.example', 'A', ['127.0.0.2'])
  server.zone.set('mx9.hosts.example', 'A', ['127.0.0.9'])
  server.zone.set('mx3.hosts.example', 'A', ['127.0.0.3'])
  const busy = await startRawMx({ host: '127.0.0.3', port: remote.port, script: () => '421 4.3.2 busy' })
  for (const first of ['mx9.hosts.example', 'mx3.hosts.example']) {
    const domain = `first-${first}`
    server.zone.set(domain, 'MX', [
      { preference: 20, exchange: 'mx2.hosts.example' },
      { preference: 10, exchange: first },
    ])
    const { body } = await server.send({ to: `ann@${domain}` })
    const message = await server.ended(body.id)
    expect(message.recipients[0]).toMatchObject({ status: 'delivered', mx_host: 'mx2.hosts.example', attempts: 1 })
    const { data } = await server.read(`/v1/messages/${body.id}/attempts`)
    expect(data).toHaveLength(1)
    expect(data[0].transcript).toContain(first)
  }
  expect(second.mails).toHaveLength(2)
  expect(busy.connections()).toBe(1)
  await second.stop()
  await busy.stop()
})
