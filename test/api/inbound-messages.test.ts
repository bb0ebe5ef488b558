import { afterEach, describe, expect, test } from 'bun:test'
import type { InboundDeliveryStatus, InboundMessage } from '../../src/model/inbound-message.ts'
import type { InboundRoute, RouteAction } from '../../src/model/inbound-route.ts'
import { type DeliveryStatus, type Message, NO_SENDER_FIELDS } from '../../src/model/message.ts'
import type { AcceptedMessage } from '../../src/storage/store.ts'
import { createTestApi, START, type Tenant, type TestApi } from '../support/api.ts'
import { claimDue } from '../support/claim.ts'
import { inboundMessage, PARSED, RAW, RAW_WITH_ATTACHMENTS, storedMail } from '../support/inbound.ts'

let made: TestApi | null = null

afterEach(async () => {
  await made?.close()
  made = null
})

const start = async (options: Parameters<typeof createTestApi>[0] = {}) => {
  made = await createTestApi(options)
  return made
}
const WEBHOOK: RouteAction = {
  type: 'webhook',
  config: { url: 'https://hooks.example.com/in', includeAttachments: false, headerNames: [] },
}
const STORE: RouteAction = { type: 'store', config: {} }

async function addRoute(api: TestApi, action: RouteAction = WEBHOOK, tenant: Tenant = api.own): Promise<InboundRoute> {
  const route: InboundRoute = {
    id: api.mintId('rte'),
    organizationId: tenant.organization.id,
    name: 'all',
    match: { type: 'catch_all', value: null },
    action,
    authentication: 'none',
    enabled: true,
    priority: 0,
    createdAt: api.clock.now(),
  }
  await api.store.inboundRoutes.create(route, 'whsec_c2VjcmV0')
  return route
}

/** Stores a message as if the route had just accepted it. */
async function take(
  api: TestApi,
  route: InboundRoute,
  change: Partial<InboundMessage> = {},
  forward?: AcceptedMessage,
  mail = storedMail(),
) {
  const message = inboundMessage({
    id: api.mintId('inb'),
    organizationId: route.organizationId,
    domainId: api.own.domain.id,
    routeId: route.id,
    receivedAt: api.clock.now(),
    action: route.action.type,
    ...change,
  })
  const deliveryId = message.action === 'webhook' ? api.mintId('whd') : null
  await api.store.inbound.accept({ ...mail, taken: [{ message, deliveryId, forward: forward ?? null }] })
  await api.clock.advance(1)
  return message
}

/** Records an attempt of the next due delivery, with this outcome. */
async function attempt(api: TestApi, status: InboundDeliveryStatus, statusCode: number) {
  const now = api.clock.now()
  const [claim] = await claimDue(api.store.inboundDeliveries, { now, limit: 1, worker: 'w', freeFor: () => 1 })
  await api.store.inboundDeliveries.record({
    deliveryId: claim!.id,
    worker: 'w',
    attempt: {
      number: claim!.attempt,
      at: now,
      durationMs: 12,
      statusCode,
      error: statusCode < 300 ? null : `HTTP ${statusCode}`,
      responseExcerpt: 'oops',
    },
    status,
    nextAttemptAt: status === 'pending' ? now + 60_000 : null,
    now,
  })
  return claim!
}

/** The outbound message of a forward, with a delivery for each of these statuses. */
function outbound(api: TestApi, statuses: DeliveryStatus[], status: Message['status']): AcceptedMessage {
  const createdAt = api.clock.now()
  const message: Message = {
    id: api.mintId('msg'),
    organizationId: api.own.organization.id,
    domainId: api.own.domain.id,
    keyId: null,
    mode: 'live',
    source: 'smtp',
    status,
    from: 'ann@sender.example',
    to: statuses.map((_, at) => `r${at}@elsewhere.example`),
    cc: null,
    bcc: null,
    replyTo: null,
    replies: null,
    subject: 'Rechnung',
    ...NO_SENDER_FIELDS,
    templateId: null,
    sizeBytes: 10,
    messageIdHeader: '<1@sender.example>',
    createdAt,
    scheduledAt: null,
    expiresAt: null,
    unsubscribe: false,
    trackOpens: false,
    trackClicks: false,
  }
  const deliveries = statuses.map((each, position) => ({
    id: api.mintId('dlv'),
    position,
    email: `r${position}@elsewhere.example`,
    type: 'to' as const,
    destination: 'elsewhere.example',
    status: each,
    nextAttemptAt: each === 'queued' || each === 'deferred' ? createdAt : null,
    attempts: 0,
    lastAttemptAt: null,
    deliveredAt: null,
    smtpResponse: null,
    bounceType: null,
    bounceCode: null,
    opens: 0,
    clicks: 0,
  }))
  return { message, content: new Uint8Array([1]), deliveries, attempts: [], events: [], suppressions: [] }
}

const read = (api: TestApi, path: string) => api.ask('GET', path, { key: api.own.keys.read })
const idsOf = ({ body }: { body: { data: { id: string }[] } }) => body.data.map(({ id }) => id)

describe('an inbound message', () => {
  test('shows its envelope and verdicts, and on its own page its content too', async () => {
    const api = await start()
    const route = await addRoute(api)
    const { id } = await take(api, route, { parseError: 'too many parts' })
    const record = {
      id,
      route_id: route.id,
      domain_id: api.own.domain.id,
      action: 'webhook',
      status: 'pending',
      from: 'ann@sender.example',
      to: ['support@own.example'],
      subject: 'Rechnung 📃',
      message_id: '<1@sender.example>',
      return_path: 'bounce@sender.example',
      sender_ip: '192.0.2.7',
      helo: 'mx.sender.example',
      tls: 'TLSv1.3 TLS_AES_256_GCM_SHA384',
      size_bytes: RAW.length,
      spf_result: 'pass',
      dkim_result: 'pass',
      dmarc_result: 'pass',
      arc_result: 'none',
      parse_error: 'too many parts',
      forwarded_as: null,
      not_forwarded: [],
      created_at: '2026-11-21T12:00:00.000Z',
    }
    const list = await read(api, '/v1/inbound-messages')
    expect([list.status, list.body]).toEqual([200, { data: [record], has_more: false, next_cursor: null }])
    const one = await read(api, `/v1/inbound-messages/${id}`)
    expect([one.status, one.body]).toEqual([
      200,
      {
        ...record,
        text_body: PARSED.textBody,
        html_body: PARSED.htmlBody,
        headers: PARSED.headers,
        attachments: [
          { filename: 'invoice.pdf', content_type: 'application/pdf', size: 5, content_id: null },
          { filename: 'größe.txt', content_type: 'text/plain', size: 2, content_id: null },
        ],
        reply_text: null,
        reply_html: null,
        in_reply_to: null,
        auto_submitted: false,
      },
    ])
  })

  test('returns its raw mail with a type that no browser may sniff', async () => {
    const api = await start()
    const { id } = await take(api, await addRoute(api))
    const answer = await read(api, `/v1/inbound-messages/${id}/raw`)
    expect([answer.status, answer.text]).toEqual([200, RAW])
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'message/rfc822',
      'content-disposition': `attachment; filename="${id}.eml"`,
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
    })
  })

  test('whose content was removed is still a record', async () => {
    const gone = async () => null
    const api = await start({
      wrapStore: (store) => ({ ...store, inbound: { ...store.inbound, raw: gone, parsed: gone } }),
    })
    const { id } = await take(api, await addRoute(api))
    const one = await read(api, `/v1/inbound-messages/${id}`)
    const content = { text_body: null, html_body: null, headers: null, attachments: null }
    expect([one.status, one.body]).toEqual([200, { ...one.body, id, status: 'pending', ...content }])
    expect((await read(api, `/v1/inbound-messages/${id}/raw`)).status).toBe(404)
    await attempt(api, 'failed', 500)
    const again = await api.ask('POST', `/v1/inbound-messages/${id}/redeliver`)
    expect([again.status, again.body.error.code]).toEqual([422, 'invalid_state'])
  })

  test('has the status of its route: stored, its newest delivery, or the message it became', async () => {
    const api = await start()
    const statusOf = async ({ id }: InboundMessage) => (await read(api, `/v1/inbound-messages/${id}`)).body.status
    expect(await statusOf(await take(api, await addRoute(api, STORE)))).toBe('stored')
    const route = await addRoute(api)
    for (const [status, code] of [
      ['pending', 500],
      ['delivered', 200],
      ['failed', 500],
    ] as const) {
      const message = await take(api, route)
      await attempt(api, status, code)
      expect(await statusOf(message)).toBe(status)
    }
    const forward = await addRoute(api, { type: 'forward', config: { to: ['r0@elsewhere.example'] } })
    const fates: [DeliveryStatus[], Message['status'], string][] = [
      [['queued'], 'queued', 'pending'],
      [['deferred', 'delivered'], 'deferred', 'pending'],
      [['delivered', 'delivered'], 'delivered', 'delivered'],
      [['bounced'], 'bounced', 'failed'],
      [['suppressed'], 'suppressed', 'failed'],
      [['delivered', 'bounced'], 'partial', 'failed'],
    ]
    for (const [statuses, whole, expected] of fates) {
      const became = outbound(api, statuses, whole)
      const message = await take(api, forward, { forwardedAs: became.message.id }, became)
      const { body } = await read(api, `/v1/inbound-messages/${message.id}`)
      expect([whole, body.status, body.forwarded_as]).toEqual([whole, expected, became.message.id])
    }
  })

  test('is found by each filter and by no other value of it', async () => {
    const api = await start()
    const [first, second] = [await addRoute(api), await addRoute(api, STORE)]
    const a = await take(api, first)
    const b = await take(api, second, {
      from: 'bob@xn--bcher-kva.example',
      to: ['Sales@own.example', 'info@own.example'],
    })
    await attempt(api, 'failed', 500)
    const find = async (query: string) => idsOf(await read(api, `/v1/inbound-messages?${query}`))
    expect(await find('')).toEqual([b.id, a.id])
    const table: [string, string[]][] = [
      [`route_id=${first.id}`, [a.id]],
      ['route_id=rte_gone', []],
      [`domain_id=${api.own.domain.id}`, [b.id, a.id]],
      ['from=%22BOB%22@B%C3%BCcher.example', [b.id]],
      ['to=sales@own.example', [b.id]],
      ['to=info@own.example&from=ann@sender.example', []],
      ['status=failed', [a.id]],
      ['q=ob@xn--bch', [b.id]],
      ['q=B%C3%BCcher.example', [b.id]],
      ['q=Bob+%3Cbob@b%C3%BCcher.example%3E', [b.id]],
      ['q=@b%C3%BCcher.ex', [b.id]],
      ['q=OWN.ex', [b.id, a.id]],
      ['q=%25', []],
      ['status=delivered', []],
      ['created_after=2026-11-21T12:00:00.001Z', [b.id]],
      ['created_before=2026-11-21T12:00:00.001Z', [a.id]],
    ]
    for (const [query, ids] of table) expect([query, await find(query)]).toEqual([query, ids])
    await api.store.inboundRoutes.remove(first.id)
    expect(await find(`route_id=${first.id}`)).toEqual([a.id])
  })

  test('gets 400 for an invalid filter and 403 for a resource of another organization', async () => {
    const api = await start()
    const theirs = await addRoute(api, STORE, api.other)
    for (const [query, field] of [
      ['from=nobody', 'from'],
      ['to=', 'to'],
      ['status=stored', 'status'],
      ['created_after=monday', 'created_after'],
      ['limit=0', 'limit'],
      ['cursor=x', 'cursor'],
      ['subject=x', 'subject'],
    ]) {
      const answer = await read(api, `/v1/inbound-messages?${query}`)
      expect([query, answer.status, answer.body.error?.field]).toEqual([query, 400, field])
    }
    for (const query of [`domain_id=${api.other.domain.id}`, `route_id=${theirs.id}`]) {
      expect((await read(api, `/v1/inbound-messages?${query}`)).status).toBe(403)
    }
    expect((await read(api, '/v1/inbound-messages?domain_id=dom_none')).status).toBe(404)
  })

  test('is listed in pages, newest first, for its organization only', async () => {
    const api = await start()
    const route = await addRoute(api)
    const ids: string[] = []
    for (let at = 0; at < 5; at++) ids.unshift((await take(api, route)).id)
    await take(api, await addRoute(api, STORE, api.other))
    const pages: string[][] = []
    let cursor = ''
    do {
      const answer = await read(api, `/v1/inbound-messages?limit=2${cursor}`)
      pages.push(idsOf(answer))
      cursor = answer.body.has_more ? `&cursor=${answer.body.next_cursor}` : ''
    } while (cursor !== '')
    expect(pages).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)])
  })
})

describe('deliveries of an inbound message', () => {
  test('show every attempt, and a redelivery before them', async () => {
    const api = await start()
    const route = await addRoute(api)
    const { id } = await take(api, route)
    const path = `/v1/inbound-messages/${id}`
    const claim = await attempt(api, 'failed', 500)
    const failed = {
      id: claim.id,
      inbound_message_id: id,
      route_id: route.id,
      status: 'failed',
      attempts: [
        {
          number: 1,
          at: '2026-11-21T12:00:00.001Z',
          duration_ms: 12,
          status_code: 500,
          error: 'HTTP 500',
          response_excerpt: 'oops',
        },
      ],
      next_attempt_at: null,
      created_at: '2026-11-21T12:00:00.000Z',
    }
    const before = await read(api, `${path}/deliveries`)
    expect([before.status, before.body]).toEqual([200, { data: [failed], has_more: false, next_cursor: null }])

    const again = await api.ask('POST', `${path}/redeliver`)
    expect([again.status, again.body, api.wakes()]).toEqual([
      202,
      {
        id: again.body.id,
        inbound_message_id: id,
        route_id: route.id,
        status: 'pending',
        attempts: [],
        next_attempt_at: '2026-11-21T12:00:00.001Z',
        created_at: '2026-11-21T12:00:00.001Z',
      },
      1,
    ])
    expect(again.body.id).toMatch(/^whd_/)
    expect((await read(api, `${path}/deliveries`)).body.data).toEqual([again.body, failed])
    expect((await read(api, path)).body.status).toBe('pending')
    expect((await attempt(api, 'delivered', 200)).id).toBe(again.body.id)
    expect((await api.ask('POST', `${path}/redeliver`)).status).toBe(202)
  })

  test('are empty for a mail that is only stored', async () => {
    const api = await start()
    const { id } = await take(api, await addRoute(api, STORE))
    expect((await read(api, `/v1/inbound-messages/${id}/deliveries`)).body.data).toEqual([])
  })

  test('are not repeated while one is pending, waiting or under way: 422', async () => {
    const api = await start()
    const { id } = await take(api, await addRoute(api))
    const redeliver = () => api.ask('POST', `/v1/inbound-messages/${id}/redeliver`)
    const waiting = await redeliver()
    expect([waiting.status, waiting.body.error.code]).toEqual([422, 'invalid_state'])
    await claimDue(api.store.inboundDeliveries, { now: START, limit: 1, worker: 'w', freeFor: () => 1 })
    expect((await redeliver()).status).toBe(422)
    expect(api.wakes()).toBe(0)
  })

  test('are not repeated when no endpoint is owed the mail any more: 422', async () => {
    const api = await start()
    const refused = async ({ id }: InboundMessage) => {
      const { status, body } = await api.ask('POST', `/v1/inbound-messages/${id}/redeliver`)
      expect([status, body.error.code]).toEqual([422, 'invalid_state'])
      return body.error.message
    }
    expect(await refused(await take(api, await addRoute(api, STORE)))).toBe(
      'This message was not received for a webhook route.',
    )
    const route = await addRoute(api)
    const message = await take(api, route)
    await attempt(api, 'failed', 500)
    await api.store.inboundRoutes.update(route.id, { action: STORE })
    expect(await refused(message)).toBe('The route of this message has no webhook.')
    await api.store.inboundRoutes.remove(route.id)
    expect(await refused(message)).toBe('The route of this message was deleted.')
  })

  test('of a disabled route wait for it', async () => {
    const api = await start()
    const route = await addRoute(api)
    const { id } = await take(api, route)
    await attempt(api, 'failed', 500)
    await api.store.inboundRoutes.update(route.id, { enabled: false })
    const answer = await api.ask('POST', `/v1/inbound-messages/${id}/redeliver`, { body: {} })
    expect([answer.status, answer.body.status]).toEqual([202, 'pending'])
    expect((await api.ask('POST', `/v1/inbound-messages/${id}/redeliver`, { body: { now: true } })).status).toBe(400)
  })
})

describe('an attachment of an inbound message', () => {
  const withAttachments = (filename = 'invoice.pdf') => {
    const [first, second] = PARSED.attachments
    return storedMail({ ...PARSED, attachments: [{ ...first!, filename }, second!] }, RAW_WITH_ATTACHMENTS)
  }
  const taken = async (api: TestApi, filename?: string) => {
    const { id } = await take(api, await addRoute(api, STORE), {}, undefined, withAttachments(filename))
    return `/v1/inbound-messages/${id}/attachments`
  }

  test('is a download of unknown bytes with its name, and 404 before the first and behind the last', async () => {
    const api = await start()
    const path = await taken(api)
    const first = await read(api, `${path}/1`)
    expect([first.status, first.text, first.headers.get('content-type')]).toEqual([
      200,
      '%PDF-',
      'application/octet-stream',
    ])
    expect(first.headers.get('content-disposition')).toBe(
      `attachment; filename="invoice.pdf"; filename*=UTF-8''invoice.pdf`,
    )
    expect(first.headers.get('x-content-type-options')).toBe('nosniff')
    expect(first.headers.get('cache-control')).toBe('private, no-store')
    const second = await read(api, `${path}/2`)
    expect([second.text, second.headers.get('content-disposition')]).toEqual([
      'ok',
      `attachment; filename="gr__e.txt"; filename*=UTF-8''gr%C3%B6%C3%9Fe.txt`,
    ])
    for (const number of ['0', '3', 'x', '-1', '01', '99999'])
      expect((await read(api, `${path}/${number}`)).status).toBe(404)
  })

  test('has a name that cannot end the header or its value, whatever the sender wrote', async () => {
    const api = await start()
    const hostile = `a"; filename=evil.exe\r\nSet-Cookie: x=1\u202egpj.'(*)%\ud800`
    const answer = await read(api, `${await taken(api, hostile)}/1`)
    expect(answer.headers.get('set-cookie')).toBeNull()
    expect(answer.headers.get('content-disposition')).toBe(
      [
        'attachment; filename="a__ filename_evil.exe__Set-Cookie_ x_1_gpj.______"; ',
        `filename*=UTF-8''a%22%3B%20filename%3Devil.exe%0D%0ASet-Cookie%3A%20x%3D1%E2%80%AEgpj.%27%28%2A%29%25%EF%BF%BD`,
      ].join(''),
    )
  })

  test('is read by who reads inbound messages, and by nobody of another organization', async () => {
    const api = await start()
    const path = `${await taken(api)}/1`
    const { own, other } = api
    const status = async (key: Tenant['keys'][keyof Tenant['keys']]) => (await api.ask('GET', path, { key })).status
    expect(await Promise.all([own.keys.read, own.keys.send, other.keys.read].map(status))).toEqual([200, 403, 403])
    expect(await status(await api.addKey(own, { mode: 'test', permissions: ['read'] }))).toBe(404)
  })

  test('that the list does not have is not searched in the mail', async () => {
    const api = await start()
    const mail = storedMail({ ...PARSED, attachments: [] }, RAW_WITH_ATTACHMENTS)
    const { id } = await take(api, await addRoute(api, STORE), { parseError: 'parsing failed' }, undefined, mail)
    expect((await read(api, `/v1/inbound-messages/${id}/attachments/1`)).status).toBe(404)
  })

  test('is gone with the data of its sender', async () => {
    const api = await start()
    const path = await taken(api)
    const key = api.own.keys.admin
    await api.ask('POST', '/v1/recipients/erase', { key, body: { email: 'ann@sender.example' } })
    while (await api.store.erasures.step(api.clock.now(), () => false));
    const raw = path.replace('/attachments', '/raw')
    for (const gone of [raw, `${path}/1`]) expect((await read(api, gone)).status).toBe(404)
  })
})
