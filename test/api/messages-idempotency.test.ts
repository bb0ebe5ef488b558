import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requestOf } from '../support/submission-request.ts'
import { MAIL, openMessageApi, START } from './messages-setup.ts'

let server: Awaited<ReturnType<typeof openMessageApi>>
beforeAll(async () => {
  server = await openMessageApi()
})
afterAll(() => server.close())

let keys = 0
const fresh = () => ({ headers: { 'idempotency-key': `key-${keys++}` } })
const count = async () => (await server.store.messages.list(everything(), { limit: 100, after: null })).records.length

describe('the same request with the same Idempotency-Key', () => {
  test('gets the first answer byte for byte, and creates one message', async () => {
    const before = await count()
    const more = fresh()
    const first = await server.send(MAIL, more)
    await server.clock.advance(5000)
    const second = await server.send(MAIL, more)
    expect([first.status, second.status, second.text]).toEqual([202, 202, first.text])
    expect([first.headers.get('idempotent-replayed'), second.headers.get('idempotent-replayed')]).toEqual([
      null,
      'true',
    ])
    expect(await count()).toBe(before + 1)
  })

  test('is the same at /v1/send as at /v1/messages/send', async () => {
    const more = fresh()
    const first = await server.send(MAIL, more)
    expect((await server.ask('POST', '/v1/send', MAIL, more)).text).toBe(first.text)
  })

  test('waits for the first when they run at once', async () => {
    const before = await count()
    const more = fresh()
    const responses = await Promise.all(Array.from({ length: 20 }, () => server.send(MAIL, more)))
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1)
    expect(responses.every(({ status }) => status === 202)).toBe(true)
    expect(responses.filter(({ headers }) => headers.get('idempotent-replayed') === 'true').length).toBe(19)
    expect(await count()).toBe(before + 1)
  })

  test('gets that answer after a restart too', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'postrider-'))
    const first = await openMessageApi({ dataDir })
    const more = { ...fresh(), key: first.keys.live }
    const answer = await first.send(MAIL, more)
    await first.close()
    const second = await openMessageApi({ dataDir })
    const again = await second.send(MAIL, more)
    expect([again.status, again.text]).toEqual([202, answer.text])
    expect((await second.ask('GET', '/v1/messages')).body.data.length).toBe(1)
    await second.close()
    rmSync(dataDir, { recursive: true })
  })

  test('counts once against the month', async () => {
    const tight = await openMessageApi({ plan: { messagesPerMonth: 1 } })
    const more = fresh()
    await tight.send(MAIL, more)
    expect((await tight.send(MAIL, more)).status).toBe(202)
    expect((await tight.send(MAIL)).status).toBe(422)
    await tight.close()
  })
})

test('the same Idempotency-Key with another body is a conflict', async () => {
  const more = fresh()
  await server.send(MAIL, more)
  const other = await server.send({ ...MAIL, subject: 'Other' }, more)
  expect([other.status, other.body.error.code, other.body.error.details.reason]).toEqual([
    409,
    'conflict',
    'idempotency_key_reused',
  ])
})

test('a refused request is not stored', async () => {
  const more = fresh()
  expect((await server.send({ ...MAIL, from: 'a@other.example' }, more)).status).toBe(403)
  expect((await server.send({ ...MAIL, subject: '' }, more)).status).toBe(400)
  expect((await server.send(MAIL, more)).status).toBe(202)
})

test('two organizations may use the same key', async () => {
  const more = fresh()
  const ours = await server.send(MAIL, more)
  const theirs = await server.send({ ...MAIL, from: 'a@other.example' }, { ...more, key: server.keys.other })
  expect([ours.status, theirs.status]).toEqual([202, 202])
})

describe('with Prefer: wait', () => {
  const waiting = () => ({ headers: { 'idempotency-key': `key-${keys++}`, prefer: 'wait=5' } })

  test('a repetition gets the final answer of the first call', async () => {
    const more = waiting()
    const pending = server.send(MAIL, more)
    await server.clock.untilSleeping()
    await server.clock.advance(5000)
    const first = await pending
    const second = await server.send(MAIL, more)
    expect([first.status, second.status, second.text]).toEqual([200, 200, first.text])
  })

  test('a concurrent repetition waits as well', async () => {
    const more = waiting()
    const both = [server.send(MAIL, more), server.send(MAIL, more)]
    await server.clock.untilSleeping(2)
    await server.clock.advance(5000)
    const [first, second] = await Promise.all(both)
    expect([first!.status, second!.status, second!.text]).toEqual([200, 200, first!.text])
  })

  test('sandbox mail is stored with its 200', async () => {
    const more = { ...waiting(), key: server.keys.test }
    const first = await server.send(MAIL, more)
    const second = await server.send(MAIL, more)
    expect([first.status, first.body.status, second.status, second.text]).toEqual([200, 'delivered', 200, first.text])
  })
})

test('a batch is stored as a whole, with its refused messages', async () => {
  const more = fresh()
  const messages = [MAIL, { ...MAIL, to: 'bad' }, MAIL]
  const before = await count()
  const first = await server.ask('POST', '/v1/messages/batch', { messages }, more)
  const second = await server.ask('POST', '/v1/messages/batch', { messages }, more)
  expect([first.status, second.status, second.text]).toEqual([202, 202, first.text])
  expect(await count()).toBe(before + 2)
})

test('sending again is stored', async () => {
  const { body } = await server.send(MAIL)
  const more = fresh()
  const before = await count()
  const first = await server.ask('POST', `/v1/messages/${body.id}/resend`, undefined, more)
  const second = await server.ask('POST', `/v1/messages/${body.id}/resend`, undefined, more)
  expect([first.status, second.text]).toEqual([202, first.text])
  expect(await count()).toBe(before + 1)
})

test('when its answer cannot be written, a message is rolled back', async () => {
  const { store, submission } = server
  const key = { id: 'key_x', organizationId: server.organizationId, domainId: server.domainId, mode: 'live' as const }
  const before = await count()
  const broken = { organizationId: server.organizationId, keyHash: null as never, requestHash: new Uint8Array(32) }
  const sending = submission.submit({ key, source: 'api' }, requestOf(), () => {
    return { ...broken, status: 202, body: new Uint8Array(), createdAt: START }
  })
  await expect(sending).rejects.toThrow()
  expect(await count()).toBe(before)
  await store.checkWritable()
})

function everything() {
  return {
    organizationId: server.organizationId,
    status: null,
    to: null,
    from: null,
    subject: null,
    tag: null,
    metadata: [],
    templateId: null,
    domainId: null,
    mode: null,
    text: null,
    createdAfter: null,
    createdBefore: null,
  }
}
