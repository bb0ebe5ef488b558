import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { MAIL, openMessageApi, START } from './messages-setup.ts'

let server: Awaited<ReturnType<typeof openMessageApi>>
const ids: string[] = []
beforeAll(async () => {
  server = await openMessageApi()
  const mails = [
    { ...MAIL, to: 'ann@remote.example', subject: 'Your receipt', tags: ['receipt'], metadata: { plan: 'pro', no: 1 } },
    { ...MAIL, to: 'Bob <Bob@remote.example>', subject: 'Welcome aboard', metadata: { plan: 'free' } },
    {
      ...MAIL,
      from: 'news@example.com',
      cc: 'ann@remote.example',
      subject: '100% off',
      scheduled_at: '2026-11-25T00:00:00Z',
    },
  ]
  for (const mail of mails) {
    ids.push((await server.send(mail)).body.id)
    await server.clock.advance(1000)
  }
  ids.push((await server.send({ ...MAIL, to: 'bounce@remote.example' }, { key: server.keys.test })).body.id)
  await server.send({ ...MAIL, from: 'a@other.example' }, { key: server.keys.other })
  while (await server.store.maintain('recent', () => true)) {}
})
afterAll(() => server.close())

describe('GET /v1/messages', () => {
  const CASES: [string, number[]][] = [
    ['', [3, 2, 1, 0]],
    ['status=queued', [1, 0]],
    ['status=scheduled', [2]],
    ['status=bounced', [3]],
    ['status=partial', []],
    ['to=ann@remote.example', [2, 0]],
    ['to=BOB@REMOTE.example', [1]],
    ['to=%22Bob%22@remote.EXAMPLE', [1]],
    ['to=nobody@remote.example', []],
    ['from=news@example.com', [2]],
    ['from=SHOP@example.com', [3, 1, 0]],
    ['subject=RECEIPT', [0]],
    ['subject=100%25', [2]],
    ['tag=receipt', [0]],
    ['metadata[plan]=pro', [0]],
    ['metadata[plan]=pro&metadata[no]=1', [0]],
    ['metadata[plan]=pro&metadata[no]=2', []],
    ['metadata%5Bplan%5D=free', [1]],
    ['mode=test', [3]],
    ['mode=live', [2, 1, 0]],
    ['template_id=tpl_x', []],
    ['q=welcome', [1]],
    ['q=bob', [1]],
    ['q=', [3, 2, 1, 0]],
    ['created_after=2026-11-21T12:00:01Z', [3, 2, 1]],
    ['created_before=2026-11-21T12:00:01Z', [0]],
    ['to=ann@remote.example&status=queued', [0]],
    ['limit=2', [3, 2]],
  ]
  test.each(CASES)('?%s', async (query, expected) => {
    const { status, body } = await server.ask('GET', `/v1/messages?${query}`)
    expect(status).toBe(200)
    expect(body.data.map((each: { id: string }) => ids.indexOf(each.id))).toEqual(expected)
  })

  test('finds a message by its ID and by its Message-ID in the free text', async () => {
    const found = async (q: string) => {
      const { body } = await server.ask('GET', `/v1/messages?q=${encodeURIComponent(q)}`)
      return body.data.map((each: { id: string }) => ids.indexOf(each.id))
    }
    const { body } = await server.ask('GET', `/v1/messages/${ids[1]}`)
    expect(await found(ids[1]!)).toEqual([1])
    expect(await found(body.message_id_header)).toEqual([1])
    expect(await found(body.message_id_header.slice(1, -1))).toEqual([1])
    expect(await found(body.message_id_header.replace('example.com', 'example.net'))).toEqual([])
    expect(await found('msg_00000000000000000000000000')).toEqual([])
  })

  test('filters by domain, which must be the caller’s', async () => {
    const { body } = await server.ask('GET', `/v1/messages?domain_id=${server.domainId}`)
    expect(body.data.length).toBe(4)
    const theirs = await server.store.domains.findByName('other.example')
    expect((await server.ask('GET', `/v1/messages?domain_id=${theirs!.id}`)).status).toBe(403)
    expect((await server.ask('GET', '/v1/messages?domain_id=dom_x')).status).toBe(404)
  })

  test('returns the records of the single resource, page after page', async () => {
    const first = await server.ask('GET', '/v1/messages?limit=3')
    expect(first.body.has_more).toBe(true)
    const second = await server.ask('GET', `/v1/messages?limit=3&cursor=${first.body.next_cursor}`)
    expect([second.body.data.length, second.body.has_more, second.body.next_cursor]).toEqual([1, false, null])
    for (const record of [...first.body.data, ...second.body.data]) {
      expect((await server.ask('GET', `/v1/messages/${record.id}`)).body).toEqual(record)
    }
  })

  test.each([
    ['state=queued', 'state'],
    ['status=sent', 'status'],
    ['to=x', 'to'],
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['cursor=x', 'cursor'],
    ['mode=all', 'mode'],
    ['metadata=pro', 'metadata'],
    ['metadata[]=pro', 'metadata[]'],
    ['created_after=yesterday', 'created_after'],
    ['to=a@b.example&to=c@d.example', 'to'],
  ])('?%s is 400', async (query, field) => {
    const answer = await server.ask('GET', `/v1/messages?${query}`)
    expect([answer.status, answer.body.error.field]).toEqual([400, field])
  })
})

describe('read access', () => {
  const PATHS = ['', '/content', '/events', '/attempts']
  test.each(PATHS)('%s of another organization gets 403, of an unknown one 404', async (path) => {
    const foreign = await server.ask('GET', `/v1/messages/${ids[0]}${path}`, undefined, { key: server.keys.other })
    expect([foreign.status, foreign.body.error.code]).toEqual([403, 'forbidden'])
    const unknown = await server.ask('GET', `/v1/messages/${server.mintId('msg')}${path}`)
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'not_found'])
  })

  test.each(PATHS)('%s requires the permission read', async (path) => {
    const key = await server.mintKey('example.com', 'live', ['send', 'manage'])
    expect((await server.ask('GET', `/v1/messages/${ids[0]}${path}`, undefined, { key })).status).toBe(403)
  })

  // threat: key-beyond-its-domain
  test('a key of another domain of the organization sees nothing of it without admin', async () => {
    const { unverified } = server.keys
    const answer = await server.ask('GET', '/v1/messages', undefined, { key: unverified })
    expect(answer.body.data).toEqual([])
    expect((await server.ask('GET', `/v1/messages/${ids[0]}`, undefined, { key: unverified })).status).toBe(403)
    const admin = await server.mintKey('new.example', 'live', ['admin'])
    expect((await server.ask('GET', '/v1/messages', undefined, { key: admin })).body.data.length).toBe(4)
  })

  test('a key with read alone may not send, nor one with send alone read', async () => {
    const reader = await server.mintKey('example.com', 'live', ['read'])
    const sender = await server.mintKey('example.com', 'live', ['send'])
    expect((await server.send(MAIL, { key: reader })).status).toBe(403)
    expect((await server.ask('POST', '/v1/messages/batch', {}, { key: reader })).status).toBe(403)
    expect((await server.ask('POST', `/v1/messages/${ids[0]}/cancel`, {}, { key: reader })).status).toBe(403)
    expect((await server.ask('GET', '/v1/messages', undefined, { key: sender })).status).toBe(403)
  })
})

describe('content', () => {
  test('is JSON by default, with attachments by name and size', async () => {
    const mail = {
      ...MAIL,
      headers: { 'X-A': 'b' },
      attachments: [{ filename: 'a.txt', content: 'aGVsbG8=', content_id: 'c' }],
    }
    const { body } = await server.send(mail)
    expect((await server.ask('GET', `/v1/messages/${body.id}/content`)).body).toEqual({
      id: body.id,
      subject: 'Hello',
      html: '<p>Hi Ann</p>',
      text: 'Hi Ann',
      headers: { 'X-A': 'b' },
      attachments: [{ filename: 'a.txt', content_type: 'text/plain', content_id: 'c', size_bytes: 5 }],
      unsubscribe: false,
    })
  })

  test.each([
    ['logo.PNG', 'image/png'],
    ['Übersicht 2026.tar.gz', 'application/gzip'],
    ['termin.ics', 'text/calendar'],
    ['x.unheard', 'application/octet-stream'],
    ['README', 'application/octet-stream'],
  ])('gives an attachment without a type the type of its name: %s', async (filename, type) => {
    const { body } = await server.send({ ...MAIL, attachments: [{ filename, content: '' }] })
    const content = await server.ask('GET', `/v1/messages/${body.id}/content`)
    expect(content.body.attachments).toMatchObject([{ filename, content_type: type }])
  })

  test('as html is unchanged, and may not run, load or be sniffed', async () => {
    const html = '<script>alert(1)</script><p>Hi</p>'
    const { body } = await server.send({ ...MAIL, html })
    const answer = await server.ask('GET', `/v1/messages/${body.id}/content?part=html`)
    expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([
      200,
      html,
      'text/html; charset=utf-8',
    ])
    expect(answer.headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none'/)
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('as text is plain text, and 404 where there is none', async () => {
    const { body } = await server.send({ ...MAIL, html: undefined, text: 'Grüße' })
    const answer = await server.ask('GET', `/v1/messages/${body.id}/content?part=text`)
    expect([answer.text, answer.headers.get('content-type')]).toEqual(['Grüße', 'text/plain; charset=utf-8'])
    expect((await server.ask('GET', `/v1/messages/${body.id}/content?part=html`)).status).toBe(404)
  })

  test('as raw is the signed mail, the same bytes each time, without bcc', async () => {
    const { body } = await server.send({ ...MAIL, bcc: 'secret@remote.example' })
    const once = await server.ask('GET', `/v1/messages/${body.id}/content?part=raw`)
    await server.clock.advance(60_000)
    const twice = await server.ask('GET', `/v1/messages/${body.id}/content?part=raw`)
    expect([once.status, once.headers.get('content-type')]).toEqual([200, 'message/rfc822'])
    expect(twice.text).toBe(once.text)
    expect(once.text).toContain(`Message-ID: <${body.id.slice(4)}@example.com>\r\n`)
    expect(once.text).not.toContain('secret@')
    const { size_bytes } = (await server.ask('GET', `/v1/messages/${body.id}`)).body
    const unsigned = once.text.slice(once.text.search(/^From: /m))
    expect(unsigned).toContain('MIME-Version: 1.0')
    expect(size_bytes).toBe(MAIL.subject.length + MAIL.html.length)
  })

  test('of an attachment is bytes that no browser shows, and 404 before the first and behind the last', async () => {
    const content = Buffer.from('<script>alert(1)</script>').toString('base64')
    const attachments = [{ filename: 'a.html', content, content_type: 'text/html' }]
    const { body } = await server.send({ ...MAIL, attachments })
    const at = (number: string) => server.ask('GET', `/v1/messages/${body.id}/attachments/${number}`)
    const answer = await at('1')
    expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([
      200,
      '<script>alert(1)</script>',
      'application/octet-stream',
    ])
    expect([answer.headers.get('content-disposition'), answer.headers.get('x-content-type-options')]).toEqual([
      'attachment',
      'nosniff',
    ])
    for (const number of ['0', '2', 'x', '-1']) expect((await at(number)).status).toBe(404)
  })

  test('an unknown part gets 400', async () => {
    const answer = await server.ask('GET', `/v1/messages/${ids[0]}/content?part=body`)
    expect([answer.status, answer.body.error.field]).toEqual([400, 'part'])
  })
})

test('events are listed newest first, by kind, in pages', async () => {
  const { body } = await server.send({ ...MAIL, to: 'click@remote.example' }, { key: server.keys.test })
  const path = `/v1/messages/${body.id}/events`
  const first = (await server.ask('GET', `${path}?limit=2`)).body
  const second = (await server.ask('GET', `${path}?limit=2&cursor=${first.next_cursor}`)).body
  const types = [...first.data, ...second.data].map((event: { type: string }) => event.type)
  expect(types).toEqual(['message.clicked', 'message.opened', 'message.delivered'])
  expect(Object.keys(first.data[0])).toEqual(['id', 'type', 'timestamp', 'data'])
  expect((await server.ask('GET', `${path}?type=message.opened`)).body.data.length).toBe(1)
  expect((await server.ask('GET', `${path}?type=opened`)).status).toBe(400)
})

test('attempts have recipient, time and the whole conversation', async () => {
  const { body } = await server.ask('GET', `/v1/messages/${ids[3]}/attempts`)
  expect(body).toEqual({
    data: [
      {
        recipient: 'bounce@remote.example',
        number: 1,
        started_at: new Date(START + 3000).toISOString(),
        duration_ms: 0,
        outcome: 'bounced',
        mx_host: null,
        mx_ip: null,
        source_ip: null,
        relay: null,
        tls_version: null,
        tls_cipher: null,
        tls_policy: 'none',
        tls_verified: false,
        smtp_response: expect.stringContaining('550 5.1.1'),
        enhanced_code: '5.1.1',
        cause: { class: 'sandbox', rule: expect.any(String) },
        transcript: expect.stringContaining('nothing was sent'),
      },
    ],
    reports: [],
    has_more: false,
    next_cursor: null,
  })
  expect((await server.ask('GET', `/v1/messages/${ids[0]}/attempts`)).body.data).toEqual([])
})

test('attempts also list the reports that came back, newest first, a failure with its rule', async () => {
  const { body } = await server.send({ ...MAIL, to: ['ann@remote.example', 'bob@remote.example'] })
  const [, bob] = await server.store.messages.deliveries(body.id)
  const nothing = { reporter: null, status: null, diagnostic: null, cause: null, feedbackType: null }
  const failed = {
    kind: 'failed' as const,
    receivedAt: START + 1,
    digest: new Uint8Array(32),
    reporter: 'mx.remote.example',
    status: '5.1.1',
    diagnostic: '550 5.1.1 unknown',
    cause: { class: 'no_mailbox', rule: 'enhanced:5.1.1' },
    feedbackType: null,
  }
  const complaint = { ...failed, ...nothing, kind: 'complaint' as const, receivedAt: START + 2, feedbackType: 'abuse' }
  for (const [index, report] of [failed, complaint].entries()) {
    await server.store.deliveries.recordLate({
      deliveryId: bob!.id,
      report: { ...report, digest: new Uint8Array(32).fill(index) },
      expected: 'queued',
      change: null,
      events: [],
      suppression: null,
      now: START,
    })
  }
  const answer = await server.ask('GET', `/v1/messages/${body.id}/attempts`)
  expect(answer.body.reports).toEqual([
    {
      email: 'bob@remote.example',
      kind: 'complaint',
      received_at: new Date(START + 2).toISOString(),
      reporter: null,
      status: null,
      diagnostic: null,
      bounce_class: null,
      rule: null,
      feedback_type: 'abuse',
    },
    {
      email: 'bob@remote.example',
      kind: 'failed',
      received_at: new Date(START + 1).toISOString(),
      reporter: 'mx.remote.example',
      status: '5.1.1',
      diagnostic: '550 5.1.1 unknown',
      bounce_class: 'no_mailbox',
      rule: 'enhanced:5.1.1',
      feedback_type: null,
    },
  ])
})
