import { afterAll, beforeAll, expect, test } from 'bun:test'
import { MAIL, openMessageApi, START } from './messages-setup.ts'

let server: Awaited<ReturnType<typeof openMessageApi>>
beforeAll(async () => {
  server = await openMessageApi()
})
afterAll(() => server.close())

const batch = (messages: unknown, more = {}) => server.ask('POST', '/v1/messages/batch', { messages }, more)

test('each message gets its own result in order, and invalid ones affect no other', async () => {
  const answer = await batch([
    MAIL,
    { ...MAIL, to: 'bad', subject: '' },
    { ...MAIL, from: 'a@other.example' },
    'no message',
    null,
    { ...MAIL, subject: 'last', scheduled_at: '2026-11-22T00:00:00Z' },
  ])
  expect(answer.status).toBe(202)
  const { data } = answer.body
  expect(data.map((each: { error?: { code: string }; status?: string }) => each.error?.code ?? each.status)).toEqual([
    'queued',
    'validation_error',
    'forbidden',
    'validation_error',
    'validation_error',
    'scheduled',
  ])
  expect(data[1].error.errors.map((each: { field: string }) => each.field)).toEqual(['to', 'subject'])
  expect(data[1].error.details.request_id).toBe(answer.headers.get('x-request-id'))
  expect(data[2].error.field).toBe('from')
  expect(data[3].error.field).toBe('message')
  expect(data[5].scheduled_at).toBe('2026-11-22T00:00:00.000Z')
  const { body } = await server.ask('GET', '/v1/messages')
  expect(body.data.length).toBe(2)
})

test('500 messages are accepted in one call and wake the delivery loop once', async () => {
  const before = server.woken.outbound
  const answer = await batch(Array.from({ length: 500 }, (_, i) => ({ ...MAIL, subject: `no ${i}` })))
  expect(answer.status).toBe(202)
  expect(new Set(answer.body.data.map((each: { id: string }) => each.id)).size).toBe(500)
  expect(server.woken.outbound).toBe(before + 1)
})

test.each([
  [[], 'messages'],
  [Array(501).fill(MAIL), 'messages'],
  [{}, 'messages'],
  [undefined, 'messages'],
])('an invalid batch is 400', async (messages, field) => {
  const answer = await batch(messages)
  expect([answer.status, answer.body.error.field]).toEqual([400, field])
})

test('an unknown field beside messages gets 400', async () => {
  const answer = await server.ask('POST', '/v1/messages/batch', { messages: [MAIL], from: 'x' })
  expect([answer.status, answer.body.error.field]).toEqual([400, 'from'])
})

test('beyond the monthly limit, the first messages that fit are accepted', async () => {
  const tight = await openMessageApi({ plan: { messagesPerMonth: 5 } })
  await tight.send(MAIL)
  const to = (count: number) => ({ ...MAIL, to: Array.from({ length: count }, (_, i) => `r${i}@remote.example`) })
  const fates = async (...sizes: number[]) => {
    const { status, body } = await tight.ask('POST', '/v1/messages/batch', { messages: sizes.map(to) })
    expect(status).toBe(202)
    return body.data.map((each: { error?: { code: string }; status?: string }) => each.error?.code ?? each.status)
  }
  expect(await fates(9)).toEqual(['quota_exceeded'])
  expect(await fates(2, 3, 1)).toEqual(['queued', 'quota_exceeded', 'queued'])
  expect(await fates(2, 1, 1)).toEqual(['quota_exceeded', 'queued', 'quota_exceeded'])
  expect(await fates(1)).toEqual(['quota_exceeded'])
  const last = await tight.ask('POST', '/v1/messages/batch', { messages: [to(50)] })
  expect(last.body.data[0].error.details).toMatchObject({ limit: 5, used: 5, resets_at: '2026-12-01T00:00:00.000Z' })
  await tight.close()
})

test('a batch with a test key simulates each message', async () => {
  const messages = ['ann', 'bounce', 'suppressed'].map((name) => ({ ...MAIL, to: `${name}@remote.example` }))
  const { body } = await batch(messages, { key: server.keys.test })
  expect(body.data.map((each: { status: string }) => each.status)).toEqual(['delivered', 'bounced', 'suppressed'])
})

// threat: malformed-requests
test('templates of a batch share one work budget: messages beyond it are refused, those without a template accepted', async () => {
  const html = '{% for i in (1..100000) %}{{ a | slugify: "latin" }}{% endfor %}'
  const texts = { subject: 'x', html, text: null }
  const { organizationId } = server
  const id = server.mintId('tpl')
  const times = { createdAt: START, updatedAt: START }
  await server.store.templates.create({
    id,
    organizationId,
    mode: 'live',
    kind: 'message',
    alias: null,
    name: 'n',
    sample: {},
    ...texts,
    variables: [],
    layout: null,
    mjml: null,
    uses: [],
    locales: {},
    version: 1,
    ...times,
  })
  const costly = { from: MAIL.from, to: MAIL.to, template_id: id, variables: { a: 'é<'.repeat(6000) } }
  const { body } = await batch([...Array(200).fill(costly), MAIL])
  const messages = body.data.map((each: { error?: { message: string } }) => each.error?.message ?? null)
  const own = messages.filter((message: string | null) => message?.includes('rendering budget of a message'))
  const together = messages.filter((message: string | null) => message?.includes('shared rendering budget'))
  expect([own.length > 10, own.length < 30, own.length + together.length]).toEqual([true, true, 200])
  expect(messages.at(-1)).toBeNull()
}) // takes seconds, more on a busy machine
