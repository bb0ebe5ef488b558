import { afterEach, describe, expect, test } from 'bun:test'
import { signInbound, signResend, verifySignature } from '../../src/events/webhooks/sign.ts'
import { createEvent, EVENT_TYPES } from '../../src/model/event.ts'
import { requestHead } from '../../src/net/https/request-bytes.ts'
import { createTestApi, START, type TestApi } from '../support/api.ts'
import { claimDue } from '../support/claim.ts'

let made: TestApi | null = null

afterEach(async () => {
  await made?.close()
  made = null
})

const start = async () => {
  made = await createTestApi()
  return made
}
const URL = 'https://hooks.example.com/in'
const REFUSED_NAMES = [
  ...['', 'X Api Key', 'X-Äpi', 'X-Key:', 'X-Key\r\nY', 'a'.repeat(101)],
  ...['Host', 'content-length', 'Content-Type', 'Content-Encoding', 'CONTENT_LENGTH', 'User-Agent', 'Accept', 'Expect'],
  ...[
    'Connection',
    'Keep-Alive',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'Proxy-Authorization',
    'HTTP2-Settings',
  ],
  ...['X-Service-Signature', 'x-inbound-timestamp', 'X-Postrider-Anything', 'webhook-id', 'Svix-Signature'],
]
const REFUSED_VALUES = [
  ...[
    '',
    ' canary',
    'canary ',
    'canary\r\nX-B: c',
    'canary\n',
    'canary\0',
    'canary\tb',
    'canary\x7f',
    'canary é',
    'canary\u2028',
  ],
  ...['canary'.repeat(700), 7, null, ['canary'], { canary: 1 }],
]
const create = async ({ ask }: TestApi, change: Record<string, unknown> = {}) =>
  ask('POST', '/v1/webhooks', { body: { url: URL, events: ['message.bounced'], ...change } })

describe('a webhook', () => {
  test('is created active, and its secret is shown once', async () => {
    const api = await start()
    const answer = await create(api, { description: 'shop' })
    expect(answer.status).toBe(201)
    const { secret, ...record } = answer.body
    expect(record).toEqual({
      id: record.id,
      url: URL,
      events: ['message.bounced'],
      format: 'enveloped',
      status: 'active',
      mode: 'live',
      domain_id: api.own.domain.id,
      description: 'shop',
      header_names: [],
      disabled_reason: null,
      created_at: '2026-11-21T12:00:00.000Z',
      updated_at: '2026-11-21T12:00:00.000Z',
      last_success_at: null,
      last_failure_at: null,
      consecutive_failures: 0,
    })
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect((await api.ask('GET', `/v1/webhooks/${record.id}`)).body).toEqual(record)
    expect((await api.ask('GET', '/v1/webhooks')).body).toEqual({ data: [record], has_more: false, next_cursor: null })
    expect((await api.store.webhooks.secrets(record.id))?.secret).toBe(secret)
  })

  const bad: [Record<string, unknown>, string[]][] = [
    [{ url: 'http://hooks.example.com/' }, ['url']],
    [{ url: 'https://127.0.0.1/' }, ['url']],
    [{ url: 'https://[::ffff:10.0.0.1]/' }, ['url']],
    [{ url: 'https://2130706433/' }, ['url']],
    [{ url: 'https://localhost/' }, ['url']],
    [{ url: 'https://user:pw@hooks.example.com/' }, ['url']],
    [{ url: 'https://hooks.example.com:25/' }, ['url']],
    [{ url: 'nonsense', events: [] }, ['url', 'events']],
    [{ url: undefined, events: undefined }, ['url', 'events']],
    [{ events: ['message.bounced', 'message.bounced'] }, ['events']],
    [{ events: ['message.sent'] }, ['events[0]']],
    [{ status: 'paused', secret: 'mine' }, ['status', 'secret']],
    [{ headers: ['X-Api-Key: a'] }, ['headers']],
    [{ headers: Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`X-${at}`, 'a'])) }, ['headers']],
  ]
  test.each(bad)('with %j gets 400 and names the fields', async (change, fields) => {
    const answer = await create(await start(), change)
    expect(answer.status).toBe(400)
    expect(answer.body.error.errors.map(({ field }: { field: string }) => field)).toEqual(fields)
  })

  // threat: endpoint-headers-forged
  test('refuses headers that are no tokens, of the connection, or its own', async () => {
    const api = await start()
    for (const name of REFUSED_NAMES) {
      const answer = await create(api, { headers: { [name]: 'a', 'X-Other': 'b' } })
      expect([name, answer.status]).toEqual([name, 400])
      expect(answer.body.error.errors).toMatchObject([{ field: `headers.${name}`.replace(/(?<=a{100})a/, '…') }])
    }
  })

  // threat: endpoint-headers-forged
  test('refuses as a header every name that its own requests have, in any spelling', async () => {
    const request = { secrets: { secret: 'whsec_', previous: null }, eventId: 'evt', body: '', attempt: 1, now: START }
    const inbound = await signInbound({
      ...{ secret: 'whsec_', deliveryId: 'ibd', messageId: 'inb', routeId: 'rte' },
      body: new Uint8Array(),
      attempt: 1,
      now: START,
    })
    const parts = {
      method: 'POST',
      path: '/',
      hostHeader: 'a',
      headers: {},
      userAgent: 'b',
      body: new Uint8Array(),
    } as const
    const head = requestHead({ ...parts, keepsAlive: true })
      .toString()
      .split('\r\n')
      .slice(1, -2)
    const names = [...head.map((line) => line.split(':')[0]!), ...Object.keys({ ...signResend(request), ...inbound })]
    expect(names.length).toBeGreaterThan(12)
    const api = await start()
    const { id } = (await create(api)).body
    for (const name of names)
      for (const spelling of [name, name.toLowerCase(), name.toUpperCase().replaceAll('-', '_')]) {
        const answer = await api.ask('PATCH', `/v1/webhooks/${id}`, { body: { headers: { [spelling]: 'a' } } })
        expect([spelling, answer.status]).toEqual([spelling, 400])
      }
  })

  // threat: secrets-exposed
  test('refuses header values that are not one line of ASCII, and does not repeat them', async () => {
    const api = await start()
    for (const value of REFUSED_VALUES) {
      const answer = await create(api, { headers: { 'X-Api-Key': value } })
      expect([value, answer.status]).toEqual([value, 400])
      expect(answer.body.error.errors).toMatchObject([{ field: 'headers.X-Api-Key' }])
      expect(answer.text).not.toContain('canary')
    }
  })

  test('has at most 10 headers with values of up to 4 KiB, and shows their names only', async () => {
    const api = await start()
    const headers = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`X-Key-${at}`, 'a'.repeat(4096)]))
    const made = await create(api, { headers })
    expect(made.body.header_names).toEqual(Object.keys(headers))
    expect(JSON.stringify(made.body)).not.toContain('aaaa')
    const change = (body: object) => api.ask('PATCH', `/v1/webhooks/${made.body.id}`, { body })
    const names = async (body: object) => (await change(body)).body.header_names
    expect(await names({ description: 'x' })).toEqual(Object.keys(headers))
    expect(await names({ headers: { Authorization: 'Bearer a b', "!#$%&'*+.^_`|~-": '~' } })).toEqual([
      'Authorization',
      "!#$%&'*+.^_`|~-",
    ])
    expect(await names({ headers: {} })).toEqual([])
    await change({ headers: { 'X-Api-Key': 'a' } })
    expect(await names({ headers: null })).toEqual([])
    expect((await change({ headers: { 'X-A': 'a', 'x-a': 'b' } })).body.error.errors).toMatchObject([
      { field: 'headers.x-a' },
    ])
  })

  // threat: endpoint-headers-moved
  test('loses its headers with the host of its URL, unless they are given again', async () => {
    const api = await start()
    const headers = { 'X-Api-Key': 'key of the gateway' }
    const { id } = (await create(api, { headers })).body
    const names = async (body: object) => (await api.ask('PATCH', `/v1/webhooks/${id}`, { body })).body.header_names
    expect(await names({ url: `${URL}/other` })).toEqual(['X-Api-Key'])
    expect(await names({ url: 'https://elsewhere.example/', headers })).toEqual(['X-Api-Key'])
    expect(await names({ url: 'https://elsewhere.example:8443/' })).toEqual([])
  })

  // threat: secrets-exposed
  test('with headers leaves neither values nor names in the audit log', async () => {
    const api = await start()
    const headers = { 'X-Canary': 'canary of the gateway' }
    const { id } = (await create(api, { headers })).body
    await api.ask('PATCH', `/v1/webhooks/${id}`, { body: { headers } })
    const { data } = (await api.ask('GET', '/v1/audit-log', { key: api.own.keys.admin })).body
    expect(data.map(({ fields }: { fields: string[] }) => fields)).toEqual([['headers'], ['url', 'events', 'headers']])
    expect(JSON.stringify(data).toLowerCase()).not.toContain('canary')
  })

  test('with an Idempotency-Key is created once, and its secret is shown again', async () => {
    const api = await start()
    const options = { body: { url: URL, events: ['message.bounced'] }, headers: { 'idempotency-key': 'k' } }
    const first = await api.ask('POST', '/v1/webhooks', options)
    expect((await api.ask('POST', '/v1/webhooks', options)).text).toBe(first.text)
    expect((await api.ask('GET', '/v1/webhooks')).body.data).toHaveLength(1)
  })

  test('is changed field by field, paused and started again', async () => {
    const api = await start()
    const { id } = (await create(api, { description: 'a' })).body
    await api.clock.advance(1_000)
    const patch = (body: unknown) => api.ask('PATCH', `/v1/webhooks/${id}`, { body })
    const changed = await patch({ events: ['message.opened', 'message.clicked'], url: `${URL}2`, description: null })
    expect(changed.status).toBe(200)
    expect(changed.body).toMatchObject({
      url: `${URL}2`,
      events: ['message.opened', 'message.clicked'],
      description: null,
      status: 'active',
      updated_at: '2026-11-21T12:00:01.000Z',
    })
    expect((await patch({ status: 'paused' })).body.status).toBe('paused')
    await api.store.webhooks.update(id, { disabledReason: 'answered 410 Gone' }, START)
    expect((await patch({ status: 'paused' })).body.disabled_reason).toBe('answered 410 Gone')
    const wakes = api.wakes()
    expect((await patch({ status: 'active' })).body).toMatchObject({ status: 'active', disabled_reason: null })
    expect(api.wakes()).toBe(wakes + 1)
    expect((await patch({})).status).toBe(200)
    for (const [body, field] of [
      [{ status: 'deleted' }, 'status'],
      [{ url: 'http://x.example/' }, 'url'],
      [{ events: [] }, 'events'],
      [{ secret: 'x' }, 'secret'],
    ] as const) {
      const answer = await patch(body)
      expect([answer.status, answer.body.error.field]).toEqual([400, field])
    }
  })

  test('is deleted once, and then gets 404', async () => {
    const api = await start()
    const { id } = (await create(api)).body
    const gone = await api.ask('DELETE', `/v1/webhooks/${id}`)
    expect([gone.status, gone.body]).toEqual([200, { id, deleted: true }])
    expect((await api.ask('DELETE', `/v1/webhooks/${id}`)).status).toBe(404)
  })

  test('gets a new secret, and the old one stays valid for the grace period', async () => {
    const api = await start()
    const { id, secret: old } = (await create(api)).body
    const body = { grace_period_minutes: 5 }
    const answer = await api.ask('POST', `/v1/webhooks/${id}/rotate-secret`, { body })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ id, previous_secret_expires_at: '2026-11-21T12:05:00.000Z' })
    expect(await api.store.webhooks.secrets(id)).toEqual({
      secret: answer.body.secret,
      previous: { secret: old, expiresAt: START + 300_000 },
    })
    const wrong = await api.ask('POST', `/v1/webhooks/${id}/rotate-secret`, { body: { grace_period_minutes: 10_081 } })
    expect(wrong.body.error.field).toBe('grace_period_minutes')
    const hour = await api.ask('POST', `/v1/webhooks/${id}/rotate-secret`)
    expect(hour.body.previous_secret_expires_at).toBe('2026-11-21T13:00:00.000Z')
  })
})

describe('a test event', () => {
  test.each([...EVENT_TYPES])('%s is queued for this webhook only, marked as a test', async (type) => {
    const api = await start()
    const { id } = (await create(api)).body
    await create(api, { events: [...EVENT_TYPES] })
    const answer = await api.ask('POST', `/v1/webhooks/${id}/test`, { body: { type } })
    expect(answer.status).toBe(202)
    expect(Object.keys(answer.body)).toEqual(['id', 'type', 'timestamp', 'data'])
    expect(answer.body).toMatchObject({ type, data: { test: true } })
    expect(api.wakes()).toBe(1)
    const webhooks = (await api.ask('GET', '/v1/webhooks')).body.data
    for (const webhook of webhooks) {
      const { data } = (await api.ask('GET', `/v1/webhooks/${webhook.id}/deliveries`)).body
      const expected = webhook.id === id ? [[answer.body.id, type, 'pending']] : []
      expect(data.map((each: Record<string, unknown>) => [each.event_id, each.type, each.status])).toEqual(expected)
    }
  })

  test('of an unknown kind gets 400, to a paused webhook 422', async () => {
    const api = await start()
    const { id } = (await create(api)).body
    const path = `/v1/webhooks/${id}/test`
    expect((await api.ask('POST', path, { body: { type: 'message.lost' } })).body.error.field).toBe('type')
    await api.ask('PATCH', `/v1/webhooks/${id}`, { body: { status: 'paused' } })
    const answer = await api.ask('POST', path, { body: { type: 'message.bounced' } })
    expect([answer.status, answer.body.error.code]).toEqual([422, 'invalid_state'])
  })
})

describe('deliveries', () => {
  /** Creates a webhook with a delivery that was retried once and then failed permanently. */
  async function failed() {
    const api = await start()
    const { id } = (await create(api)).body
    await api.ask('POST', `/v1/webhooks/${id}/test`, { body: { type: 'message.bounced' } })
    const [claim] = await claimDue(api.store.webhookDeliveries, {
      now: api.clock.now(),
      limit: 10,
      worker: 'w',
      freeFor: () => 10,
    })
    await api.store.webhookDeliveries.record({
      deliveryId: claim!.id,
      worker: 'w',
      attempt: { number: 1, at: START, durationMs: 12, statusCode: 500, error: null, responseExcerpt: 'oops' },
      status: 'failed',
      nextAttemptAt: null,
      pauseReason: null,
      now: START,
    })
    return { api, id, path: `/v1/webhooks/${id}/deliveries` }
  }

  test('show every attempt', async () => {
    const { api, id, path } = await failed()
    const { body } = await api.ask('GET', path)
    expect(body.data).toEqual([
      {
        id: body.data[0].id,
        webhook_id: id,
        event_id: body.data[0].event_id,
        type: 'message.bounced',
        status: 'failed',
        to: 'recipient@example.net',
        attempts: [
          {
            number: 1,
            at: '2026-11-21T12:00:00.000Z',
            duration_ms: 12,
            status_code: 500,
            error: null,
            response_excerpt: 'oops',
          },
        ],
        next_attempt_at: null,
        created_at: '2026-11-21T12:00:00.000Z',
      },
    ])
    const { request, ...shown } = (await api.ask('GET', `${path}/${body.data[0].id}`)).body
    expect(shown).toEqual(body.data[0])
    expect(JSON.parse(request.body)).toMatchObject({ id: shown.event_id, type: 'message.bounced' })
    const secrets = (await api.store.webhooks.secrets(id))!
    const signature = request.headers['X-Service-Signature']
    expect(verifySignature(signature, request.body, secrets.secret, START)).toBe('valid')
    expect([request.headers['X-Service-Delivery-Attempt'], request.headers['webhook-id']]).toEqual([
      '1',
      shown.event_id,
    ])
    expect((await api.ask('GET', `${path}?status=pending`)).body.data).toEqual([])
    expect((await api.ask('GET', `${path}?status=failed&type=message.bounced`)).body.data).toHaveLength(1)
    expect((await api.ask('GET', `${path}?status=lost`)).body.error.field).toBe('status')
    const webhook = (await api.ask('GET', `/v1/webhooks/${id}`)).body
    expect([webhook.consecutive_failures, webhook.last_failure_at]).toEqual([1, '2026-11-21T12:00:00.000Z'])
  })

  test('have no request before the first attempt', async () => {
    const api = await start()
    const { id } = (await create(api)).body
    await api.ask('POST', `/v1/webhooks/${id}/test`, { body: { type: 'message.bounced' } })
    const path = `/v1/webhooks/${id}/deliveries`
    const [delivery] = (await api.ask('GET', path)).body.data
    expect((await api.ask('GET', `${path}/${delivery.id}`)).body).toEqual({ ...delivery, request: null })
  })

  test('are retried on request, and then wait for their turn', async () => {
    const { api, path } = await failed()
    const [delivery] = (await api.ask('GET', path)).body.data
    await api.clock.advance(1_000)
    const wakes = api.wakes()
    const answer = await api.ask('POST', `${path}/${delivery.id}/retry`)
    expect(answer.status).toBe(202)
    expect(answer.body).toMatchObject({
      id: delivery.id,
      status: 'pending',
      next_attempt_at: '2026-11-21T12:00:01.000Z',
      attempts: delivery.attempts,
    })
    expect(api.wakes()).toBe(wakes + 1)
    expect((await api.ask('POST', `${path}/${delivery.id}/retry`, { body: { now: true } })).status).toBe(400)
  })

  test('of another webhook get 404', async () => {
    const { api, path } = await failed()
    const [delivery] = (await api.ask('GET', path)).body.data
    const { id } = (await create(api)).body
    expect((await api.ask('GET', `/v1/webhooks/${id}/deliveries/${delivery.id}`)).status).toBe(404)
    expect((await api.ask('POST', `/v1/webhooks/${id}/deliveries/${delivery.id}/retry`)).status).toBe(404)
  })

  test('while an attempt is under way cannot be retried: 422', async () => {
    const api = await start()
    const { id } = (await create(api)).body
    await api.ask('POST', `/v1/webhooks/${id}/test`, { body: { type: 'message.bounced' } })
    await claimDue(api.store.webhookDeliveries, { now: START, limit: 1, worker: 'w', freeFor: () => 1 })
    const [delivery] = (await api.ask('GET', `/v1/webhooks/${id}/deliveries`)).body.data
    const answer = await api.ask('POST', `/v1/webhooks/${id}/deliveries/${delivery.id}/retry`)
    expect([answer.status, answer.body.error.code]).toEqual([422, 'invalid_state'])
  })
})

describe('a replay', () => {
  test('queues the past events of the range with their own ids', async () => {
    const api = await start()
    const ids: string[] = []
    const addEvent = async (type: 'message.bounced' | 'message.opened') => {
      const event = createEvent(
        {
          id: api.mintId('evt'),
          type,
          organizationId: api.own.organization.id,
          domainId: api.own.domain.id,
          messageId: null,
          mode: 'live',
          createdAt: api.clock.now(),
        },
        {},
      )
      await api.store.events.append([event])
      await api.clock.advance(1_000)
      ids.push(event.id)
    }
    await addEvent('message.bounced')
    await addEvent('message.opened')
    await addEvent('message.bounced')
    const { id } = (await create(api)).body
    const replay = (body: unknown) => api.ask('POST', `/v1/webhooks/${id}/replay`, { body })
    const range = { from: '2026-11-21T12:00:00Z', to: '2026-11-21T12:00:02Z' }
    expect((await replay({ ...range, type: 'message.opened' })).body).toEqual({ queued: 1 })
    await api.clock.advance(1)
    const rest = await replay({ from: '2026-11-21T12:00:02Z' })
    expect([rest.status, rest.body]).toEqual([202, { queued: 1 }])
    const { data } = (await api.ask('GET', `/v1/webhooks/${id}/deliveries`)).body
    expect(data.map(({ event_id }: { event_id: string }) => event_id)).toEqual([ids[2]!, ids[1]!])
    expect(api.wakes()).toBe(2)
    for (const [body, field] of [
      [{}, 'from'],
      [{ from: range.to, to: range.from }, 'to'],
      [{ ...range, type: 'x' }, 'type'],
      [{ from: 'monday' }, 'from'],
    ] as const) {
      const answer = await replay(body)
      expect([answer.status, answer.body.error.field]).toEqual([400, field])
    }
  })
})
