import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createTransport } from 'nodemailer'
import { clientOptions } from '../smtp-submission/setup.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, startTestServer, type TestServer } from '../support/server.ts'

/** Each stream is a consent of its own: who left the news still gets the password reset, by every way in. */

let remote: RemoteMx
let server: TestServer
beforeAll(async () => {
  remote = await startRemoteMx()
  const smtp = { inbound: { listen: 'off' }, submission: { listen: '127.0.0.1:0' } }
  const sending = { streams: { newsletter: { unsubscribe: true } } }
  server = await startTestServer({ remote, config: { smtp, sending } })
})
afterAll(async () => {
  await server.close()
  await remote.stop()
})

const statusesOf = ({ recipients }: { recipients: { status: string }[] }) => recipients.map(({ status }) => status)
const sent = async (to: string, stream: string) => statusesOf((await server.send({ to, stream })).body)
const explained = async (to: string, stream: string) =>
  (await server.ask('GET', `/v1/explain?to=${to}&stream=${stream}`)).body

/** Unsubscribes with one click from a message of the stream → the message. */
async function leave(to: string, stream: string): Promise<string> {
  const { id } = (await server.send({ to, stream })).body
  await server.ended(id)
  const raw = (await server.ask('GET', `/v1/messages/${id}/content?part=raw`)).text
  const { pathname } = new URL(/^List-Unsubscribe: <(http:[^>]+)>/m.exec(raw)![1]!)
  const { http } = server.running().listening
  const answer = await fetch(`http://${http}${pathname}`, { method: 'POST', body: 'List-Unsubscribe=One-Click' })
  expect(answer.status).toBe(200)
  return id
}

test('one click in a stream of the configuration stops that stream, however its mail comes', async () => {
  const to = 'ann@one.remote.example'
  const id = await leave(to, 'newsletter')
  const [record] = (await server.read(`/v1/suppressions?stream=newsletter&email=${to}`)).data
  expect(record).toMatchObject({ reason: 'unsubscribe', stream: 'newsletter', message_id: id })
  expect([await sent(to, 'newsletter'), await sent(to, 'bulk'), await sent(to, 'transactional')]).toEqual([
    ['suppressed'],
    ['queued'],
    ['queued'],
  ])
  const again = await server.ask('POST', `/v1/messages/${id}/resend`)
  expect(statusesOf(again.body)).toEqual(['suppressed'])
  const [event] = await server.eventsOf(again.body.id)
  expect(event.data).toMatchObject({ reason: 'unsubscribe', stream: 'newsletter', suppression_stream: 'newsletter' })

  const message = (stream: string) => ({
    from: `shop@${DOMAIN}`,
    to: [to, 'bob@two.remote.example'],
    subject: 'x',
    text: 'x',
    stream,
  })
  const batch = await server.ask('POST', '/v1/messages/batch', {
    messages: ['newsletter', 'transactional'].map(message),
  })
  expect(batch.body.data.map(statusesOf)).toEqual([
    ['suppressed', 'queued'],
    ['queued', 'queued'],
  ])
  const handedIn = async (stream: string) => {
    const port = Number(server.running().listening.smtpSubmission!.split(':').at(-1))
    const transport = createTransport(clientOptions(port, server.keys.live))
    const mail = { from: `shop@${DOMAIN}`, to, subject: 'Hello', text: 'Hi', headers: { 'X-Service-Stream': stream } }
    const { response } = await transport.sendMail(mail).finally(() => transport.close())
    return statusesOf(await server.read(`/v1/messages/${/msg_\w+/.exec(response)![0]}`))
  }
  expect(await handedIn('newsletter')).toEqual(['suppressed'])
  expect(await handedIn('transactional')).not.toEqual(['suppressed'])
  const test = await server.send({ to, stream: 'newsletter' }, { authorization: `Bearer ${server.keys.test}` })
  expect(statusesOf(test.body)).toEqual(['suppressed'])
})

test('explain says which stream is stopped, and that others are', async () => {
  const to = 'cleo@one.remote.example'
  const id = await leave(to, 'bulk')
  const bulk = await explained(to, 'bulk')
  expect([bulk.would_send, bulk.suppressions.map(({ stream }: { stream: string }) => stream)]).toEqual([
    false,
    ['bulk'],
  ])
  expect(bulk.explanation[0]).toContain(
    `${to} is suppressed for this domain, in the stream bulk: the recipient unsubscribed`,
  )
  const reset = await explained(to, 'transactional')
  expect([reset.would_send, reset.suppressions]).toEqual([true, []])
  expect(reset.explanation.at(-1)).toContain(`Mail of other streams does not go to ${to}, in the stream bulk`)
  expect((await server.ask('GET', `/v1/explain?to=${to}&stream=unknown`)).status).toBe(400)
  const words = async (stream: string) => {
    await server.ask('POST', '/v1/suppressions', { email: `${stream}@one.remote.example`, stream, reason: 'complaint' })
    return (await explained(`${stream}@one.remote.example`, stream)).explanation[0]
  }
  expect(await words('bulk')).toContain(', in the stream bulk and every other stream but transactional: the recipient')
  expect(await words('transactional')).toContain('all your domains: the recipient reported')
  const again = (await server.ask('POST', `/v1/messages/${id}/resend`)).body.id
  const { recipients } = await server.read(`/v1/messages/${again}/explain`)
  expect(recipients[0].explanation[1]).toContain('in the stream bulk: the recipient unsubscribed')
})

test('leaving two streams is two suppressions; removing one, or a hard bounce after it, leaves the other', async () => {
  const to = 'dan@one.remote.example'
  await leave(to, 'bulk')
  await leave(to, 'newsletter')
  const listed = (await server.read(`/v1/suppressions?email=${to}`)).data
  expect(listed.map(({ stream }: { stream: string }) => stream).sort()).toEqual(['bulk', 'newsletter'])
  await server.ask(
    'DELETE',
    `/v1/suppressions/${listed.find(({ stream }: { stream: string }) => stream === 'bulk').id}`,
  )
  expect([await sent(to, 'bulk'), await sent(to, 'newsletter')]).toEqual([['queued'], ['suppressed']])
  const bounce = await server.ask('POST', '/v1/suppressions', { email: to, reason: 'hard_bounce' })
  expect([bounce.status, bounce.body.stream]).toEqual([201, null])
  expect(await sent(to, 'transactional')).toEqual(['suppressed'])
  await server.ask('DELETE', `/v1/suppressions/${bounce.body.id}`)
  expect([await sent(to, 'transactional'), await sent(to, 'newsletter')]).toEqual([['queued'], ['suppressed']])
})

test('who leaves a stream while its mail waits gets none of it, and mail of other streams still comes', async () => {
  const to = 'eve@late.remote.example'
  const others = `bob@late.remote.example`
  const scheduled_at = new Date(server.clock.now() + 60_000).toISOString()
  const waiting = (stream: string) => server.send({ to: [to, others], stream, scheduled_at, tags: ['late'] })
  const [news, reset] = [(await waiting('newsletter')).body.id, (await waiting('transactional')).body.id]
  await leave(to, 'newsletter')
  await server.toNextAttempt(news)
  const [left, kept] = [await server.ended(news), await server.ended(reset)]
  expect([left.status, statusesOf(left), statusesOf(kept)]).toEqual([
    'partial',
    ['suppressed', 'delivered'],
    ['delivered', 'delivered'],
  ])
  expect(left.recipients[0]).toMatchObject({ attempts: 0, last_attempt_at: null, next_attempt_at: null })
  const { data } = (await server.eventsOf(news)).find(({ type }) => type === 'message.suppressed')
  expect(data).toMatchObject({ to, reason: 'unsubscribe', stream: 'newsletter', suppression_stream: 'newsletter' })
  expect(Date.parse(data.suppressed_at)).toBeGreaterThanOrEqual(Date.parse(scheduled_at))
  const { totals } = await server.read('/v1/stats?tag=late')
  expect(totals).toMatchObject({ accepted: 4, delivered: 3, suppressed: 1, bounced: 0, deferred: 0 })

  const explanation = async () => (await server.read(`/v1/messages/${news}/explain`)).recipients[0].explanation
  expect(await explanation()).toEqual([
    `${to} was suppressed after the message was accepted. Postrider ended the delivery at ${data.suppressed_at}, when attempt 1 was due.`,
    expect.stringContaining('in the stream newsletter: the recipient unsubscribed, since'),
    'Remove the suppression to send again.',
  ])
  await server.ask('DELETE', `/v1/suppressions/${to}`)
  expect((await explanation()).join()).toContain('Reason: the recipient unsubscribed. It is no longer suppressed')
})
