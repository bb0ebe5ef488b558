import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { destinationOf } from '../../src/model/delivery.ts'
import { suppressionKey } from '../../src/model/suppression.ts'
import { MAIL, openMessageApi, START } from './messages-setup.ts'

let server: Awaited<ReturnType<typeof openMessageApi>>
beforeAll(async () => {
  server = await openMessageApi()
})
afterAll(() => server.close())

const LONG_ADDRESS_LIST = Array.from({ length: 51 }, (_, i) => `r${i}@remote.example`)
const base64 = (text: string) => Buffer.from(text).toString('base64')

describe('an accepted message', () => {
  test('is answered with 202 and one entry for each recipient', async () => {
    const mail = {
      ...MAIL,
      to: ['Ann <ann@Remote.Example>', 'bob@remote.example'],
      cc: 'ANN@remote.example',
      bcc: ['eve@b.example'],
    }
    const answer = await server.send(mail)
    expect(answer.status).toBe(202)
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^msg_[0-9a-z]{26}$/),
      message_id: answer.body.id,
      status: 'queued',
      created_at: '2026-11-21T12:00:00.000Z',
      recipients: [
        { email: 'ann@remote.example', type: 'to', status: 'queued' },
        { email: 'bob@remote.example', type: 'to', status: 'queued' },
        { email: 'eve@b.example', type: 'bcc', status: 'queued' },
      ],
    })
    const deliveries = await server.store.messages.deliveries(answer.body.id)
    expect(deliveries.map(({ queue, nextAttemptAt }) => [destinationOf(queue), nextAttemptAt])).toEqual([
      ['remote.example', START],
      ['remote.example', START],
      ['b.example', START],
    ])
  })

  test('is durable before the delivery loop is woken, and wakes nothing else', async () => {
    const before = { ...server.woken }
    await server.send(MAIL)
    expect(server.woken).toEqual({ ...before, outbound: before.outbound + 1 })
  })

  test.each(['logo', '<logo>', 'cid:logo', 'CID:logo', '<cid:logo>'])(
    'takes the content ID %p as logo',
    async (content_id) => {
      const file = { filename: 'logo.png', content: base64('png'), content_type: 'image/png', content_id }
      const { body } = await server.send({ ...MAIL, html: '<img src="cid:logo">', attachments: [file] })
      const shown = await server.ask('GET', `/v1/messages/${body.id}/content`)
      expect(shown.body.attachments).toMatchObject([{ content_id: 'logo' }])
    },
  )

  test('sends an invitation as a part with its method, and shows it as a file', async () => {
    const content = 'BEGIN:VCALENDAR\nVERSION:2.0\nEND:VCALENDAR'
    const { body } = await server.send({ ...MAIL, calendar: { content, method: 'REQUEST' } })
    const shown = await server.ask('GET', `/v1/messages/${body.id}/content`)
    const type = 'text/calendar; method=REQUEST; charset=utf-8'
    expect(shown.body.attachments).toMatchObject([{ filename: 'calendar.ics', content_type: type }])
    const raw = await server.ask('GET', `/v1/messages/${body.id}/content?part=raw`)
    expect(raw.text).toContain(`Content-Type: ${type}\r\n`)
    for (const [calendar, field] of [
      [{ content: 'hello' }, 'calendar.content'],
      [{ content }, 'calendar.method'],
      [{ content, method: 'DANCE' }, 'calendar.method'],
      [[{ content }], 'calendar'],
    ]) {
      const refused = await server.send({ ...MAIL, calendar })
      expect([refused.status, refused.body.error.field]).toEqual([400, field])
    }
  })

  test('keeps every field in the record, in the form it was sent in', async () => {
    const mail = {
      from: 'Shop <shop@EXAMPLE.com>',
      to: 'Ann <ann@remote.example>',
      cc: [],
      bcc: ['Bob <bob@remote.example>'],
      reply_to: ['help@example.com', 'x@elsewhere.example'],
      subject: 'Grüße',
      html: '<p>Hi</p>',
      text: 'Hi',
      headers: { 'X-Order': '42', References: '<a@b>' },
      attachments: [
        { filename: 'a.txt', content: base64('hello') },
        { filename: 'logo.png', content: base64('png'), content_type: 'image/png', content_id: '<logo>' },
      ],
      metadata: { order: 42, plan: 'pro', vip: true, ['__proto__']: 'kept' },
      tags: ['receipt', 'receipt', 'a'],
      expires_in: 600,
      stream: 'bulk',
      require_tls: true,
      track_opens: true,
      track_clicks: true,
      unsubscribe: true,
    }
    const { body } = await server.send(mail)
    const { body: record } = await server.ask('GET', `/v1/messages/${body.id}`)
    expect(record).toEqual({
      id: body.id,
      key_id: expect.stringMatching(/^key_/),
      mode: 'live',
      status: 'queued',
      from: 'Shop <shop@EXAMPLE.com>',
      to: 'Ann <ann@remote.example>',
      cc: [],
      bcc: ['Bob <bob@remote.example>'],
      reply_to: ['help@example.com', 'x@elsewhere.example'],
      replies: null,
      subject: 'Grüße',
      tags: ['receipt', 'a'],
      metadata: mail.metadata,
      template_id: null,
      domain_id: server.domainId,
      size_bytes: 'Grüße'.length + 2 + '<p>Hi</p>'.length + 'Hi'.length + base64('hello').length + base64('png').length,
      message_id_header: `<${body.id.slice(4)}@example.com>`,
      created_at: '2026-11-21T12:00:00.000Z',
      scheduled_at: null,
      source: 'api',
      stream: 'bulk',
      recipients: ['ann', 'bob'].map((name, i) => ({
        email: `${name}@remote.example`,
        type: i === 0 ? 'to' : 'bcc',
        status: 'queued',
        attempts: 0,
        last_attempt_at: null,
        next_attempt_at: '2026-11-21T12:00:00.000Z',
        delivered_at: null,
        smtp_response: null,
        bounce_type: null,
        bounce_code: null,
        mx_host: null,
        tls: null,
        opens: 0,
        clicks: 0,
        machine_opens: 0,
        machine_clicks: 0,
      })),
    })
    const message = await server.store.messages.get(body.id)
    const asked = { requireTls: true, unsubscribe: true, trackOpens: true, trackClicks: true }
    expect(message).toMatchObject({ expiresAt: START + 600_000, ...asked })
  })

  test('may leave optional fields null', async () => {
    const nulls = { cc: null, bcc: null, reply_to: null, text: null, headers: null, attachments: null, metadata: null }
    const answer = await server.send({
      ...MAIL,
      ...nulls,
      tags: null,
      scheduled_at: null,
      expires_in: null,
      stream: null,
      require_tls: null,
      track_opens: null,
      track_clicks: null,
      unsubscribe: null,
    })
    expect(answer.status).toBe(202)
  })

  test('gets its text from the html, unless it has one or the html has none', async () => {
    const textOf = async (mail: object) => {
      const { body } = await server.send({ ...MAIL, ...mail })
      return (await server.ask('GET', `/v1/messages/${body.id}/content`)).body.text
    }
    expect(await textOf({ html: '<p>Hi <b>Ann</b></p>' })).toBe('Hi Ann')
    expect(await textOf({ html: '<p>Hi</p>', text: 'Other' })).toBe('Other')
    expect(await textOf({ html: '<p>Hi</p>', text: '' })).toBe('Hi')
    expect(await textOf({ html: '<img src="https://x.example/a.png">' })).toBeNull()
  })

  test('treats empty html like missing html', async () => {
    const contentOf = async (mail: object) => {
      const { status, body } = await server.send({ ...MAIL, ...mail })
      expect(status).toBe(202)
      const { id: _, ...content } = (await server.ask('GET', `/v1/messages/${body.id}/content`)).body
      return content
    }
    const absent = await contentOf({ html: undefined, text: 'Hi' })
    expect(await contentOf({ html: '', text: 'Hi' })).toEqual(absent)
    expect(absent).toMatchObject({ html: null, text: 'Hi' })
    const both = await server.send({ ...MAIL, html: '', text: '' })
    expect([both.status, both.body.error.field]).toEqual([400, 'html'])
  })

  test('may have 50 recipients, duplicates not counted', async () => {
    const fifty = LONG_ADDRESS_LIST.slice(1)
    const answer = await server.send({ ...MAIL, to: fifty.slice(0, 25), cc: fifty.slice(25), bcc: fifty })
    expect([answer.status, answer.body.recipients.length]).toEqual([202, 50])
  })

  test('is the same at both paths', async () => {
    const answer = await server.ask('POST', '/v1/send', MAIL)
    expect([answer.status, answer.body.status]).toEqual([202, 'queued'])
  })
})

describe('reasons to refuse a message', () => {
  test('a live key of an unverified domain gets 422', async () => {
    const answer = await server.send({ ...MAIL, from: 'a@new.example' }, { key: server.keys.unverified })
    expect([answer.status, answer.body.error.code]).toEqual([422, 'domain_not_verified'])
    expect(answer.body.error.details).toMatchObject({ domain: 'new.example', status: 'pending' })
  })

  test('an unverified domain may send if the config allows it or the key is for tests', async () => {
    const relaxed = await openMessageApi({ requireVerifiedDomain: false })
    const mail = { ...MAIL, from: 'a@new.example' }
    expect((await relaxed.send(mail, { key: relaxed.keys.unverified })).status).toBe(202)
    await relaxed.close()
    const testKey = await server.mintKey('new.example', 'test', ['send'])
    expect((await server.send(mail, { key: testKey })).status).toBe(202)
  })

  test('a mail that would be too large as a whole gets 413', async () => {
    const small = await openMessageApi({ messageBytes: 20_000 })
    const content = Buffer.alloc(15_000).toString('base64')
    const answer = await small.send({ ...MAIL, attachments: [{ filename: 'a', content }] })
    expect([answer.status, answer.body.error.code, answer.body.error.field]).toEqual([
      413,
      'payload_too_large',
      'attachments',
    ])
    expect(answer.body.error.details.limit_bytes).toBe(20_000)
    expect(answer.body.error.details.size_bytes).toBeGreaterThan(20_000)
    expect((await small.send(MAIL)).status).toBe(202)
    await small.close()
  })

  test('a suppressed recipient is reported as such and never tried', async () => {
    await suppress('Gone@remote.example')
    const answer = await server.send({ ...MAIL, to: ['GONE@remote.example', 'ann@remote.example'] })
    expect([answer.status, answer.body.status]).toEqual([202, 'queued'])
    expect(answer.body.recipients.map((each: { status: string }) => each.status)).toEqual(['suppressed', 'queued'])
    const [gone] = await server.store.messages.deliveries(answer.body.id)
    expect(gone).toMatchObject({ status: 'suppressed', nextAttemptAt: null, attempts: 0 })
    const { body: events } = await server.ask('GET', `/v1/messages/${answer.body.id}/events`)
    expect(events.data).toMatchObject([
      {
        type: 'message.suppressed',
        data: {
          to: 'GONE@remote.example',
          reason: 'manual',
          suppressed_at: answer.body.created_at,
          subject: MAIL.subject,
        },
      },
    ])
  })

  test('a message to suppressed recipients only is suppressed as a whole and wakes only webhooks', async () => {
    await suppress('gone2@remote.example')
    const before = { ...server.woken }
    const answer = await server.send({ ...MAIL, to: 'gone2@remote.example' })
    expect([answer.status, answer.body.status]).toEqual([202, 'suppressed'])
    expect(server.woken).toEqual({ ...before, webhooks: before.webhooks + 1 })
  })

  test('a used-up month gives 422 with its numbers, and nothing is written', async () => {
    const tight = await openMessageApi({ plan: { messagesPerMonth: 3 } })
    expect((await tight.send({ ...MAIL, to: ['a@r.example', 'b@r.example'] })).status).toBe(202)
    const answer = await tight.send({ ...MAIL, to: ['a@r.example', 'b@r.example'] })
    expect([answer.status, answer.body.error.code]).toEqual([422, 'quota_exceeded'])
    expect(answer.body.error.details).toMatchObject({ limit: 3, used: 2, resets_at: '2026-12-01T00:00:00.000Z' })
    expect((await tight.ask('GET', '/v1/messages')).body.data.length).toBe(1)
    expect((await tight.send(MAIL)).status).toBe(202)
    expect((await tight.send(MAIL)).status).toBe(422)
    expect((await tight.send(MAIL, { key: tight.keys.test })).status).toBe(202)
    await tight.close()
  })
})

describe('Prefer: wait', () => {
  const wait = { headers: { prefer: 'wait=10' } }

  test('answers 200 as soon as every recipient is final', async () => {
    const pending = server.send(MAIL, wait)
    await server.clock.untilSleeping()
    const { data } = (await server.ask('GET', '/v1/messages?limit=1')).body
    await server.store.messages.cancel(data[0].id, START)
    server.notifier.notify(`message ${data[0].id}`)
    const answer = await pending
    expect([answer.status, answer.body.status]).toEqual([200, 'cancelled'])
    expect(answer.body.recipients).toEqual([{ email: 'ann@remote.example', type: 'to', status: 'cancelled' }])
    expect(answer.headers.get('preference-applied')).toBe('wait=10')
  })

  test('answers 200 with the current status at the timeout', async () => {
    const pending = server.send(MAIL, wait)
    await server.clock.untilSleeping()
    await server.clock.advance(10_000)
    const answer = await pending
    expect([answer.status, answer.body.status]).toEqual([200, 'queued'])
  })

  test('answers at once if everything is final already', async () => {
    const answer = await server.send(MAIL, { ...wait, key: server.keys.test })
    expect([answer.status, answer.body.status]).toEqual([200, 'delivered'])
  })

  // threat: waiting-requests-held
  test('is ignored for the 51st waiting request of a key, which is answered at once and delivered', async () => {
    const pending = Array.from({ length: 50 }, () => server.send(MAIL, wait))
    await server.clock.untilSleeping(50)
    const beyond = await server.send(MAIL, wait)
    expect([beyond.status, beyond.headers.get('preference-applied'), beyond.body.status]).toEqual([202, null, 'queued'])
    await server.clock.advance(10_000)
    expect((await Promise.all(pending)).map(({ status }) => status)).toEqual(Array(50).fill(200))
    const again = server.send(MAIL, wait)
    await server.clock.untilSleeping()
    await server.clock.advance(10_000)
    expect((await again).status).toBe(200)
  })

  test('is ignored for a large request, whose body would occupy memory', async () => {
    const large = { ...MAIL, text: 'x'.repeat(9_000_000) }
    for (let at = 0; at < 3; at++) expect((await server.send(large, wait)).status).toBe(202)
  })

  test('is ignored when it is not a number of seconds', async () => {
    expect((await server.send(MAIL, { headers: { prefer: 'wait=soon' } })).status).toBe(202)
  })
})

async function suppress(email: string, stream: string | null = null): Promise<void> {
  const { organizationId } = server
  const facts = { reason: 'manual' as const, evidence: null, messageId: null, createdAt: START, mode: 'live' as const }
  await server.store.suppressions.add({
    id: server.mintId('sup'),
    organizationId,
    domainId: null,
    stream,
    email: suppressionKey(email),
    ...facts,
  })
}
