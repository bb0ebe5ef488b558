import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { MAIL, openMessageApi } from './messages-setup.ts'

let server: Awaited<ReturnType<typeof openMessageApi>>
beforeAll(async () => {
  server = await openMessageApi()
})
afterAll(() => server.close())

const NOW = '2026-11-21T12:00:00.000Z'
const send = (mail: object) => server.send({ ...MAIL, ...mail }, { key: server.keys.test })
// biome-ignore lint/suspicious/noExplicitAny: events as they are on the wire
const eventsOf = async (id: string): Promise<any[]> =>
  (await server.ask('GET', `/v1/messages/${id}/events`)).body.data.reverse()

const OUTCOMES: [name: string, status: string, attempts: number, events: string[]][] = [
  ['ann', 'delivered', 1, ['delivered']],
  ['bounce', 'bounced', 1, ['bounced']],
  ['bounce+42', 'bounced', 1, ['bounced']],
  ['BOUNCE', 'bounced', 1, ['bounced']],
  ['softbounce', 'bounced', 1, ['bounced']],
  ['defer', 'delivered', 2, ['deferred', 'delivered']],
  ['complain', 'delivered', 1, ['delivered', 'complained']],
  ['open', 'delivered', 1, ['delivered', 'opened']],
  ['click', 'delivered', 1, ['delivered', 'opened', 'clicked']],
  ['unsubscribe', 'delivered', 1, ['delivered', 'unsubscribed']],
  ['suppressed', 'suppressed', 0, ['suppressed']],
]

describe('with a test key the local part decides:', () => {
  test.each(OUTCOMES)('%s@ is %s after %p attempts', async (name, status, attempts, events) => {
    const answer = await send({ to: `${name}@remote.example` })
    const recipient = { email: `${name}@remote.example`, type: 'to', status }
    expect([answer.status, answer.body.status, answer.body.recipients]).toEqual([202, status, [recipient]])

    const { body: record } = await server.ask('GET', `/v1/messages/${answer.body.id}`)
    expect(record.mode).toBe('test')
    expect(record.recipients[0]).toMatchObject({ status, attempts, next_attempt_at: null })
    expect(record.recipients[0].delivered_at).toBe(status === 'delivered' ? NOW : null)

    const published = await eventsOf(answer.body.id)
    expect(published.map((event) => event.type)).toEqual(events.map((type) => `message.${type}`))
    expect(published.map((event) => event.id).sort()).toEqual(published.map((event) => event.id))
    for (const { data } of published) {
      expect(data).toMatchObject({ message_id: answer.body.id, to: recipient.email, from: MAIL.from, mode: 'test' })
    }
    const { body: tried } = await server.ask('GET', `/v1/messages/${answer.body.id}/attempts`)
    expect(tried.data.map((attempt: { number: number }) => attempt.number)).toEqual([2, 1].slice(2 - attempts))
    for (const attempt of tried.data) expect(attempt.transcript).toContain('simulated')
  })
})

test('the events carry every field of their kind', async () => {
  const html = '<p><a href="mailto:x@y.example">m</a> <a href="https://shop.example/a?b=1&amp;c=2">go</a></p>'
  const fieldsOf = async (name: string) => {
    const { body } = await send({ to: `${name}@remote.example`, html, metadata: { order: 1 }, tags: ['t'] })
    return (await eventsOf(body.id)).map(({ type, timestamp, data }) => {
      const { message_id, from, to, subject, metadata, tags, mode, ...fields } = data
      expect({ timestamp, metadata, tags, subject }).toEqual({
        timestamp: NOW,
        metadata: { order: 1 },
        tags: ['t'],
        subject: 'Hello',
      })
      return [type.slice('message.'.length), fields]
    })
  }
  const browser = { user_agent: expect.stringContaining('Mozilla/5.0'), ip_address: '192.0.2.1' }
  expect(await fieldsOf('click')).toEqual([
    ['delivered', { delivered_at: NOW, smtp_response: expect.stringContaining('250 2.0.0') }],
    ['opened', { opened_at: NOW, ...browser, machine: false }],
    ['clicked', { clicked_at: NOW, url: 'https://shop.example/a?b=1&c=2', ...browser, machine: false }],
  ])
  expect((await fieldsOf('complain')).at(-1)).toEqual(['complained', { complained_at: NOW, feedback_type: 'abuse' }])
  expect((await fieldsOf('unsubscribe')).at(-1)).toEqual([
    'unsubscribed',
    { unsubscribed_at: NOW, method: 'one_click', ...browser },
  ])
  expect((await fieldsOf('bounce')).at(-1)).toEqual([
    'bounced',
    {
      bounce_type: 'hard',
      bounce_code: '5.1.1',
      bounce_message: expect.stringContaining('550 5.1.1'),
      bounced_at: NOW,
      will_retry: false,
    },
  ])
  expect((await fieldsOf('softbounce')).at(-1)).toMatchObject(['bounced', { bounce_type: 'soft', will_retry: false }])
  expect((await fieldsOf('defer'))[0]).toEqual([
    'deferred',
    { deferred_at: NOW, attempt: 1, next_attempt_at: NOW, smtp_response: expect.stringContaining('451 4.3.2') },
  ])
})

test('recipients of one message differ, and the message is partial', async () => {
  const answer = await send({ to: ['ann@r.example', 'bounce@r.example'], bcc: 'suppressed@r.example' })
  expect(answer.body.status).toBe('partial')
  expect(answer.body.recipients.map((each: { status: string }) => each.status)).toEqual([
    'delivered',
    'bounced',
    'suppressed',
  ])
})

test('a simulated bounce suppresses no address', async () => {
  await send({ to: ['bounce@remote.example', 'complain@remote.example', 'unsubscribe@remote.example'] })
  const live = await server.send({
    ...MAIL,
    to: ['bounce@remote.example', 'complain@remote.example', 'unsubscribe@remote.example'],
  })
  expect(live.body.recipients.map((each: { status: string }) => each.status)).toEqual(['queued', 'queued', 'queued'])
})

test('events wake the webhooks, and nothing wakes the delivery loop', async () => {
  const before = { ...server.woken }
  await send({})
  expect(server.woken).toEqual({ ...before, webhooks: before.webhooks + 1 })
})

test('the mail is composed and signed, and can be read back', async () => {
  const { body } = await send({})
  const raw = await server.ask('GET', `/v1/messages/${body.id}/content?part=raw`)
  expect(raw.text.match(/^DKIM-Signature:/gm)?.length).toBe(2)
  expect(raw.text).toContain('Subject: Hello\r\n')
})

test('scheduled test mail waits like live mail, and can be cancelled', async () => {
  const answer = await send({ scheduled_at: '2026-11-22T12:00:00Z' })
  expect([answer.body.status, answer.body.recipients[0].status]).toEqual(['scheduled', 'scheduled'])
  expect((await server.ask('POST', `/v1/messages/${answer.body.id}/cancel`)).body.status).toBe('cancelled')
})

test('suppressed@ is suppressed at once, also for scheduled test mail', async () => {
  const to = ['suppressed@remote.example', 'ann@remote.example']
  const { body } = await send({ to, scheduled_at: '2026-11-22T12:00:00Z' })
  expect(body.recipients.map((each: { status: string }) => each.status)).toEqual(['suppressed', 'scheduled'])
})
