import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { createTransport } from 'nodemailer'
import { unwrap } from '../../src/client/unwrap.ts'
import type { ConfigValues } from '../../src/config/load.ts'
import { type EventType, isOnDemand, ON_DEMAND_EVENT_TYPES } from '../../src/model/event.ts'
import { until } from '../support/patience.ts'
import { describeWithPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, type Json, startTestServer, type TestServer } from '../support/server.ts'

/** Events that exist only while a webhook names them: from each cause over HTTP, SMTP and DNS to a signed request. */

let remote: RemoteMx
let server: TestServer
let receivers: Receiver[] = []

async function open(config: ConfigValues = {}): Promise<void> {
  const script = { rcpt: (address: string) => (address.startsWith('later') ? '451 4.7.1 come later' : null) }
  remote = await startRemoteMx({ script })
  server = await startTestServer({ remote, config: { smtp: { inbound: { listen: '127.0.0.1:0' } }, ...config } })
}
afterEach(async () => {
  await server.close()
  await remote.stop()
  await Promise.all(receivers.map((receiver) => receiver.stop()))
  receivers = []
})

interface Hook {
  id: string
  receiver: Receiver
  /** The verified events that arrived, in order. */
  arrived(): Promise<Json[]>
}

async function subscribe(events: readonly EventType[], ask = server.ask): Promise<Hook> {
  const receiver = await startReceiver()
  receivers.push(receiver)
  const { status, body } = await ask('POST', '/v1/webhooks', { url: `${receiver.url}?token=1`, events })
  expect(status).toBe(201)
  const now = { now: server.clock.now, toleranceSeconds: 1_000_000 }
  return {
    id: body.id,
    receiver,
    arrived: () => Promise.all(receiver.requests.map((each) => unwrap(each.bytes, each.headers, body.secret, now))),
  }
}

const typesOf = (events: Json[]): string[] => events.map(({ type }) => type)
const onDemandIn = (events: Json[]) => typesOf(events.filter(({ type }) => isOnDemand(type)))

async function sendTo(address: string, listening = server.running().listening): Promise<void> {
  const [host, port] = listening.smtpInbound!.split(':')
  const client = createTransport({ host: host!, port: Number(port), name: 'mx.author.example', ignoreTLS: true })
  const attachments = [{ filename: 'photo.png', content: Buffer.alloc(1000), contentType: 'image/png' }]
  await client.sendMail({ from: 'bob@author.example', to: address, subject: 'A question', text: 'Hello?', attachments })
  client.close()
}

/** A claim of a name whose DKIM records are in DNS, the first one with another value if `isWrong`; then asks DNS. */
async function verified(name: string, isWrong = false): Promise<string> {
  const { body } = await server.ask('POST', '/v1/domains', { name })
  const records = body.dns_records.filter(({ purpose }: Json) => purpose === 'dkim')
  for (const [at, record] of records.entries()) {
    server.zone.set(record.name, 'TXT', [isWrong && at === 0 ? 'v=DKIM1; k=rsa; p=AAAA' : record.value])
  }
  await server.ask('POST', `/v1/domains/${body.id}/verify`)
  return body.id
}

test('each type arrives once, signed, at the webhook that names it, and survives a restart', async () => {
  await open()
  const hook = await subscribe(ON_DEMAND_EVENT_TYPES)

  const later = new Date(server.clock.now() + 3_600_000).toISOString()
  const scheduled = await server.send({ scheduled_at: later })
  expect((await server.ask('POST', `/v1/messages/${scheduled.body.id}/cancel`)).status).toBe(200)
  const { body: late } = await server.send({ to: 'later@one.remote.example', expires_in: 30 })
  await server.ended(late.id)
  await server.ask('POST', '/v1/suppressions', { email: 'stop@one.remote.example', reason: 'manual' })
  await server.stop()
  await server.reopen()
  await server.ask('DELETE', '/v1/suppressions/stop@one.remote.example')
  await server.ask('POST', '/v1/inbound-routes', {
    name: 'desk',
    match: { type: 'address', value: `desk@${DOMAIN}` },
    action: { type: 'store' },
  })
  await sendTo(`desk@${DOMAIN}`)
  const good = await verified('good.example')
  const bad = await verified('bad.example', true)
  const gone = await subscribe(['message.accepted'])
  gone.receiver.script(410)
  await server.send()

  const expected: string[] = [
    ...['message.accepted', 'message.cancelled', 'message.accepted', 'message.expired', 'suppression.added'],
    ...['suppression.removed', 'inbound.received', 'domain.verified', 'domain.failed', 'message.accepted'],
    'webhook.paused',
  ]
  await hook.receiver.received(expected.length)
  const events = await hook.arrived()
  expect(typesOf(events).toSorted()).toEqual(expected.toSorted())
  expect(new Set(events.map(({ id }) => id)).size).toBe(expected.length)
  const dataOf = (type: string) => events.find((event) => event.type === type)!.data
  const accepted = events.filter(({ type }) => type === 'message.accepted').map(({ data }) => data)
  expect(accepted).toContainEqual(expect.objectContaining({ message_id: scheduled.body.id, scheduled_at: later }))
  expect(dataOf('message.cancelled').message_id).toBe(scheduled.body.id)
  expect(dataOf('message.expired').message_id).toBe(late.id)
  expect(dataOf('suppression.added')).toMatchObject({ email: 'stop@one.remote.example', reason: 'manual' })
  expect(dataOf('inbound.received')).toMatchObject({
    from: 'bob@author.example',
    to: [`desk@${DOMAIN}`],
    subject: 'A question',
    attachments: [{ filename: 'photo.png', content_type: 'image/png', size: 1000 }],
    attachment_count: 1,
  })
  expect(JSON.stringify(dataOf('inbound.received'))).not.toContain('Hello?')
  expect([dataOf('domain.verified').domain_id, dataOf('domain.failed').domain_id]).toEqual([good, bad])
  expect(dataOf('domain.failed').reason).toBe('mismatch')
  expect(dataOf('webhook.paused')).toMatchObject({ webhook_id: gone.id, url: new URL(gone.receiver.url).origin })

  // The bounce is reported as before, and the other webhook gets nothing else than it did.
  await until('the bounce to be posted', () => server.receiver.requests.length >= 2)
  const others = server.receiver.requests.map(({ body }) => JSON.parse(body))
  expect(others.find(({ data }) => data.message_id === late.id)).toMatchObject({
    type: 'message.bounced',
    data: { bounce_type: 'soft', will_retry: false },
  })
  expect(onDemandIn(others)).toEqual([])
  const stored = (await server.read('/v1/events?limit=100')).data
  expect(onDemandIn(stored).toSorted()).toEqual(expected.toSorted())
})

test('before a webhook names a type, its events do not exist, and a paused webhook does not count', async () => {
  await open()
  await server.ended((await server.send()).body.id)
  const hook = await subscribe(['message.accepted'])
  await server.ask('PATCH', `/v1/webhooks/${hook.id}`, { status: 'paused' })
  await server.ended((await server.send()).body.id)
  expect(typesOf((await server.read('/v1/events')).data)).toEqual(['message.delivered', 'message.delivered'])
  await server.ask('PATCH', `/v1/webhooks/${hook.id}`, { status: 'active' })
  const { body } = await server.send()
  await hook.receiver.received(1)
  expect((await hook.arrived()).map(({ data }) => data.message_id)).toEqual([body.id])
})

test('webhooks that pause each other cause one event each, and no more', async () => {
  await open()
  const hooks = []
  for (let n = 0; n < 4; n++) hooks.push(await subscribe(['message.accepted', 'webhook.paused']))
  for (const { receiver } of hooks.slice(1)) receiver.script(410)
  await server.send()
  await until('three webhooks to be paused', async () => {
    const { data } = await server.read('/v1/webhooks')
    return data.filter(({ status }: Json) => status === 'paused').length === 3
  })
  await hooks[0]!.receiver.received(4)
  const events = await hooks[0]!.arrived()
  expect(typesOf(events).toSorted()).toEqual(['message.accepted', ...Array.from({ length: 3 }, () => 'webhook.paused')])
  const paused = events.flatMap(({ type, data }) => (type === 'webhook.paused' ? [data.webhook_id] : []))
  expect(paused.toSorted()).toEqual(
    hooks
      .slice(1)
      .map(({ id }) => id)
      .toSorted(),
  )
  const stored = (await server.read('/v1/events?type=webhook.paused')).data
  expect(stored).toHaveLength(3)
})

test('a key of one domain sees neither the event nor the address of a webhook of all domains', async () => {
  await open()
  const hook = await subscribe(['webhook.paused'])
  const other = await subscribe(['message.delivered'])
  await server.ask('PATCH', `/v1/webhooks/${other.id}`, { status: 'paused' })
  await hook.receiver.received(1)
  const [event] = (await server.read('/v1/events?type=webhook.paused')).data
  await server.ask('POST', '/v1/domains', { name: 'second.example' })
  const [{ domain_id }] = (await server.read('/v1/api-keys')).data
  const { status, body: key } = await server.ask('POST', '/v1/api-keys', {
    name: 'reader',
    domain_id,
    permissions: ['read'],
  })
  expect(status).toBe(201)
  const authorization = { authorization: `Bearer ${key.key}` }
  expect((await server.ask('GET', '/v1/events', undefined, authorization)).body.data).toEqual([])
  expect((await server.ask('GET', `/v1/events/${event.id}`, undefined, authorization)).status).toBe(403)
})

test('every type is refused under another name, and `*` too', async () => {
  await open()
  for (const type of ['*', 'message.*', 'message.Accepted', 'inbound']) {
    const { status } = await server.ask('POST', '/v1/webhooks', { url: server.receiver.url, events: [type] })
    expect([type, status]).toEqual([type, 400])
  }
})

describeWithPostgres('on two nodes', () => {
  let postgres: TestPostgres
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  test('a cause on one node reaches the webhook that another one created, once', async () => {
    await open({ database: { url: await postgres.createDatabase('on_demand') } })
    const node = await server.addNode({ hostname: 'mx2.sender.example' })
    const hook = await subscribe(ON_DEMAND_EVENT_TYPES)
    const mail = { from: `shop@${DOMAIN}`, to: 'ann@one.remote.example', subject: 'Hello', text: 'Hi' }
    const { body } = await node.ask('POST', '/v1/messages/send', mail)
    const email = 'stop@one.remote.example'
    expect((await node.ask('POST', '/v1/suppressions', { email, reason: 'manual' })).status).toBe(201)
    expect((await server.ask('DELETE', `/v1/suppressions/${email}`)).status).toBe(200)
    const other = await subscribe(['message.delivered'], node.ask)
    await node.ask('PATCH', `/v1/webhooks/${other.id}`, { status: 'paused' })
    await hook.receiver.received(4)
    const events = await hook.arrived()
    const expected: string[] = ['message.accepted', 'suppression.added', 'suppression.removed', 'webhook.paused']
    expect(typesOf(events).toSorted()).toEqual(expected)
    expect(events.find(({ type }) => type === 'message.accepted')!.data.message_id).toBe(body.id)
    // The other node does not ask for a webhook that was paused on this one.
    await server.ask('PATCH', `/v1/webhooks/${hook.id}`, { status: 'paused' })
    await node.ask('POST', '/v1/suppressions', { email, reason: 'manual' })
    expect((await server.read('/v1/events?type=suppression.added')).data).toHaveLength(1)
  })
})
