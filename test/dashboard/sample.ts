import type { ConfigValues } from '../../src/config/load.ts'
import { createMintId } from '../../src/os/ids.ts'
import { systemRandom } from '../../src/os/random.ts'
import { inboundMessage, storedMail } from '../support/inbound.ts'
import { until } from '../support/patience.ts'
import { DOMAIN, type Json, type TestServer } from '../support/server.ts'
import { VERIFIED } from '../support/verified.ts'

/** IDs of the sample data, for the paths of pages. */
export interface Sample {
  delivered: string
  bounced: string
  /** A message with 24 recipients. */
  many: string
  domain: string
  template: string
  layout: string
  webhook: string
  inbound: string
}

const HTML = '<h1>Your order</h1><p>Hello {{ name }}, your order is on its way.</p>'
const SUBJECTS = [
  'Your order has shipped',
  'Your receipt',
  'Reset your password',
  'Sign-in code 482 913',
  'Welcome to Shop',
]

/** Adds one of everything that the dashboard shows: messages of every outcome, domains, a template, keys, suppressions, a
 *  webhook with failures, an inbound route with a message. */
export async function addSample(server: TestServer): Promise<Sample> {
  const send = async (change: Json): Promise<string> => (await server.send(change)).body.id
  for (let hour = 0; hour < 5; hour++) {
    await server.ask('POST', '/v1/messages/batch', {
      messages: Array.from({ length: 7 + hour * 2 }, (_, n) => ({
        from: `Shop <hello@${DOMAIN}>`,
        to: `customer.${hour}${n}@one.remote.example`,
        subject: SUBJECTS[(hour + n) % SUBJECTS.length],
        text: 'Hello',
      })),
    })
    await until('the batch', async () => (await server.read('/v1/messages?status=queued&limit=1')).data.length === 0)
    server.clock.jump(3_600_000)
    await server.clock.advance(1_000)
  }
  const delivered = await send({
    to: ['Ann <ann@one.remote.example>', 'bob@one.remote.example'],
    subject: 'Your receipt for order 1001',
    html: HTML.replace('{{ name }}', 'Ann'),
    tags: ['receipt'],
    metadata: { order: '1001' },
  })
  const bounced = await send({ to: 'nobody@one.remote.example', subject: 'Welcome aboard' })
  await server.ended(delivered)
  await server.ended(bounced)
  server.receiver.script(500, 503, 200) // two deliveries wait for their next attempt
  const many = await send({
    to: [...Array.from({ length: 23 }, (_, n) => `member.${n}@one.remote.example`), 'nobody@two.remote.example'],
    subject: 'Minutes of the meeting on Thursday, with the decisions and the list of open questions for the next one',
  })
  const deferred = await send({ to: 'later@two.remote.example', subject: 'Your sign-in code' })
  await server.tried(deferred, 1)
  await send({ to: 'ann@one.remote.example', subject: 'Newsletter', scheduled_at: new Date(server.clock.now() + 9e6) })
  await send({ to: 'nobody@one.remote.example', subject: 'Your parcel' })
  const test = { authorization: `Bearer ${server.keys.test}` }
  for (const name of ['click', 'bounce', 'defer', 'complain'])
    await server.send({ to: `${name}@customer.example`, subject: `Sandbox ${name}` }, test)
  return { delivered, bounced, many, ...(await addSettings(server)) }
}

async function addSettings(server: TestServer) {
  const { data } = await server.read('/v1/domains')
  await server.ask('POST', '/v1/domains', { name: 'a-rather-long-name-for-newsletters.shop.example' })
  await server.ask('POST', '/v1/templates', {
    name: 'Signature',
    alias: 'signature',
    kind: 'partial',
    html: '<p>Shop Ltd, 1 High Street</p>',
  })
  const { body: layout } = await server.ask('POST', '/v1/templates', {
    name: 'Frame of all orders',
    alias: 'frame',
    kind: 'layout',
    html: '<main>{{ content }}</main>{% render "signature" %}',
    locales: { 'pt-BR': { html: '<main lang="pt-BR">{{ content }}</main>' } },
  })
  const { body: template } = await server.ask('POST', '/v1/templates', {
    name: 'Order confirmation',
    alias: 'order-confirmation',
    subject: 'Your order {{ order }}',
    html: HTML,
    layout: 'frame',
    locales: { de: { subject: 'Ihre Bestellung {{ order }}', html: '<h1>Hallo {{ name }}</h1>' } },
    sample: { name: 'Ann', order: 1001 },
  })
  for (const name of ['ann', 'someone.with.a.long.name+tag', 'info'])
    await server.ask('POST', '/v1/suppressions', { email: `${name}@customer.example` })
  await server.ask('POST', '/v1/api-keys', {
    name: 'Shop in production',
    domain_id: data[0].id,
    mode: 'live',
    permissions: ['send'],
  })
  for (const [email, role] of [
    ['ann@sender.example', 'developer'],
    ['someone.with.a.long.name@subsidiary.sender.example', 'support'],
  ])
    await server.ask('POST', '/v1/invitations', { email, role })
  const user = {
    isOperator: false,
    createdAt: server.clock.now(),
    disabledAt: null,
    lastSeenAt: server.clock.now(),
    ...VERIFIED,
  }
  for (const [at, name] of ['Bob Builder', 'Carol with a rather long name of several words'].entries()) {
    const id = createMintId(server.clock, systemRandom)('usr')
    const roles = { [server.organizationId]: at === 0 ? 'owner' : 'viewer' } as const
    await server.store().users.create({ ...user, id, name, email: `user.${at}@sender.example`, roles }, null)
  }
  const { body: route } = await server.ask('POST', '/v1/inbound-routes', {
    name: 'Support',
    match: { type: 'address', value: `support@${DOMAIN}` },
    action: { type: 'webhook', config: { url: `${server.receiver.url}-in` } },
  })
  const inbound = createMintId(server.clock, systemRandom)('inb')
  const message = inboundMessage({
    id: inbound,
    organizationId: server.organizationId,
    domainId: data[0].id,
    routeId: route.id,
    receivedAt: server.clock.now(),
    to: [`support@${DOMAIN}`],
    subject: 'A question about my order',
  })
  const deliveryId = createMintId(server.clock, systemRandom)('whd')
  await server.store().inbound.accept({ ...storedMail(), taken: [{ message, deliveryId, forward: null }] })
  await addReports(server, data[0].id)
  await server.ask('POST', '/v1/suppressions', { email: 'erased@customer.example' })
  await server.ask('POST', '/v1/recipients/erase', { email: 'erased@customer.example' })
  while (await server.store().erasures.step(server.clock.now(), () => false));
  await server.clock.advance(1_000)
  await server.ask('POST', '/v1/recipients/erase', { email: 'customer.00@one.remote.example' })
  return { domain: data[0].id, template: template.id, layout: layout.id, webhook: server.webhook.id, inbound }
}

/** Config with sending addresses of every kind. */
export const ADDRESSES: ConfigValues = {
  health: { look_outside: true },
  sending: {
    addresses: [
      { address: '127.0.0.2', hostname: `out1.${DOMAIN}` },
      {
        address: '127.0.0.3',
        hostname: `out2.${DOMAIN}`,
        pool: 'bulk',
        node: 'a-node-with-a-long-name.sender.example',
      },
      { address: '127.0.0.4', hostname: `out3.${DOMAIN}`, pool: 'dedicated' },
      { address: '127.0.0.5', hostname: `out4.${DOMAIN}`, pool: 'dedicated' },
      { address: '2001:db8:1234:5678:9abc:def0:1234:5678', hostname: `out5.${DOMAIN}` },
    ],
  },
}

/** Adds to a server with ADDRESSES: mail from one of them, rests, an owner, names, and an entry in a blocklist. */
export async function addAddresses(server: TestServer): Promise<void> {
  const { zone, clock, organizationId } = server
  const store = server.store()
  for (const n of [1, 2, 3]) {
    zone.set(`${n + 1}.0.0.127.in-addr.arpa`, 'PTR', [`out${n}.${DOMAIN}`])
    zone.set(`out${n}.${DOMAIN}`, 'A', [`127.0.0.${n + 1}`])
  }
  zone.set('5.0.0.127.in-addr.arpa', 'PTR', ['static-5.a-hosting-provider.example'])
  zone.set('5.0.0.127.zen.spamhaus.org', 'A', ['127.0.0.2'])
  await store.dedicatedAddresses.assign('127.0.0.4', organizationId, clock.now())
  const rest = { address: '127.0.0.3', rule: 'block-list', times: 1, since: clock.now(), until: clock.now() + 900_000 }
  const others = [
    { ...rest, destination: 'google.com' },
    { ...rest, destination: 'a-destination-with-a-rather-long-name.example', rule: 'outlook-block-list', times: 3 },
  ]
  await store.addressRests.change(others, [])
  const { body } = await server.send({ to: 'ann@desk.remote.example' })
  await server.ended(body.id)
}

/** A DMARC report with a source of each kind, and a TLS report. */
async function addReports(server: TestServer, domainId: string): Promise<void> {
  const { zone, organizationId } = server
  zone.set(`mail.${DOMAIN}`, 'A', ['198.41.0.4'])
  zone.set('41.220.85.209.in-addr.arpa', 'PTR', ['mail-sor-f41.google.com'])
  zone.set('mail-sor-f41.google.com', 'A', ['209.85.220.41'])
  const receivedAt = server.clock.now()
  const beginsAt = receivedAt - (receivedAt % 86_400_000) - 86_400_000
  const about = { organizationId, domainId, reporter: 'dmarc.yahoo.com', reportId: '1', receivedAt, beginsAt }
  const source = (sourceIp: string, messages: number, passed: number, rejected = 0) => ({
    ...{ sourceIp, messages, passed, rejected, spfAligned: passed, dkimAligned: passed, quarantined: 0 },
  })
  const sources = [
    source('198.41.0.4', 1204, 1204),
    source('209.85.220.41', 31, 30),
    source('2001:db8:1234:5678:9abc:def0:1234:5678', 7, 0, 7),
  ]
  const period = { ...about, endsAt: beginsAt + 86_399_000 }
  await server.store().policyReports.add({ ...period, content: { kind: 'dmarc', sources } })
  const results = [
    { policy: 'sts', result: '', host: '', sessions: 240 },
    { policy: 'sts', result: 'certificate-host-mismatch', host: `mail.${DOMAIN}`, sessions: 2 },
  ]
  await server.store().policyReports.add({ ...period, content: { kind: 'tls', results } })
}

/** Every page of the dashboard by name, as a path below `/dashboard`. */
export const pagesOf = (sample: Sample): Record<string, string> => ({
  overview: '/',
  statistics: '/statistics',
  messages: '/messages',
  'messages-filtered': '/messages?status=bounced',
  'message-delivered': `/messages/${sample.delivered}`,
  'message-bounced': `/messages/${sample.bounced}`,
  'message-many': `/messages/${sample.many}`,
  'message-content': `/messages/${sample.delivered}?tab=content`,
  'message-analysis': `/messages/${sample.delivered}?tab=analysis`,
  'new-message': '/messages?compose=yes',
  sandbox: '/sandbox',
  domains: '/domains',
  domain: `/domains/${sample.domain}`,
  senders: `/domains/${sample.domain}/senders`,
  'api-keys': '/api-keys',
  webhooks: '/webhooks',
  webhook: `/webhooks/${sample.webhook}`,
  templates: '/templates',
  'template-gallery': '/templates/new',
  'template-new': '/templates/new?start=receipt',
  template: `/templates/${sample.template}`,
  layouts: '/templates?kind=layout',
  layout: `/templates/${sample.layout}`,
  suppressions: '/suppressions',
  erasures: '/erasures',
  inbound: '/inbound',
  routes: '/inbound?tab=routes',
  'inbound-message': `/inbound/${sample.inbound}`,
  health: '/health',
  'sending-addresses': '/sending-addresses',
  organizations: '/organizations',
  users: '/users',
  'users-all': '/users?scope=all',
  'users-invite': '/users?invite=yes',
  settings: '/settings',
  plan: '/settings?tab=plan',
  members: '/settings?tab=members',
  sessions: '/settings?tab=sessions',
  account: '/account',
  streams: '/settings?tab=streams',
  'audit-log': '/settings?tab=audit-log',
  missing: '/nothing',
})

const ID = ''
const NO_SAMPLE = {
  delivered: ID,
  bounced: ID,
  many: ID,
  domain: ID,
  template: ID,
  layout: ID,
  webhook: ID,
  inbound: ID,
}
/** Names of the pages, known before the sample data exists. */
export const PAGE_NAMES = Object.keys(pagesOf(NO_SAMPLE))
