import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createTransport } from 'nodemailer'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, startTestServer, type TestServer } from '../support/server.ts'

/** A mail whose preparation never ends, in the running server. The threads recognize it by its header X-Hostile. */

let remote: RemoteMx
let server: TestServer

beforeAll(async () => {
  remote = await startRemoteMx()
  server = await startTestServer({
    remote,
    config: { smtp: { inbound: { listen: '127.0.0.1:0' } } },
    preload: new URL('../support/hostile-thread.ts', import.meta.url).href,
    computeMs: 1_500,
  })
})
afterAll(async () => {
  await server.close()
  await remote.stop()
})

const words = (recipient: { explanation: string[] }) => recipient.explanation.join(' ')
const hostile = { headers: { 'X-Hostile': 'regex' } }

// threat: hostile-content-holds-delivery
test('a mail that blocks its thread is a soft bounce after two tries, and others are delivered meanwhile', async () => {
  const { body } = await server.send({ to: ['ann@a.remote.example', 'ben@b.remote.example'], ...hostile })
  const healthy = await server.send({ to: 'carl@c.remote.example' })
  expect(await server.ended(healthy.body.id)).toMatchObject({ status: 'delivered' })

  await server.tried(body.id, 1)
  await server.toNextAttempt(body.id)
  const message = await server.ended(body.id)
  for (const recipient of message.recipients) {
    expect(recipient).toMatchObject({ status: 'bounced', bounce_type: 'soft', bounce_code: '5.6.0' })
    expect(recipient.smtp_response).toBe('the message took too long to prepare')
  }
  const { data: attempts } = await server.read(`/v1/messages/${body.id}/attempts`)
  const causes = attempts.map(({ cause }: { cause: { rule: string } }) => cause.rule)
  expect(causes).toEqual(causes.map(() => 'prepare-time'))
  // Two attempts for one content: its other recipients are not attempted with it again.
  expect(attempts.filter(({ duration_ms }: { duration_ms: number }) => duration_ms > 0).length).toBeLessThanOrEqual(3)

  const { recipients } = await server.read(`/v1/messages/${body.id}/explain`)
  expect(words(recipients[0])).toContain('could not be delivered: the message took too long to prepare')
  expect(recipients[0].suppressions).toEqual([])
  expect(remote.mails.length).toBe(1)
})

// threat: hostile-content-holds-delivery
test('the raw view of such a mail is refused, and deliveries continue meanwhile', async () => {
  const { body } = await server.send({ to: 'dora@a.remote.example', scheduled_at: '2026-11-25T12:00:00Z', ...hostile })
  const [delivery] = server.threads()
  const { status, body: answer } = await server.ask('GET', `/v1/messages/${body.id}/content?part=raw`)
  expect(status).toBe(422)
  expect(answer.error).toMatchObject({
    code: 'invalid_state',
    message: 'The message took too long to prepare. Make its HTML simpler or smaller.',
  })
  expect(server.threads()).toEqual([delivery!])
})

test('such test mail is refused', async () => {
  const { status, body } = await server.send(
    { to: 'ann@a.remote.example', ...hostile },
    {
      authorization: `Bearer ${server.keys.test}`,
    },
  )
  expect(status).toBe(422)
  expect(body.error.code).toBe('invalid_state')
})

test('the record of such a received mail is refused, and its raw view is not', async () => {
  await server.ask('POST', '/v1/inbound-routes', {
    name: 'all',
    match: { type: 'catch_all' },
    action: { type: 'store' },
  })
  const [host, port] = server.running().listening.smtpInbound!.split(':')
  const client = createTransport({ host: host!, port: Number(port), name: 'mx.author.example', ignoreTLS: true })
  const text = 'A large record becomes JSON in a thread.\n'.repeat(13_000)
  await client.sendMail({ from: 'bob@author.example', to: `ann@${DOMAIN}`, text, ...hostile })
  client.close()
  const { data } = await server.read('/v1/inbound-messages')
  const { status, body } = await server.ask('GET', `/v1/inbound-messages/${data[0].id}`)
  expect([status, body.error.code]).toEqual([422, 'invalid_state'])
  expect(body.error.details).toMatchObject({ reason: 'took_too_long' })
  expect((await server.ask('GET', `/v1/inbound-messages/${data[0].id}/raw`)).status).toBe(200)
})
