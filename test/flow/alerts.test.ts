import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import type { ConfigValues } from '../../src/config/load.ts'
import { until } from '../support/patience.ts'
import { describeWithPostgres, startPostgres } from '../support/postgres.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { type Json, startTestServer, type TestServer } from '../support/server.ts'
import { addUser, cookieOf, decoded, MAIL_FROM, page } from '../support/user-mail.ts'

/** Alerts of the server, in each kind of channel: HTTPS receivers, a mail server of its own, and our queue. */

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const OPERATOR = 'olivia@boss.remote.example'
const TYPES = ['webhook', 'slack', 'discord', 'teams'] as const
const PAUSED = 'Webhooks paused'

let folder: string
let receivers: Record<(typeof TYPES)[number], Receiver>
let remote: RemoteMx
let mailServer: RemoteMx
let server: TestServer

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-alerts-'))
  const started = await Promise.all(TYPES.map(async (type) => [type, await startReceiver()] as const))
  receivers = Object.fromEntries(started) as typeof receivers
  remote = await startRemoteMx()
  mailServer = await startRemoteMx({ login: { user: 'alerts', password: 'let me in' } })
  writeFileSync(join(folder, 'secret'), `${SECRET}\n`, { mode: 0o600 })
  writeFileSync(join(folder, 'password'), 'let me in\n', { mode: 0o600 })
  for (const type of TYPES) writeFileSync(join(folder, type), `${receivers[type].url}/${type}-token\n`, { mode: 0o600 })
})
afterEach(async () => {
  await server.close()
  for (const type of TYPES) await receivers[type].stop()
  await Promise.all([remote.stop(), mailServer.stop()])
  rmSync(folder, { recursive: true })
})

const channelOf = (type: (typeof TYPES)[number], change: object = {}) => ({
  name: type,
  type,
  url_file: join(folder, type),
  ...(type === 'webhook' ? { secret_file: join(folder, 'secret') } : {}),
  ...change,
})
const mailServerChannel = (change: object = {}) => ({
  name: 'mail-server',
  type: 'mail' as const,
  to: 'ops@elsewhere.example',
  from: 'alerts@elsewhere.example',
  host: '127.0.0.1',
  port: mailServer.port,
  tls: 'none' as const,
  username: 'alerts',
  password_file: join(folder, 'password'),
  ...change,
})
const open = async (channels: ConfigValues['alerts'] & object, rest: ConfigValues = {}) => {
  server = await startTestServer({
    remote,
    config: { users: { mail_from: MAIL_FROM }, health: { look_outside: false }, alerts: channels, ...rest },
  })
}
const pause = () =>
  server
    .store()
    .webhooks.update(
      server.webhook.id,
      { status: 'paused', disabledReason: 'The endpoint returned 410 Gone.' },
      server.clock.now(),
    )
const resume = () =>
  server.store().webhooks.update(server.webhook.id, { status: 'active', disabledReason: null }, server.clock.now())

/** Posts about the paused webhook; health checks of this machine may have alerts of their own. */
const posts = (type: (typeof TYPES)[number]) =>
  receivers[type].requests.filter(({ body }) => body.includes(PAUSED) || body.includes('alert.test'))
const mails = ({ mails }: RemoteMx) => mails.map(decoded).filter((text) => text.includes(PAUSED))
/** Time passes in steps, as the tasks of the server need it. */
const pass = async (minutes: number) => {
  for (let at = 0; at < minutes * 6; at++) await server.clock.leap(10_000)
}
const untilAlert = (state: string) =>
  until(`an alert to be ${state}`, async () => {
    await server.clock.advance(1_000)
    const alerts = [...(await server.store().alerts.open()), ...(await server.store().alerts.ended(50))]
    return alerts.some((alert) => alert.kind === 'webhook_paused' && alert.state === state)
  })
const untilTold = (what: string, holds: () => boolean) =>
  until(what, async () => {
    if (holds()) return true
    await server.clock.advance(1_000)
    return false
  })
/** What was told is stored: a stop before that would lead to a second notice. */
const untilStored = (...channels: string[]) =>
  until(`results of ${channels} to be stored`, async () => {
    const { alerts } = server.store()
    const paused = (await alerts.open()).find(({ kind }) => kind === 'webhook_paused')
    const notices = (await alerts.notices()).filter(({ alertId }) => alertId === paused?.id)
    return channels.every((name) => notices.some(({ channel, status }) => channel === name && status === 'delivered'))
  })
const operator = async () => {
  await addUser(server, OPERATOR, { isOperator: true })
  return { cookie: await cookieOf(server, OPERATOR) }
}

test('every channel gets one notice of the beginning and one of the end, with restarts in between', async () => {
  const ownMail = { name: 'own-queue', type: 'mail' as const, to: 'ops@boss.remote.example' }
  await open({ channels: [...TYPES.map((type) => channelOf(type)), mailServerChannel(), ownMail] })
  const counts = () => [...TYPES.map((type) => posts(type).length), mails(mailServer).length, mails(remote).length]
  await pause()
  await untilAlert('firing')
  await untilTold('all channels to be told', () => counts().every((count) => count > 0))
  await untilStored(...TYPES, 'mail-server', 'own-queue')
  await server.stop()
  await server.reopen()
  await pass(5)
  expect(counts()).toEqual([1, 1, 1, 1, 1, 1])

  const [post] = posts('webhook')
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = post!.headers
  expect(new Webhook(SECRET).sign(id!, new Date(Number(at) * 1000), post!.body)).toBe(signature!)
  const { type, data } = JSON.parse(post!.body)
  expect(type).toBe('alert.firing')
  expect(data).toMatchObject({
    kind: 'webhook_paused',
    subject: server.organizationId,
    severity: 'warning',
    node: null,
  })
  expect(data.message).toBe('1 webhook of the organization “Shop” is paused. The endpoint returned 410 Gone.')
  expect(post!.headers['webhook-id']).toBe(`${data.id}_firing_0`)
  expect(posts('slack')[0]!.path).toEndWith('/slack-token')
  expect(JSON.parse(posts('slack')[0]!.body)).toMatchObject({
    text: expect.stringContaining(`Warning: ${PAUSED}`),
    blocks: [{ type: 'header' }, { type: 'section' }, { type: 'section' }, { type: 'context' }],
  })
  expect(JSON.parse(posts('discord')[0]!.body)).toMatchObject({
    embeds: [{ title: expect.stringContaining(PAUSED), color: 0xd68910 }],
    allowed_mentions: { parse: [] },
  })
  expect(JSON.parse(posts('teams')[0]!.body)).toMatchObject({
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content: { type: 'AdaptiveCard' } }],
  })
  const [mail] = mails(mailServer)
  expect(mail).toContain(`Message-ID: <${data.id}_firing_0@elsewhere.example>`)
  expect(mail).toContain('What to do: Tell the organization.')

  await resume()
  await pass(30)
  await server.stop()
  await server.reopen()
  await untilAlert('resolved')
  await untilTold('all channels to be told of the end', () => counts().every((count) => count > 1))
  await pass(5)
  expect(counts()).toEqual([2, 2, 2, 2, 2, 2])
  expect(JSON.parse(posts('webhook')[1]!.body)).toMatchObject({ type: 'alert.resolved', data: { id: data.id } })
  expect(JSON.parse(posts('discord')[1]!.body).embeds[0].color).toBe(0x1e8449)
})

test('a failed post is repeated with the same ID, and what was under way at a crash once', async () => {
  await open({ channels: [channelOf('webhook'), channelOf('slack')] })
  receivers.webhook.script(500, 200)
  receivers.slack.script('hang')
  await pause()
  await untilTold('the post that hangs', () => posts('slack').length === 1)
  await untilTold('the second attempt', () => posts('webhook').length === 2)
  const [first, second] = posts('webhook')
  expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id'])
  expect(second!.headers['x-service-delivery-attempt']).toBe('2')

  await untilStored('webhook')
  await server.stop('with work that hangs')
  receivers.slack.release(200)
  receivers.slack.script(200)
  await server.reopen()
  await untilTold('the post again', () => posts('slack').length > 1)
  await pass(15)
  expect([posts('slack').length, posts('webhook').length]).toEqual([2, 2])
})

test('a channel leaves out what is less severe', async () => {
  await open({ channels: [channelOf('webhook', { min_severity: 'critical' }), channelOf('slack')] })
  await pause()
  await untilTold('one channel to be told', () => posts('slack').length === 1)
  await pass(3)
  expect(posts('webhook')).toEqual([])
  const [alert] = await server.store().alerts.open()
  expect(alert).toMatchObject({ kind: 'webhook_paused', state: 'firing' })
})

test('with repeat_after_hours, an alert that still fires is sent again', async () => {
  await open({ channels: [channelOf('webhook')], repeat_after_hours: 0.25 })
  await pause()
  await untilTold('the first post', () => posts('webhook').length === 1)
  await untilTold('the second post', () => posts('webhook').length > 1)
  const ids = posts('webhook').map(({ headers }) => headers['webhook-id']!.slice(-9))
  expect(ids.slice(0, 2)).toEqual(['_firing_0', '_firing_1'])
})

test('a health check has to fail twice, and the alert says what to do', async () => {
  await open({ channels: [channelOf('webhook')] })
  const told = () =>
    receivers.webhook.requests.map(({ body }) => JSON.parse(body)).filter(({ data }) => data.subject === 'domains')
  await pass(2)
  const [domain] = (await server.read('/v1/domains')).data
  const record = domain.dns_records.find(({ name }: Json) => name.includes('_domainkey'))
  server.zone.remove(record.name)
  const headers = await operator()
  await page(server, 'POST', '/v1/health-checks/run', { headers, body: {} })
  await pass(3)
  expect(told()).toEqual([])
  await untilTold('the alert', () => told().length === 1)
  expect(told()[0]).toMatchObject({ type: 'alert.firing', data: { kind: 'health_check', severity: 'critical' } })
  expect(told()[0].data.message).toBe(`${domain.name} has 1 missing or different DNS record`)
  server.zone.set(record.name, 'TXT', [record.value])
  await page(server, 'POST', '/v1/health-checks/run', { headers, body: {} })
  await untilTold('its end', () => told().length === 2)
  expect(told()[1].type).toBe('alert.resolved')
})

describe('the operator', () => {
  // threat: alert-secrets
  test('lists alerts, and tests every channel, without seeing where they lead', async () => {
    receivers.slack.script(404)
    const broken = { name: 'broken', type: 'discord' as const, url_file: join(folder, 'missing') }
    await open({ channels: [channelOf('webhook'), channelOf('slack'), broken, mailServerChannel()] })
    const headers = await operator()
    await pause()
    await untilTold('the alert', () => posts('webhook').length === 1)
    const { body } = await page(server, 'POST', '/v1/alerts/test', { headers, body: {} })
    const results = body.data.map(({ channel, delivered, error }: Json) => [channel, delivered, error])
    expect(results).toEqual([
      ['webhook', true, null],
      ['slack', false, 'HTTP 404'],
      ['broken', false, 'url_file: ENOENT'],
      ['mail-server', true, null],
    ])
    expect(JSON.parse(posts('webhook').at(-1)!.body).type).toBe('alert.test')
    const list = await page(server, 'GET', '/v1/alerts', { headers })
    expect(list.body.data.find(({ kind }: Json) => kind === 'webhook_paused')).toMatchObject({
      state: 'firing',
      title: PAUSED,
      subject: server.organizationId,
      advice: expect.stringContaining('Tell the organization'),
    })
    const channels = Object.fromEntries(list.body.channels.map((each: Json) => [each.name, each]))
    expect(channels.webhook).toMatchObject({ failures: 0, last_error: null })
    expect(channels.slack).toMatchObject({ last_delivered_at: null, last_error: 'HTTP 404' })
    const configuration = await page(server, 'GET', '/v1/configuration', { headers })
    const shown = JSON.stringify([body, list.body, configuration.body])
    for (const secret of [SECRET, 'let me in', 'slack-token', '/hook']) expect(shown).not.toContain(secret)
    const metrics = await (await fetch(`http://${server.running().listening.http}/metrics`)).text()
    expect(metrics).toContain('postrider_alerts_firing{severity="warning"} 1')
    // Health and the other channels report a channel that keeps failing.
    for (let at = 0; at < 2; at++) await page(server, 'POST', '/v1/alerts/test', { headers, body: {} })
    const checks = await page(server, 'POST', '/v1/health-checks/run', { headers, body: {} })
    const check = checks.body.checks.find(({ name }: Json) => name === 'alert_channels')
    expect(check).toMatchObject({ status: 'fail', message: expect.stringContaining('slack: ') })
    const about = () => receivers.webhook.requests.map(({ body }) => JSON.parse(body).data)
    await untilTold('an alert of the channel', () =>
      about().some(({ kind, subject }) => kind === 'alert_channel' && subject === 'slack'),
    )
  })

  test('silences an alert, which the audit log records, and ends the silence', async () => {
    await open({ channels: [channelOf('webhook')] })
    const headers = await operator()
    await pause()
    await untilTold('the alert', () => posts('webhook').length === 1)
    const listed = async () => {
      const { body } = await page(server, 'GET', '/v1/alerts', { headers })
      return body.data.find(({ kind }: Json) => kind === 'webhook_paused')
    }
    const { id, silenced_until } = await listed()
    expect(silenced_until).toBeNull()
    const silence = (hours: unknown, of = id) =>
      page(server, 'POST', `/v1/alerts/${of}/silence`, { headers, body: { hours } })
    const until = new Date(server.clock.now() + 168 * 3_600_000).toISOString()
    expect((await silence(168)).body).toMatchObject({ id, silenced_until: until })
    expect((await listed()).silenced_until).toBe(until)
    expect([(await silence(169)).status, (await silence(-1)).status]).toEqual([400, 400])
    expect((await silence(1, `alr_${'0'.repeat(26)}`)).status).toBe(404)
    const any = { organizationId: null, actorId: null, createdAfter: null, createdBefore: null }
    const audit = await server
      .store()
      .auditLog.list({ ...any, action: 'alerts_silence', resourceId: id }, { limit: 9, after: null })
    expect(audit.records).toContainEqual(expect.objectContaining({ outcome: 'done', fields: ['hours'] }))
    expect((await silence(0)).body.silenced_until).toBeNull()
    expect((await listed()).silenced_until).toBeNull()
  })

  // threat: alert-secrets
  test('is the only one who may', async () => {
    await open({ channels: [channelOf('webhook')] })
    expect((await server.ask('GET', '/v1/alerts')).status).toBe(403)
    expect((await server.ask('POST', '/v1/alerts/test', {})).status).toBe(403)
    expect((await server.ask('POST', `/v1/alerts/alr_${'0'.repeat(26)}/silence`, {})).status).toBe(403)
    expect(receivers.webhook.requests).toEqual([])
  })

  test('sees nothing, and nothing looks, without channels', async () => {
    await open({ channels: [] })
    await pause()
    await pass(5)
    expect(await server.store().alerts.open()).toEqual([])
    expect((await page(server, 'GET', '/v1/alerts', { headers: await operator() })).body).toEqual({
      data: [],
      channels: [],
    })
  })
})

describeWithPostgres('on two nodes with PostgreSQL', () => {
  test('one of them sends the notices', async () => {
    const postgres = await startPostgres()
    try {
      const url = await postgres.createDatabase('alerts')
      await open({ channels: [channelOf('webhook')] }, { database: { url } })
      await server.addNode()
      await pause()
      await untilTold('the alert', () => posts('webhook').length === 1)
      await pass(5)
      expect(posts('webhook')).toHaveLength(1)
    } finally {
      await server.close()
      await postgres.stop()
      await open({ channels: [] })
    }
  })
})
