import { afterAll, beforeAll, describe, expect, setSystemTime, test } from 'bun:test'
import { simpleParser } from 'mailparser'
import { Resend } from 'resend'
import { newDomain } from '../../src/domains/keys.ts'
import { dnsRecords } from '../../src/domains/records.ts'
import { createMintId } from '../../src/os/ids.ts'
import { systemRandom } from '../../src/os/random.ts'
import { fileAnswer, startFileServer } from '../support/file-server.ts'
import { addKey } from '../support/keys.ts'
import { ownServer } from '../support/own-server.ts'
import { until } from '../support/patience.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, type Json, START, startTestServer, type TestServer } from '../support/server.ts'
import { VERIFIED } from '../support/verified.ts'

/** Resend's npm package with a complete server: an application only has to change its base URL and key. */

const NOON = '2026-11-21T12:00:00.000Z'
const FROM = `Shop <shop@${DOMAIN}>`
const MAIL = { from: FROM, to: 'ann@one.remote.example', subject: 'Hello', html: '<p>Hi Ann</p>' }
const ID = (prefix: string) => expect.stringMatching(new RegExp(`^${prefix}_[0-9a-z]{26}$`))

let remote: RemoteMx
let server: TestServer
let resend: Resend
const withKey = (key: string) => new Resend(key, { baseUrl: `http://${server.running().listening.http}/compat/resend` })

beforeAll(async () => {
  remote = await startRemoteMx()
  server = await startTestServer({ remote })
  resend = withKey(server.keys.live)
})
afterAll(async () => {
  await server.close()
  await remote.stop()
})

/** Resolves with the data of a successful call. */
async function data<T>(answer: Promise<{ data: T | null; error: unknown }>): Promise<NonNullable<T>> {
  const { data, error } = await answer
  expect(error).toBeNull()
  return data as NonNullable<T>
}
/** Resolves with status, name and message of a refused call. */
async function refused(
  answer: Promise<{ error: { statusCode: number | null; name: string; message: string } | null }>,
) {
  const { error } = await answer
  if (error === null) throw new Error('was not refused')
  return { what: `${error.statusCode} ${error.name}`, message: error.message }
}

describe('emails', () => {
  test('have attachments by path, which this server downloads', async () => {
    const files = await startFileServer({ key: server.receiver.key, cert: server.receiver.ca })
    files.set('/bill.pdf', fileAnswer('%PDF', 'Content-Type: application/pdf'))
    const attachments = [{ path: files.url('/bill.pdf') }, { path: files.url('/bill.pdf'), filename: 'copy.pdf' }]
    const { id } = await data(resend.emails.send({ ...MAIL, attachments }))
    await server.ended(id)
    const mail = await simpleParser(Buffer.from(remote.mails.at(-1)!.raw))
    expect(mail.attachments.map(({ filename, content }) => [filename, `${content}`])).toEqual([
      ['bill.pdf', '%PDF'],
      ['copy.pdf', '%PDF'],
    ])
    expect(files.requests.length).toBe(1)
    files.stop()
  })

  test('one with every field is sent, delivered, and read back unchanged', async () => {
    const { id } = await data(
      resend.emails.send({
        ...MAIL,
        to: ['ann@one.remote.example'],
        cc: 'cy@one.remote.example',
        bcc: ['bea@one.remote.example'],
        replyTo: 'help@one.remote.example',
        text: 'Hi Ann, in words',
        headers: { 'X-Entity-Ref-ID': '17' },
        tags: [{ name: 'category', value: 'receipt' }],
        attachments: [
          { filename: 'bill.pdf', content: Buffer.from('%PDF-1.4 bill') },
          { filename: 'logo.png', content: Buffer.from('png').toString('base64'), contentId: 'logo' },
        ],
      }),
    )
    await server.ended(id)
    const email = await data(resend.emails.get(id))
    expect(email).toEqual({
      object: 'email',
      id,
      message_id: expect.stringMatching(/^<.+@.+>$/),
      from: FROM,
      to: ['ann@one.remote.example'],
      cc: ['cy@one.remote.example'],
      bcc: ['bea@one.remote.example'],
      reply_to: ['help@one.remote.example'],
      subject: 'Hello',
      html: '<p>Hi Ann</p>',
      text: 'Hi Ann, in words',
      tags: [{ name: 'category', value: 'receipt' }],
      created_at: NOON,
      scheduled_at: null,
      last_event: 'delivered',
    })
    const mail = await simpleParser(Buffer.from(remote.mails.at(-1)!.raw))
    expect(mail.headers.get('x-entity-ref-id')).toBe('17')
    const files = mail.attachments.map(({ filename, contentType, content }) => [filename, contentType, `${content}`])
    expect(files).toEqual([
      ['bill.pdf', 'application/pdf', '%PDF-1.4 bill'],
      ['logo.png', 'image/png', 'png'],
    ])
    expect((await refused(resend.emails.attachments.list({ emailId: id }))).message).toContain('part=raw')
  })

  test('a scheduled one is moved and cancelled', async () => {
    const { id } = await data(resend.emails.send({ ...MAIL, scheduledAt: 'in 1 min' }))
    expect(await data(resend.emails.get(id))).toMatchObject({
      last_event: 'scheduled',
      scheduled_at: '2026-11-21T12:01:00.000Z',
    })
    const moved = resend.emails.update({ id, scheduledAt: '2026-11-22T09:00:00+01:00' })
    expect(await data(moved)).toEqual({ object: 'email', id })
    expect(await data(resend.emails.get(id))).toMatchObject({ scheduled_at: '2026-11-22T08:00:00.000Z' })
    expect(await data(resend.emails.cancel(id))).toEqual({ object: 'email', id })
    expect((await data(resend.emails.get(id))).last_event).toBe('canceled')
    expect(await refused(resend.emails.cancel(id))).toMatchObject({ what: '422 validation_error' })
  })

  test('its own List-Unsubscribe replaces the links of this server', async () => {
    const links = '<https://shop.example/leave>, <mailto:leave@shop.example>'
    const headers = { 'List-Unsubscribe': links, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
    const { id } = await data(resend.emails.send({ ...MAIL, headers }))
    await server.ended(id)
    const raw = `${remote.mails.at(-1)!.raw}`
    expect(raw.match(/^List-Unsubscribe.*$/gim)?.map((line) => line.trim())).toEqual([
      `List-Unsubscribe: ${links}`,
      'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
    ])
  })

  test('one with the header X-Service-Replies gets its answers at that inbound route', async () => {
    const match = { type: 'address', value: `help@${DOMAIN}` }
    const route = await server.ask('POST', '/v1/inbound-routes', { name: 'Desk', match, action: { type: 'store' } })
    const headers = { 'x-service-replies': 'Desk', 'X-Entity-Ref-ID': '18' }
    const { id } = await data(resend.emails.send({ ...MAIL, headers }))
    expect(await server.read(`/v1/messages/${id}`)).toMatchObject({ replies: route.body.id })
    await server.ended(id)
    const raw = `${remote.mails.at(-1)!.raw}`.replaceAll(/\r\n[ \t]+/g, ' ')
    expect(raw.match(/^(?:reply-to|x-(?:service|entity)-.*):.*$/gim)?.map((line) => line.trim())).toEqual([
      expect.stringMatching(/^Reply-To: Shop <reply\+\w{46}@sender\.example>$/),
      'X-Entity-Ref-ID: 18',
    ])
  })

  test('a template is rendered', async () => {
    const template = { name: 'T', alias: 'welcome', subject: 'Welcome, {{ name }}', html: '<p>{{ name }}</p>' }
    await server.ask('POST', '/v1/templates', template)
    const { to, from } = MAIL
    const sent = resend.emails.send({ from, to, template: { id: 'welcome', variables: { name: 'Ann' } } })
    const { id } = await data(sent)
    expect(await data(resend.emails.get(id))).toMatchObject({ subject: 'Welcome, Ann', html: '<p>Ann</p>' })
    const lacking = resend.emails.send({ from, to, template: { id: 'welcome', variables: {} } })
    expect(await refused(lacking)).toMatchObject({ what: '422 validation_error' })
  })

  test('the same Idempotency-Key sends once; another payload with it is refused', async () => {
    const once = { idempotencyKey: 'order-1' }
    const { id } = await data(resend.emails.send(MAIL, once))
    expect(await data(resend.emails.send(MAIL, once))).toEqual({ id })
    const other = resend.emails.send({ ...MAIL, subject: 'Other' }, once)
    expect(await refused(other)).toMatchObject({ what: '409 invalid_idempotent_request' })
    const spaced = resend.emails.send(MAIL, { idempotencyKey: 'x'.repeat(300) })
    expect(await refused(spaced)).toMatchObject({ what: '400 invalid_idempotency_key' })
  })

  test('a batch is sent as a whole or not at all', async () => {
    const { data: sent } = await data(resend.batch.send([MAIL, { ...MAIL, subject: 'Two' }]))
    expect(sent).toEqual([{ id: ID('msg') }, { id: ID('msg') }] as never)
    const before = (await server.read('/v1/messages')).data.length
    const badField = await refused(resend.batch.send([MAIL, { ...MAIL, to: 'nobody' }]))
    expect(badField).toEqual({ what: '422 validation_error', message: expect.stringMatching(/^emails\[1\]: to must/) })
    const foreign = await refused(resend.batch.send([MAIL, { ...MAIL, from: 'a@else.example' }]))
    expect(foreign).toEqual({ what: '403 validation_error', message: expect.stringMatching(/^emails\[1\]: /) })
    expect((await server.read('/v1/messages')).data.length).toBe(before)
  })

  test('a permissive batch sends the valid emails, and reports the others', async () => {
    const batch = [{ ...MAIL, to: 'nobody' }, MAIL, { ...MAIL, from: 'a@else.example' }]
    const answer = await data(resend.batch.send(batch, { batchValidation: 'permissive' }))
    expect(answer.data).toEqual([{ id: ID('msg') }] as never)
    expect(answer.errors.map(({ index }) => index)).toEqual([0, 2])
  })

  test('the list continues after a record, and before one', async () => {
    const page = async (options: Parameters<typeof resend.emails.list>[0]) => {
      const { object, has_more, data: emails } = await data(resend.emails.list(options))
      return { object, has_more, ids: emails.map(({ id }) => id) }
    }
    const all = (await page({ limit: 100 })).ids
    expect(all.length).toBeGreaterThan(5)
    expect(await page({ limit: 2 })).toEqual({ object: 'list', has_more: true, ids: all.slice(0, 2) })
    expect((await page({ limit: 2, after: all[1]! })).ids).toEqual(all.slice(2, 4))
    expect(await page({ limit: 2, before: all[3]! })).toMatchObject({ has_more: true, ids: all.slice(1, 3) })
    expect(await page({ limit: 2, before: all[1]! })).toMatchObject({ has_more: false, ids: all.slice(0, 1) })
    expect(await refused(resend.emails.list({ after: 'nonsense' }))).toMatchObject({ what: '422 validation_error' })
    expect((await refused(resend.emails.list({ before: `msg_${'0'.repeat(26)}` }))).message).toContain(
      'before is not among',
    )
  })

  const NO_FILE = [
    { filename: 'a', content: 'aGk=' },
    { filename: 'b', path: 'https://127.0.0.2/b' },
  ]
  const bad: [what: string, message: RegExp, change: Record<string, unknown>][] = [
    ['422 missing_required_field', /^to is required$/, { to: undefined }],
    ['422 invalid_from_address', /^from must be/, { from: 'shop' }],
    ['403 validation_error', /domain/, { from: 'a@else.example' }],
    ['422 validation_error', /html/, { html: undefined }],
    ['422 validation_error', /^scheduled_at must be an ISO 8601 time/, { scheduledAt: 'when it suits' }],
    ['422 validation_error', /30 days/, { scheduledAt: 'in 8 weeks' }],
    ['422 validation_error', /no topics/, { topicId: 'top_1' }],
    [
      '422 invalid_attachment',
      /^attachments\[0\].content is required, or the URL/,
      { attachments: [{ filename: 'a' }] },
    ],
    ['422 invalid_attachment', /^attachments\[0\].path is not accepted/, { attachments: [{ path: './bill.pdf' }] }],
    ['422 invalid_attachment', /^attachments\[1\].path .* 127.0.0.2 has no public address$/, { attachments: NO_FILE }],
    ['422 validation_error', /^tags/, { tags: [{ name: 'x', value: 'y'.repeat(5000) }] }],
    ['422 validation_error', /^headers.From/, { headers: { From: 'x' } }],
    [
      '422 validation_error',
      /^headers.X-Service-Replies must be the ID or name/,
      { headers: { 'X-Service-Replies': 'Nobody' } },
    ],
    ['422 validation_error', /^headers.List-Unsubscribe must be a list/, { headers: { 'List-Unsubscribe': 'no' } }],
  ]
  test.each(bad)('is refused as %s with %p', async (what, message, change) => {
    expect(await refused(resend.emails.send({ ...MAIL, ...change } as never))).toEqual({
      what,
      message: expect.stringMatching(message),
    })
  })
})

describe('a caller', () => {
  test('without a key of this server gets an error that says so', async () => {
    expect(await refused(withKey('re_123456789').emails.send(MAIL))).toEqual({
      what: '401 invalid_api_key',
      message: expect.stringContaining('svc_live_'),
    })
    expect(await refused(withKey('svc_live_unknown').emails.list())).toMatchObject({ what: '401 invalid_api_key' })
    const bare = await fetch(`${resend.baseUrl}/emails`)
    expect([bare.status, ((await bare.json()) as Json).name]).toEqual([401, 'missing_api_key'])
  })

  // threat: compatible-api-permissions
  test('with a sending key can only send', async () => {
    const { token, id } = await data(resend.apiKeys.create({ name: 'sender', permission: 'sending_access' }))
    expect(token).toMatch(/^svc_live_/)
    expect(await data(withKey(token).emails.send(MAIL))).toEqual({ id: ID('msg') })
    expect(await refused(withKey(token).domains.list())).toMatchObject({ what: '401 restricted_api_key' })
    const keys = (await data(resend.apiKeys.list())).data
    expect(keys.find((key) => key.id === id)).toMatchObject({ name: 'sender', created_at: NOON })
    expect(await data(resend.apiKeys.remove(id))).toEqual({ object: 'api_key', id, deleted: true })
    expect((await data(resend.apiKeys.list())).data.map((key) => key.id)).not.toContain(id)
    expect(await refused(withKey(token).emails.send(MAIL))).toMatchObject({ what: '401 invalid_api_key' })
  })

  // threat: compatible-api-permissions
  test('finds nothing of another organization', async () => {
    const store = server.store()
    const mintId = createMintId(server.clock, systemRandom)
    const organizationId = mintId('org')
    await store.organizations.create({ id: organizationId, name: 'Other', plan: 'enterprise', createdAt: START })
    const domain = newDomain({ id: mintId('dom'), organizationId, name: 'other.example' }, START, [])
    await store.domains.create(domain, -1)
    const owner = { organizationId, domainId: domain.id, createdAt: START }
    const { value } = await addKey(store, { id: mintId('key'), ...owner, permissions: ['admin'] })
    const outsider = withKey(value)

    const ours = await data(resend.emails.send({ ...MAIL, scheduledAt: 'in 1 hour' }))
    const { data: keys } = await data(resend.apiKeys.list())
    const { data: domains } = await data(resend.domains.list())
    const responses = [
      outsider.emails.get(ours.id),
      outsider.emails.cancel(ours.id),
      outsider.emails.update({ id: ours.id, scheduledAt: 'in 1 min' }),
      outsider.apiKeys.remove(keys[0]!.id),
      outsider.domains.get(domains[0]!.id),
      outsider.domains.remove(domains[0]!.id),
      outsider.webhooks.get(server.webhook.id),
      outsider.webhooks.remove(server.webhook.id),
      outsider.webhooks.rotateSigningSecret(server.webhook.id),
    ]
    for (const answer of responses) expect(await refused(answer as never)).toMatchObject({ what: '404 not_found' })
    expect((await data(outsider.emails.list())).data).toEqual([])
    const page = await data(outsider.emails.list({ after: ours.id }))
    expect(page).toEqual({ object: 'list', has_more: false, data: [] })
    const grant = outsider.apiKeys.create({ name: 'x', domain_id: domains[0]!.id })
    expect(await refused(grant)).toMatchObject({ what: '404 not_found' })
    expect((await data(resend.emails.get(ours.id))).last_event).toBe('scheduled')
  })

  test('gets the sandbox with a sandbox key', async () => {
    const { id } = await data(withKey(server.keys.test).emails.send({ ...MAIL, to: 'bounce@one.remote.example' }))
    expect((await data(resend.emails.get(id))).last_event).toBe('bounced')
  })

  test('is in the audit log and counts against the rate as with /v1', async () => {
    const { id } = await data(resend.domains.create({ name: 'audited.example' }))
    const entries = (await server.read('/v1/audit-log?limit=5')).data
    expect(entries[0]).toMatchObject({ action: 'resend_domains_create', resource_id: id, outcome: 'done' })
    const { headers } = await resend.emails.list()
    expect(headers).toMatchObject({ 'ratelimit-limit': expect.any(String), 'x-request-id': ID('req') })
  })

  test('gets a hint when an endpoint does not exist', async () => {
    for (const answer of [
      resend.broadcasts.list(),
      resend.contacts.list({ audienceId: 'x' }),
      resend.templates.list(),
    ]) {
      expect(await refused(answer as never)).toEqual({
        what: '404 not_found',
        message: expect.stringContaining('migration'),
      })
    }
    expect(await refused(resend.emails.get('49a3999c-0ce1-4ea6-ab68-afcd6dc2e794'))).toMatchObject({
      what: '404 not_found',
    })
  })
})

test('a domain is added, shown with its records, changed, verified and removed', async () => {
  const { id, records, ...made } = await data(
    resend.domains.create({ name: 'news.moved.example', clickTracking: true, trackingSubdomain: 'links' }),
  )
  expect(made).toEqual({
    name: 'news.moved.example',
    status: 'not_started',
    created_at: NOON,
    region: 'self-hosted' as never,
    capabilities: { sending: 'enabled', receiving: 'disabled' },
    open_tracking: false,
    click_tracking: true,
    tracking_subdomain: 'links',
  })
  const shown = records.map(
    ({ record, type, name, status }) => `${record} ${type} ${name.replace(/pr\w+/, 'S')} ${status}`,
  )
  expect(shown.toSorted()).toEqual([
    'DKIM TXT S._domainkey.news not_started',
    'DKIM TXT S._domainkey.news not_started',
    'SPF MX bounces.news not_started',
    'SPF TXT bounces.news not_started',
    'Tracking CNAME links.news not_started',
  ])
  expect(await data(resend.domains.get(id))).toEqual({ object: 'domain', id, records, ...made })
  expect((await data(resend.domains.list())).data).toContainEqual({ id, ...made })

  expect(await data(resend.domains.update({ id, openTracking: true, clickTracking: false }))).toEqual({
    object: 'domain',
    id,
  })
  expect(await data(resend.domains.get(id))).toMatchObject({ open_tracking: true, click_tracking: false })
  const domain = (await server.store().domains.get(id))!
  for (const { type, name, value, priority } of dnsRecords(domain, ownServer(`mail.${DOMAIN}`))) {
    server.zone.set(name, type, [priority === null ? value : { preference: priority, exchange: value }])
  }
  expect(await data(resend.domains.verify(id))).toEqual({ object: 'domain', id })
  expect(await data(resend.domains.get(id))).toMatchObject({ status: 'verified' })
  expect(await refused(resend.domains.create({ name: 'news.moved.example' }))).toMatchObject({
    what: '409 validation_error',
  })
  expect(await refused(resend.domains.create({ name: 'x.example', region: 'eu-west-1' }))).toMatchObject({
    what: '422 invalid_region',
  })
  expect((await refused(resend.domains.update({ id, tls: 'enforced' }))).message).toContain('require_tls')
  expect(await data(resend.domains.remove(id))).toEqual({ object: 'domain', id, deleted: true })
  expect(await refused(resend.domains.get(id))).toMatchObject({ what: '404 not_found' })
})

test('an address is suppressed, found and removed', async () => {
  const email = 'stop@one.remote.example'
  const { id } = await data(resend.suppressions.add({ email }))
  const record = { id, email, origin: 'manual' as const, source_id: null, created_at: NOON }
  expect(await data(resend.suppressions.get(email))).toEqual({ object: 'suppression', ...record })
  expect((await data(resend.suppressions.list())).data).toEqual([record])
  expect((await data(resend.suppressions.list({ origin: 'bounce' }))).data).toEqual([])
  expect((await data(resend.suppressions.list({ origin: 'manual' }))).data).toEqual([record])
  expect(await data(resend.suppressions.add({ email: 'Stop@one.remote.example' }))).toEqual({
    object: 'suppression',
    id,
  })
  const sent = await data(resend.emails.send({ ...MAIL, to: email }))
  expect((await data(resend.emails.get(sent.id))).last_event).toBe('suppressed')
  expect(await data(resend.suppressions.remove(email))).toEqual({ object: 'suppression', id, deleted: true })
})

describe('webhooks', () => {
  const EVENTS = ['email.delivered', 'email.bounced', 'email.opened', 'email.clicked', 'email.complained'] as const

  test('posts pass the package’s own verification, and have the shape of its types', async () => {
    const { url: endpoint } = server.receiver
    const made = await data(resend.webhooks.create({ endpoint, events: [...EVENTS, 'email.delivery_delayed'] }))
    expect(made).toEqual({
      object: 'webhook',
      id: ID('whk') as never,
      signing_secret: expect.stringMatching(/^whsec_/),
    })
    const posted = async (name: string) => {
      const to = `${name}@one.remote.example`
      const tags = [{ name: 'category', value: 'receipt' }]
      const { id } = await data(withKey(server.keys.test).emails.send({ ...MAIL, to, tags }))
      const isIt = ({ headers, body }: Json) => headers['svix-id'] !== undefined && body.includes(id)
      await until(`what is posted for ${name}`, () => server.receiver.requests.filter(isIt).length >= COUNTS[name]!)
      const { message_id } = await data(resend.emails.get(id))
      const data_ = { email_id: id, message_id, created_at: NOON, from: FROM, to: [to], subject: 'Hello' }
      const general = { ...data_, tags: { category: 'receipt' } }
      return { general, events: server.receiver.requests.filter(isIt).map(verified(made.signing_secret)) }
    }

    const delivered = await posted('ann')
    expect(delivered.events).toEqual([{ type: 'email.delivered', created_at: NOON, data: delivered.general }])
    const bounced = await posted('bounce')
    const bounce = { type: 'Permanent', subType: 'General', message: expect.any(String) }
    expect(bounced.events).toEqual([{ type: 'email.bounced', created_at: NOON, data: { ...bounced.general, bounce } }])
    const soft = await posted('softbounce')
    expect(soft.events.at(-1)).toMatchObject({ type: 'email.bounced', data: { bounce: { type: 'Transient' } } })
    const clicked = (await posted('click')).events.find(({ type }) => type === 'email.clicked')
    expect(clicked!.data).toMatchObject({ click: { link: expect.any(String), ipAddress: expect.any(String) } })
    expect((await posted('complain')).events.map(({ type }) => type)).toContain('email.complained')
    expect((await posted('defer')).events.map(({ type }) => type)).toContain('email.delivery_delayed')
    expect((await posted('open')).events.map(({ type }) => type)).toContain('email.opened')
    await data(resend.webhooks.remove(made.id))
  })
  /** Sandbox recipient → number of webhook requests. */
  const COUNTS: Record<string, number> = { ann: 1, bounce: 1, softbounce: 1, click: 3, complain: 2, defer: 2, open: 2 }

  /** Request → its event, verified with the headers that Resend documents and with those of Standard Webhooks. A
   *  changed payload must fail. */
  const verified =
    (webhookSecret: string) =>
    ({ headers, body: payload }: Json) => {
      setSystemTime(START) // the package uses the real clock
      const named = (prefix: string) => ({
        id: headers[`${prefix}-id`],
        timestamp: headers[`${prefix}-timestamp`],
        signature: headers[`${prefix}-signature`],
      })
      try {
        expect(() =>
          resend.webhooks.verify({ payload: `${payload} `, headers: named('svix'), webhookSecret }),
        ).toThrow()
        const event = resend.webhooks.verify({ payload, headers: named('svix'), webhookSecret })
        expect(resend.webhooks.verify({ payload, headers: named('webhook'), webhookSecret })).toEqual(event)
        return event
      } finally {
        setSystemTime()
      }
    }

  test('one is listed, changed, given a new secret and removed', async () => {
    const endpoint = server.receiver.url
    const { id, signing_secret } = await data(resend.webhooks.create({ endpoint, events: ['email.bounced'] }))
    const record = { id, endpoint, events: ['email.bounced'] as never, status: 'enabled' as const, created_at: NOON }
    expect((await data(resend.webhooks.list())).data).toContainEqual(record)
    expect(await data(resend.webhooks.get(id))).toEqual({ object: 'webhook', ...record, signing_secret })
    const change = { status: 'disabled', events: ['email.opened'] } as const
    expect(await data(resend.webhooks.update(id, change as never))).toEqual({ object: 'webhook', id })
    expect(await data(resend.webhooks.get(id))).toMatchObject(change as never)
    const rotated = await data(resend.webhooks.rotateSigningSecret(id))
    expect(rotated).toEqual({ object: 'webhook', id, signing_secret: expect.stringMatching(/^whsec_/) })
    expect(rotated.signing_secret).not.toBe(signing_secret)
    expect((await data(resend.webhooks.get(id))).signing_secret).toBe(rotated.signing_secret)
    expect(await data(resend.webhooks.remove(id))).toEqual({ object: 'webhook', id, deleted: true })
  })

  test('the secret of a webhook that /v1 created stays hidden', async () => {
    expect(await data(resend.webhooks.get(server.webhook.id))).toMatchObject({ signing_secret: null as never })
  })

  // threat: endpoint-headers-moved
  test('one keeps its headers through changes here, and loses them with another host', async () => {
    const { id } = await data(resend.webhooks.create({ endpoint: server.receiver.url, events: ['email.bounced'] }))
    await server.ask('PATCH', `/v1/webhooks/${id}`, { headers: { 'X-Api-Key': 'key of the gateway' } })
    const names = async () => (await server.read(`/v1/webhooks/${id}`)).header_names
    await data(resend.webhooks.update(id, { status: 'disabled' } as never))
    expect(await names()).toEqual(['X-Api-Key'])
    await data(resend.webhooks.update(id, { endpoint: 'https://elsewhere.example/' } as never))
    expect(await names()).toEqual([])
    await data(resend.webhooks.remove(id))
  })

  test('an event that is never published, and an address that is not public, are refused with an explanation', async () => {
    const sent = await refused(resend.webhooks.create({ endpoint: server.receiver.url, events: ['contact.created'] }))
    expect(sent).toEqual({ what: '422 validation_error', message: expect.stringContaining('email.delivered') })
    const inside = await refused(resend.webhooks.create({ endpoint: 'https://10.0.0.1/', events: ['email.bounced'] }))
    expect(inside).toEqual({
      what: '422 validation_error',
      message: expect.stringMatching(/^endpoint is not accepted/),
    })
  })
})

test('a key follows the role of the user who made it', async () => {
  const mintId = createMintId(server.clock, systemRandom)
  const [id, times] = [mintId('usr'), { createdAt: START, disabledAt: null, lastSeenAt: null }]
  const roles = { [server.organizationId]: 'developer' } as const
  const user = { id, email: 'dev@a.example', name: 'Dev', isOperator: false, roles }
  await server.store().users.create({ ...user, ...times, ...VERIFIED }, null)
  const domain = (await server.store().domains.findOf(server.organizationId, DOMAIN))!
  const owner = { organizationId: server.organizationId, domainId: domain.id, createdAt: START, createdBy: id }
  const { value } = await addKey(server.store(), { id: mintId('key'), ...owner, permissions: ['send'] })
  await data(withKey(value).emails.send(MAIL))
  await server.store().users.setRole(id, server.organizationId, 'viewer', true)
  await server.clock.advance(1_000)
  expect((await refused(withKey(value).emails.send(MAIL))).what).toStartWith('401 ')
})
