import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { systemClock } from '../../src/client/clock.ts'
import {
  ConflictError,
  ConnectionError,
  ForbiddenError,
  InvalidStateError,
  NotFoundError,
  Postrider,
  TimeoutError,
  UnauthorizedError,
  ValidationError,
} from '../../src/client/index.ts'
import { PATIENCE_MS, until } from '../support/patience.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, MAIL, START, startTestServer, type TestServer } from '../support/server.ts'
import { startLine } from './line.ts'

/** The client with a complete server, over a real socket. */
let remote: RemoteMx
let server: TestServer
let live: Postrider
let sandbox: Postrider
beforeAll(async () => {
  remote = await startRemoteMx()
  server = await startTestServer({ remote })
  const baseUrl = `http://${server.running().listening.http}`
  live = new Postrider({ baseUrl, apiKey: server.keys.live, timeoutMs: PATIENCE_MS })
  sandbox = new Postrider({ baseUrl, apiKey: server.keys.test, timeoutMs: PATIENCE_MS })
})
afterAll(async () => {
  await server.close()
  await remote.stop()
})

const SANDBOX = { ...MAIL, to: 'ann@customer.example' }

test('a mail is sent, waited for, and read back with its whole record', async () => {
  const { id, status } = await live.messages.send(MAIL)
  expect(status).toBe('queued')
  const message = await live.messages.waitFor(id)
  expect(message).toMatchObject({ status: 'delivered', metadata: MAIL.metadata, tags: ['receipt'] })
  const { data: attempts, reports } = await live.messages.attempts(id)
  expect([attempts.map(({ outcome }) => outcome), reports]).toEqual([['delivered'], []])
  const events = await Array.fromAsync(live.messages.events(id))
  expect(events.map(({ type }) => type)).toEqual(['message.delivered'])
  expect((await live.messages.content(id)).html).toBe(MAIL.html)
  expect(await live.messages.content(id, { part: 'html' })).toBe(MAIL.html)
  const raw = await live.messages.content(id, { part: 'raw' })
  expect(new TextDecoder().decode(raw)).toContain('DKIM-Signature:')
  expect((await live.messages.explain(id)).message_id).toBe(id)
})

test('an answer that is not JSON is text or bytes, empty or not', async () => {
  const attachments = ['', 'AP8='].map((content, index) => ({
    filename: `${index}.txt`,
    content,
    content_type: 'text/plain',
  }))
  const { id } = await sandbox.messages.send({ ...SANDBOX, attachments })
  expect(await sandbox.messages.attachment(id, 1)).toEqual(new Uint8Array())
  expect(await sandbox.messages.attachment(id, 2)).toEqual(Uint8Array.of(0, 255))
  await expect(sandbox.messages.attachment(id, 3)).rejects.toBeInstanceOf(NotFoundError)
  expect((await sandbox.messages.content(id, { part: 'text' })).trim()).toBe('Hi Ann')
})

test('a call can wait for the outcome', async () => {
  const { status } = await live.messages.send(MAIL, { waitSeconds: 30 })
  expect(status).toBe('delivered')
})

test('the same key gives the first answer again, and with another body a ConflictError', async () => {
  const first = await sandbox.messages.send(SANDBOX, { idempotencyKey: 'order-1' })
  expect(await sandbox.messages.send(SANDBOX, { idempotencyKey: 'order-1' })).toEqual(first)
  const other = sandbox.messages.send({ ...SANDBOX, subject: 'Other' }, { idempotencyKey: 'order-1' })
  const error = await other.catch((reason) => reason)
  expect(error).toBeInstanceOf(ConflictError)
  expect(error.details).toMatchObject({ reason: 'idempotency_key_reused' })
  // Without an idempotency key, two calls create two messages.
  expect((await sandbox.messages.send(SANDBOX)).id).not.toBe((await sandbox.messages.send(SANDBOX)).id)
})

test('a lost answer costs a repetition and no second mail', async () => {
  await using line = await startLine(server.running().listening.http!)
  const unlucky = new Postrider({
    baseUrl: line.url,
    apiKey: server.keys.test,
    clock: { ...systemClock, random: () => 0 },
  })
  const tags = ['lost']
  for (const lost of [1, 2]) {
    line.loseAnswers(lost)
    await unlucky.messages.send({ ...SANDBOX, tags })
  }
  line.loseAnswers(3)
  const { error } = await unlucky.messages.send({ ...SANDBOX, tags }).safe()
  expect(error).toBeInstanceOf(ConnectionError)
  await unlucky.messages.send({ ...SANDBOX, tags }, { idempotencyKey: error!.idempotencyKey! })
  expect(await Array.fromAsync(sandbox.messages.list({ tag: 'lost' }))).toHaveLength(3)
})

test('a list is read over all its pages, in order, and one page is one page', async () => {
  const tag = 'pages'
  const sent = await sandbox.messages.batch({
    messages: Array.from({ length: 7 }, () => ({ ...SANDBOX, tags: [tag] })),
  })
  const ids = sent.data.map((result) => ('error' in result ? result.error.message : result.id))
  const listed = await Array.fromAsync(sandbox.messages.list({ tag, limit: 3 }), ({ id }) => id)
  expect(listed).toEqual(ids.toReversed())

  const page = await sandbox.messages.list({ tag, limit: 3 }).page()
  expect([page.data.length, page.has_more]).toEqual([3, true])
  const next = await sandbox.messages.list({ tag, limit: 3, cursor: page.next_cursor! }).page()
  expect(next.data.map(({ id }) => id)).toEqual(listed.slice(3, 6))
  expect(await Array.fromAsync(sandbox.messages.list({ tag: 'none' }))).toEqual([])
  const byMetadata = sandbox.messages.list({ tag, metadata: { order: 'o-17' }, limit: 100 })
  expect(await Array.fromAsync(byMetadata)).toHaveLength(7)
})

test('a batch reports the result of each message', async () => {
  const { data } = await sandbox.messages.batch({ messages: [SANDBOX, { ...SANDBOX, to: 'nobody' }] })
  expect(data.map((result) => ('error' in result ? result.error.code : result.status))).toEqual([
    'delivered',
    'validation_error',
  ])
})

test('events are read after the last one seen, oldest first', async () => {
  const [latest] = (await sandbox.events.list({ limit: 1 }).page()).data
  const sent = await sandbox.messages.batch({
    messages: [1, 2, 3].map(() => ({ ...SANDBOX, to: 'bounce@customer.example' })),
  })
  const seen = []
  for await (const event of sandbox.events.list({ after: latest!.id, limit: 2 })) {
    if (event.type === 'message.bounced') seen.push(event.data.message_id)
  }
  expect(seen).toEqual(sent.data.map((result) => ('error' in result ? '' : result.id)))
})

test('a scheduled message is moved and cancelled', async () => {
  const at = (hours: number) => new Date(START + hours * 3_600_000).toISOString()
  const { id } = await live.messages.send({ ...MAIL, scheduled_at: at(1) })
  expect((await live.messages.reschedule(id, new Date(START + 7_200_000))).scheduled_at).toBe(at(2))
  expect((await live.messages.reschedule(id, at(3))).scheduled_at).toBe(at(3))
  await expect(live.messages.waitFor(id, { timeoutMs: 0 })).rejects.toBeInstanceOf(TimeoutError)
  expect((await live.messages.cancel(id)).status).toBe('cancelled')
  await expect(live.messages.cancel(id)).rejects.toBeInstanceOf(InvalidStateError)
})

test('a webhook is managed from its creation to its deletion', async () => {
  const made = await live.webhooks.create({
    url: server.receiver.url,
    events: ['message.clicked'],
    description: 'mine',
  })
  expect(made.secret).toMatch(/^whsec_/)
  await live.webhooks.test(made.id, { type: 'message.clicked' })
  // The server may still post events of earlier mails to its other webhook.
  const ofTest = () => server.receiver.requests.find(({ body }) => body.includes('message.clicked'))
  await until('the test event', ofTest)
  const { headers, bytes } = ofTest()!
  const event = await live.webhooks.unwrap(bytes, headers, made.secret, { now: server.clock.now })
  if (event.type !== 'message.clicked') throw new Error(event.type)
  expect([event.data.test, typeof event.data.url]).toEqual([true, 'string'])

  const { secret } = await live.webhooks.rotateSecret(made.id, { grace_period_minutes: 0 })
  expect(secret).not.toBe(made.secret)
  const [delivery] = await Array.fromAsync(live.webhooks.deliveries.list(made.id))
  expect(await live.webhooks.deliveries.get(made.id, delivery!.id)).toMatchObject({ event_id: event.id })
  expect(await live.webhooks.update(made.id, { status: 'paused' })).toMatchObject({ status: 'paused' })
  expect(await live.webhooks.delete(made.id)).toEqual({ id: made.id, deleted: true })
})

test('templates, suppressions, keys and statistics are managed', async () => {
  await live.templates.create({ name: 'Hi', alias: 'hi', subject: 'Hi {{ name }}', text: 'Hello' })
  expect(await live.templates.render('hi', { variables: { name: 'Ann' } })).toMatchObject({ subject: 'Hi Ann' })
  const { id } = await live.suppressions.create({ email: 'stop@customer.example' })
  expect(await live.suppressions.get('stop@customer.example')).toMatchObject({ id, reason: 'manual' })
  await live.suppressions.delete('stop@customer.example')
  const [domain] = await Array.fromAsync(live.domains.list())
  const key = await live.apiKeys.create({ name: 'shop', domain_id: domain!.id, permissions: ['send'] })
  const { status } = await new Postrider({
    baseUrl: `http://${server.running().listening.http}`,
    apiKey: key.key,
  }).messages.send(MAIL)
  expect(status).toBe('queued')
  expect((await live.stats.read({ mode: 'live' })).totals.accepted).toBeGreaterThan(0)
  expect((await live.usage.get()).plan).toBe('enterprise')
  expect((await live.explain.address({ to: MAIL.to })).would_send).toBe(true)
  expect((await live.messages.analyze({ from: MAIL.from, subject: 'FREE!!!', text: 'x' })).score).toBeLessThan(100)
  const actions = await Array.fromAsync(live.auditLog.list({ limit: 100 }), ({ action }) => action)
  expect(actions).toContain('api_keys_create')
})

describe('errors', () => {
  test('of a bad field name every bad field', async () => {
    const { error } = await live.messages.send({ from: `a@${DOMAIN}`, to: 'nobody', subject: 'x\ny', html: 'x' }).safe()
    expect(error).toBeInstanceOf(ValidationError)
    expect(error?.errors.map(({ field }) => field)).toEqual(['to', 'subject'])
    expect(error?.requestId).toMatch(/^req_/)
  })

  test('report a foreign sender, an unknown id and an invalid key', async () => {
    const { error: sender } = await live.messages.send({ ...MAIL, from: 'a@elsewhere.example' }).safe()
    expect(sender).toBeInstanceOf(ForbiddenError)
    const { error: id, requestId } = await live.messages.get('msg_00000000000000000000000000').safe()
    expect(id).toBeInstanceOf(NotFoundError)
    expect(requestId).toBe(id!.requestId)
    const stranger = new Postrider({ baseUrl: `http://${server.running().listening.http}`, apiKey: 'svc_live_x' })
    expect((await stranger.usage.get().safe()).error).toBeInstanceOf(UnauthorizedError)
  })
})
