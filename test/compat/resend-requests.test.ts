import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { request } from 'node:http'
import { simpleParser } from 'mailparser'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, type Json, startTestServer, type TestServer } from '../support/server.ts'

/** Requests of Resend's Python client that differ from those of the npm package: the whole argument as the body of a
 *  PATCH, bytes as a list of numbers, and a JSON body with every GET and DELETE. */

const MAIL = { from: `Shop <shop@${DOMAIN}>`, to: ['ann@one.remote.example'], subject: 'Hello', html: '<p>Hi Ann</p>' }
const PDF = Buffer.from('%PDF-1.4 \xff\x00 bill', 'latin1')

let remote: RemoteMx
let server: TestServer

beforeAll(async () => {
  remote = await startRemoteMx()
  server = await startTestServer({ remote })
})
afterAll(async () => {
  await server.close()
  await remote.stop()
})

interface ApiResponse {
  status: number
  body: Json
}

/** Sends a body with any method; fetch refuses one with GET. */
function ask(
  method: string,
  path: string,
  body: unknown = {},
  headers: Record<string, string> = {},
): Promise<ApiResponse> {
  const text = JSON.stringify(body)
  const [host, port] = server.running().listening.http!.split(':')
  const sent = {
    accept: 'application/json',
    authorization: `Bearer ${server.keys.live}`,
    'user-agent': 'resend-python:2.30.0',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(text)),
    ...headers,
  }
  return new Promise((resolve, reject) => {
    const options = { host, port, method, path: `/compat/resend${path}`, headers: sent }
    const asked = request(options, async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk)
      resolve({ status: response.statusCode!, body: JSON.parse(Buffer.concat(chunks).toString()) })
    })
    asked.on('error', reject)
    asked.end(text)
  })
}

async function done(answer: Promise<ApiResponse>): Promise<Json> {
  const { status, body } = await answer
  expect([status, body]).toEqual([200, body])
  return body
}

describe('a PATCH repeats the id of the path', () => {
  test('of an email', async () => {
    const { id } = await done(ask('POST', '/emails', { ...MAIL, scheduled_at: 'in 1 hour' }))
    const change = { id, scheduled_at: '2026-11-22T09:00:00Z' }
    expect(await done(ask('PATCH', `/emails/${id}`, change))).toEqual({ object: 'email', id })
    expect((await done(ask('GET', `/emails/${id}`))).scheduled_at).toBe('2026-11-22T09:00:00.000Z')
    expect(await done(ask('POST', `/emails/${id}/cancel`))).toEqual({ object: 'email', id })
  })

  test('of a domain', async () => {
    const { id } = await done(ask('POST', '/domains', { name: 'patched.example' }))
    const change = { id, open_tracking: true, tracking_subdomain: 'links' }
    expect(await done(ask('PATCH', `/domains/${id}`, change))).toEqual({ object: 'domain', id })
    const changed = await done(ask('GET', `/domains/${id}`))
    expect(changed).toMatchObject({ open_tracking: true, tracking_subdomain: 'links' })
    expect(await done(ask('DELETE', `/domains/${id}`))).toEqual({ object: 'domain', id, deleted: true })
  })

  test.each(['webhook_id', 'id'])('of a webhook, as %s', async (field) => {
    const events = ['email.bounced']
    const { id } = await done(ask('POST', '/webhooks', { endpoint: server.receiver.url, events }))
    const change = { [field]: id, events: ['email.delivered'], status: 'disabled' }
    expect(await done(ask('PATCH', `/webhooks/${id}`, change))).toEqual({ object: 'webhook', id })
    expect(await done(ask('GET', `/webhooks/${id}`))).toMatchObject({ events: ['email.delivered'], status: 'disabled' })
    await done(ask('DELETE', `/webhooks/${id}`))
  })

  test('of an API key', async () => {
    const { id } = await done(ask('POST', '/api-keys', { name: 'old' }))
    expect(await done(ask('PATCH', `/api-keys/${id}`, { id, name: 'new' }))).toEqual({ object: 'api_key', id })
    const { data } = await done(ask('GET', '/api-keys'))
    expect(data.find((key: Json) => key.id === id).name).toBe('new')
  })

  test('and of no other resource', async () => {
    const { id } = await done(ask('POST', '/emails', { ...MAIL, scheduled_at: 'in 1 hour' }))
    const change = { id: `msg_${'0'.repeat(26)}`, scheduled_at: 'in 2 hours' }
    const { status, body } = await ask('PATCH', `/emails/${id}`, change)
    expect([status, body.message]).toEqual([422, 'id must match the ID in the path'])
    expect((await done(ask('GET', `/emails/${id}`))).scheduled_at).toBe('2026-11-21T13:00:00.000Z')
  })
})

describe('an attachment', () => {
  const files = async (id: string) => {
    await server.ended(id)
    const { attachments } = await simpleParser(Buffer.from(remote.mails.at(-1)!.raw))
    return attachments.map(({ filename, content, cid }) => ({ filename, content: content.toString('latin1'), cid }))
  }
  const LARGE = Buffer.alloc(100_000, 'large ')
  const contents: [what: string, content: unknown, bytes: Buffer][] = [
    ['a list of numbers', [...PDF], PDF],
    ['an empty list', [], Buffer.alloc(0)],
    ['a Buffer as JSON serializes it', PDF, PDF],
    ['base64', PDF.toString('base64'), PDF],
    ['a long list of numbers', [...LARGE], LARGE],
    ['long base64', LARGE.toString('base64'), LARGE],
  ]
  test.each(contents)('is %s', async (_, content, bytes) => {
    const attachments = [{ filename: 'bill.pdf', content }]
    const { id } = await done(ask('POST', '/emails', { ...MAIL, attachments }))
    expect(await files(id)).toEqual([{ filename: 'bill.pdf', content: bytes.toString('latin1'), cid: undefined }])
  })

  test('is in an email of a batch, short or long', async () => {
    for (const bytes of [PDF, LARGE]) {
      for (const content of [[...bytes], bytes.toString('base64')]) {
        const email = { ...MAIL, attachments: [{ filename: 'bill.pdf', content }] }
        const { data } = await done(ask('POST', '/emails/batch', [email], { 'x-batch-validation': 'permissive' }))
        expect((await files(data[0].id))[0]!.content).toBe(bytes.toString('latin1'))
      }
    }
  })

  test('has its content id by either name', async () => {
    const content = [...PDF]
    const attachments = [
      { filename: 'a.png', content, inline_content_id: 'one' },
      { filename: 'b.png', content, content_id: 'two', inline_content_id: 'no' },
    ]
    const { id } = await done(ask('POST', '/emails', { ...MAIL, html: '<img src="cid:one">', attachments }))
    expect((await files(id)).map(({ cid }) => cid)).toEqual(['one', 'two'])
  })

  const wrong = [[256], [-1], [1.5], ['1'], [null], { type: 'Buffer', data: ['1'] }, { type: 'Buffer' }, 5, {}, true]
  test.each(wrong.map((content) => [JSON.stringify(content), content]))('is never %s', async (_, content) => {
    const attachments = [{ filename: 'bill.pdf', content }]
    const { status, body } = await ask('POST', '/emails', { ...MAIL, attachments })
    expect([status, body.name]).toEqual([422, 'invalid_attachment'])
    expect(body.message).toBe('attachments[0].content must be base64, or an array of numbers from 0 to 255')
  })
})

describe('suppressions', () => {
  const a = 'a@one.remote.example'
  const b = 'b@one.remote.example'
  const add = (emails: string[]) => ask('POST', '/suppressions/batch/add', { emails })
  const left = async () => (await done(ask('GET', '/suppressions?limit=100'))).data.map(({ email }: Json) => email)

  test('are added and removed in batches, each counted once', async () => {
    const { id } = await done(ask('POST', '/suppressions', { email: a }))
    const { data } = await done(add([a, b, 'B@One.remote.example']))
    expect(data).toEqual([
      { object: 'suppression', id },
      { object: 'suppression', id: data[1].id },
    ])
    expect((await left()).toSorted()).toEqual([a, b])
    expect(await done(add([a, b]))).toEqual({ data })
    const gone = data.map((record: Json) => ({ ...record, deleted: true }))
    const none = [`sup_${'0'.repeat(26)}`, 'none']
    const removed = await done(ask('POST', '/suppressions/batch/remove', { ids: [...none, data[0].id, data[1].id] }))
    expect(removed).toEqual({ data: gone })
    expect(await left()).toEqual([])
    await done(add([a, b]))
    const byEmail = await done(ask('POST', '/suppressions/batch/remove', { emails: [b, 'c@one.remote.example'] }))
    expect(byEmail.data).toEqual([{ object: 'suppression', id: expect.stringMatching(/^sup_/), deleted: true }])
    expect(await left()).toEqual([a])
    await done(ask('DELETE', `/suppressions/${encodeURIComponent(a)}`))
  })

  test('are added all or none when one address is invalid', async () => {
    const { status, body } = await add([a, 'nobody'])
    expect([status, body.message]).toEqual([422, 'emails[1] must be an email address'])
    expect(await left()).toEqual([])
  })

  test('are one entry of the audit log for a batch, by its operation', async () => {
    await done(add([a, b]))
    const { data } = await server.read('/v1/audit-log?limit=2')
    expect(data[0]).toMatchObject({ action: 'resend_suppressions_batch_add', fields: ['emails'], outcome: 'done' })
    expect(data[1].request_id).not.toBe(data[0].request_id)
    await done(ask('POST', '/suppressions/batch/remove', { emails: [a, b] }))
  })

  test('are at most a hundred at once, and selected by address or by id', async () => {
    const many = Array.from({ length: 101 }, (_, at) => `a${at}@one.remote.example`)
    const bad = [{}, { emails: [] }, { emails: many }, { emails: [a], ids: ['sup_1'] }, { ids: [a] }]
    for (const body of bad) expect((await ask('POST', '/suppressions/batch/remove', body)).status).toBe(422)
    expect((await add(many)).status).toBe(422)
    expect((await done(add(many.slice(1)))).data).toHaveLength(100)
    expect((await done(ask('POST', '/suppressions/batch/remove', { emails: many.slice(1) }))).data).toHaveLength(100)
  })

  test('of the origin `manual` are those by hand and by unsubscribing, in pages', async () => {
    const reasons = ['manual', 'unsubscribe', 'hard_bounce', 'unsubscribe', 'manual', 'complaint', 'manual']
    const made = new Map<string, string>()
    for (const [at, reason] of reasons.entries()) {
      const { body } = await server.ask('POST', '/v1/suppressions', { email: `m${at}@one.remote.example`, reason })
      made.set(body.id, reason)
    }
    // The clock is stopped, so the records are in the order of their IDs.
    const ids = [...made.keys()].toSorted().toReversed()
    const of = (...reasons: string[]) => ids.filter((id) => reasons.includes(made.get(id)!))
    const page = async (query: string) => {
      const { data, has_more } = await done(ask('GET', `/suppressions?origin=${query}`))
      return { ids: data.map(({ id }: Json) => id), has_more, origins: new Set(data.map(({ origin }: Json) => origin)) }
    }
    const manual = of('manual', 'unsubscribe')
    expect(manual).toHaveLength(5)
    expect(await page('manual')).toEqual({ ids: manual, has_more: false, origins: new Set(['manual']) })
    expect(await page('manual&limit=2')).toMatchObject({ ids: manual.slice(0, 2), has_more: true })
    expect(await page(`manual&limit=2&after=${manual[1]}`)).toMatchObject({ ids: manual.slice(2, 4), has_more: true })
    expect(await page(`manual&limit=2&after=${manual[3]}`)).toMatchObject({ ids: manual.slice(4), has_more: false })
    expect(await page(`manual&limit=2&before=${manual[4]}`)).toMatchObject({ ids: manual.slice(2, 4), has_more: true })
    expect((await page('bounce')).ids).toEqual(of('hard_bounce'))
    expect((await page('complaint')).ids).toEqual(of('complaint'))
    await done(ask('POST', '/suppressions/batch/remove', { ids }))
  })

  // threat: compatible-api-permissions
  test('of another domain are left out of a batch like missing ones', async () => {
    const { id: other } = (await server.ask('POST', '/v1/domains', { name: 'other.example' })).body
    const theirs = await server.ask('POST', '/v1/suppressions', { email: a, domain_id: other })
    const key = await server.ask('POST', '/v1/api-keys', {
      name: 'manager',
      domain_id: (await server.read('/v1/api-keys?limit=1')).data[0].domain_id,
      permissions: ['manage', 'read'],
    })
    const as = { authorization: `Bearer ${key.body.key}` }
    for (const body of [{ ids: [theirs.body.id] }, { emails: [a] }]) {
      expect(await done(ask('POST', '/suppressions/batch/remove', body, as))).toEqual({ data: [] })
    }
    const { data } = await done(ask('POST', '/suppressions/batch/add', { emails: [a] }, as))
    expect(data[0].id).not.toBe(theirs.body.id)
    await done(ask('POST', '/suppressions/batch/remove', { ids: [theirs.body.id, data[0].id] }))
    await server.ask('DELETE', `/v1/domains/${other}`)
  })
})
