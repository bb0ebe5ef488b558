/** The records of Northwind Books that mail needs: domains, keys, people, templates, webhooks, routes. */

import { mintDkimKeys, newDomain } from '../../src/domains/keys.ts'
import { dnsRecords } from '../../src/domains/records.ts'
import type { DnsRecord, Domain } from '../../src/model/domain.ts'
import { FIRST_USER, type Role } from '../../src/model/user.ts'
import type { MintId } from '../../src/os/ids.ts'
import { systemRandom } from '../../src/os/random.ts'
import type { Server } from '../../src/server/server.ts'
import { hashPassword } from '../../src/web/api/password.ts'
import { addKey } from '../../test/support/keys.ts'
import { ownServer } from '../../test/support/own-server.ts'
import { VERIFIED } from '../../test/support/verified.ts'
import { DOMAIN, SENDING_DOMAINS } from './mails.ts'
import { ADDRESSES, HOOKS, HOSTNAME, type World } from './world.ts'

/** The password of every user. */
export const PASSWORD = 'a month of mail'
/** Its DKIM keys in DNS are others, so that it cannot send. */
const WRONG_DOMAIN = 'newsletter.northwind.example'

export interface Northwind {
  organizationId: string
  /** Domain name → ID. */
  domains: Map<string, string>
  /** Domain name → key that may do everything. */
  keys: Map<string, string>
  /** Domain name → the ID of that key. */
  keyIds: Map<string, string>
  /** Alias → ID. */
  templates: Map<string, string>
  /** Sends a request with a key of the domain. Throws for a status beyond 299. */
  ask(server: Server, domain: string, method: string, path: string, body?: unknown): Promise<Answer>
  routes: { id: string; address: string; action: 'webhook' | 'store' }[]
}

// biome-ignore lint/suspicious/noExplicitAny: the shape is that of the OpenAPI document
type Answer = any

const USERS: [email: string, name: string, role: Role | null][] = [
  ['olivia@northwind.example', 'Olivia Northwind', null],
  ['ana@northwind.example', 'Ana Sofía Ramírez', 'owner'],
  ['dev@northwind.example', 'Jürgen Groß', 'developer'],
  [
    'aleksandra.wisniewska-kowalczyk@northwind.example',
    'Aleksandra Wiśniewska-Kowalczyk of the customer service team',
    'support',
  ],
  ['kai@northwind.example', '', 'viewer'],
]

/** Writes them at the time `now`, with the DNS records of the domains. */
export async function foundNorthwind(server: Server, world: World, mintId: MintId, now: number): Promise<Northwind> {
  const { store } = server
  const organizationId = mintId('org')
  await store.organizations.create({ id: organizationId, name: 'Northwind Books', plan: 'pro', createdAt: now })
  const domains = new Map<string, string>()
  const keys = new Map<string, string>()
  const keyIds = new Map<string, string>()
  const ask: Northwind['ask'] = async (server, domain, method, path, body) => {
    const response = await fetch(`http://${server.listening.http}${path}`, {
      method,
      headers: { authorization: `Bearer ${keys.get(domain)}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const text = await response.text()
    if (response.ok) return text === '' ? null : JSON.parse(text)
    throw new Error(`${method} ${path}: ${response.status} ${text}`)
  }
  for (const name of [...SENDING_DOMAINS, WRONG_DOMAIN]) {
    const id = mintId('dom')
    domains.set(name, id)
    const domain = newDomain({ id, organizationId, name }, now, await mintDkimKeys('active', now, systemRandom))
    await store.domains.create(domain, -1)
    publish(world, domain)
    const key = {
      id: mintId('key'),
      organizationId,
      domainId: id,
      createdAt: now,
      name: name === DOMAIN ? 'Shop backend' : `Sender of ${name}`,
    }
    keyIds.set(name, key.id)
    keys.set(name, (await addKey(store, { ...key, permissions: ['admin'] })).value)
    await ask(server, name, 'POST', `/v1/domains/${id}/verify`)
  }
  const made: Northwind = { organizationId, domains, keys, keyIds, ask, templates: new Map(), routes: [] }
  await addPeople(server, made, mintId, now)
  await addTemplates(server, made)
  await addEndpoints(server, made)
  return { ...made, routes: await addRoutes(server, made) }
}

const SOURCES = ADDRESSES.map(({ address }) => address)

/** Publishes the DNS records of a domain; the wrong one has other keys there. */
export function publish({ zone }: Pick<World, 'zone'>, domain: Domain): void {
  const records = Map.groupBy(
    dnsRecords(domain, ownServer(HOSTNAME, { sendingAddresses: SOURCES })),
    ({ type, name }) => `${type} ${name}`,
  )
  for (const [key, same] of records) {
    const [type, name = ''] = key.split(' ')
    const values = same.map(({ purpose, value, priority }) => {
      const isWrong = domain.name === WRONG_DOMAIN && purpose === 'dkim'
      const shown = isWrong ? value.replace(/p=(.{9})(.{12})/, 'p=$1AQEFAAOCAQ8A') : value
      return priority === null ? shown : { preference: priority, exchange: shown }
    })
    zone.set(name, type as DnsRecord['type'], values) // as the key was made
  }
}

async function addPeople(
  server: Server,
  { organizationId, domains, ask }: Northwind,
  mintId: MintId,
  now: number,
): Promise<void> {
  const { store } = server
  const hash = await hashPassword(PASSWORD)
  for (const [at, [email, name, role]] of USERS.entries()) {
    const id = at === 0 ? FIRST_USER : mintId('usr')
    if (at === 0) await store.users.update(id, { email, name })
    else
      await store.users.create(
        {
          id,
          email,
          name,
          isOperator: false,
          roles: role === null ? {} : { [organizationId]: role },
          createdAt: now,
          disabledAt: null,
          lastSeenAt: null,
          ...VERIFIED,
        },
        null,
      )
    await store.users.setPassword(id, hash, null)
    if (role !== 'owner') continue
    const own = { organizationId, domainId: domains.get(DOMAIN) ?? '', createdAt: now, createdBy: id }
    await addKey(store, {
      id: mintId('key'),
      ...own,
      name: 'Never used: import of the old newsletter',
      permissions: ['send'],
    })
    await addKey(store, {
      id: mintId('key'),
      ...own,
      name: 'Reports',
      permissions: ['read'],
      expiresAt: now + 40 * 86_400_000,
    })
    await addKey(store, { id: mintId('key'), ...own, name: 'Staging', mode: 'test', permissions: ['send', 'read'] })
  }
  await ask(server, DOMAIN, 'POST', '/v1/invitations', { email: 'new.colleague@northwind.example', role: 'developer' })
}

async function addTemplates(server: Server, { ask, templates: made }: Northwind): Promise<void> {
  const footer = { name: 'Footer', alias: 'footer', kind: 'partial', html: '<p>Northwind Books, 1 Harbour Street</p>' }
  await ask(server, DOMAIN, 'POST', '/v1/templates', footer)
  const templates = {
    'order-confirmation': [
      'Order confirmation',
      'Your order {{ order }}',
      '<h1>Thank you, {{ name }}</h1><p>Your order {{ order }} of {{ total }} is confirmed.</p>{% render "footer" %}',
    ],
    welcome: [
      'Welcome',
      'Welcome to Northwind Books',
      '<h1>Welcome, {{ name }}</h1><p>Good to have you.</p>{% render "footer" %}',
    ],
    'review-request': [
      'Request for a review',
      'How did you like it?',
      '<p>Dear {{ name }}, how did you like your book?</p>',
    ],
  }
  const sample = { name: 'Ann', order: 'NW-1', total: '€12.50' }
  for (const [alias, [name, subject, html]] of Object.entries(templates)) {
    const { id } = await ask(server, DOMAIN, 'POST', '/v1/templates', { name, alias, subject, html, sample })
    made.set(alias, id)
  }
}

/** One works; the host of the other does not exist. */
async function addEndpoints(server: Server, { ask }: Northwind): Promise<void> {
  const events = ['message.bounced', 'message.deferred', 'message.complained', 'message.unsubscribed']
  await ask(server, DOMAIN, 'POST', '/v1/webhooks', { url: `${HOOKS}/postrider`, events, description: 'Shop' })
  await ask(server, DOMAIN, 'POST', '/v1/webhooks', {
    url: 'https://legacy-erp.northwind.example/interfaces/mail-events/v1/incoming',
    events: ['message.bounced', 'message.deferred', 'message.clicked'],
    description: 'The old ERP',
  })
}

async function addRoutes(server: Server, { ask }: Northwind): Promise<Northwind['routes']> {
  const routes: [name: string, address: string, action: { type: 'webhook' | 'store'; config?: unknown }][] = [
    ['Support desk', `support@${DOMAIN}`, { type: 'webhook', config: { url: `${HOOKS}/support` } }],
    ['Returns', `returns@${DOMAIN}`, { type: 'store' }],
  ]
  const made: Northwind['routes'] = []
  for (const [name, address, action] of routes) {
    const { id } = await ask(server, DOMAIN, 'POST', '/v1/inbound-routes', {
      name,
      match: { type: 'address', value: address },
      action,
    })
    made.push({ id, address, action: action.type })
  }
  const match = { type: 'domain', value: DOMAIN }
  const action = {
    type: 'forward',
    config: { to: ['ana@northwind-books.example', 'archive@kontor-lindqvist.example'] },
  }
  await ask(server, DOMAIN, 'POST', '/v1/inbound-routes', { name: 'Everything else', match, action })
  return made
}
