import { STANDARD_EVENT_TYPES } from '../../model/event.ts'
import { systemClock } from '../../os/clock.ts'
import type { Store } from '../../storage/store.ts'
import type { Operator } from '../operator.ts'
import { DOMAIN, type Peers } from './peers.ts'
import type { Zone } from './zone-server.ts'

/** What becomes of each message. */
export const TRY_EVENT_TYPES = [...STANDARD_EVENT_TYPES, 'message.suppressed'] as const

/** What a customer of the try-out has. */
export interface TryRecords {
  liveKey: string
  testKey: string
  webhook: { id: string; url: string; secret: string }
  /** Catch-all route of the domain, with the lowest priority. */
  route: { id: string; secret: string }
}

/** Creates an organization, a verified domain, a live and a test key, a webhook for all events and a catch-all inbound
 *  route. The receiver gets their secrets. */
export async function createRecords(
  { store, operator }: { store: Store; operator: Operator },
  { zone, receiver }: Peers,
): Promise<TryRecords> {
  const organizationId = operator.mintId('org')
  await store.organizations.create({
    id: organizationId,
    name: 'Try-out',
    plan: 'enterprise',
    createdAt: systemClock.now(),
  })
  const domainId = await addVerifiedDomain(organizationId, operator, zone)
  const [liveKey, testKey] = await Promise.all([
    makeKey(organizationId, domainId, 'live', operator),
    makeKey(organizationId, domainId, 'test', operator),
  ])
  const webhook = await operator.run('webhooks_create', {
    organizationId,
    body: { url: receiver.url, events: [...TRY_EVENT_TYPES], description: 'the terminal' },
  })
  const route = await operator.run('inbound_routes_create', {
    organizationId,
    body: {
      name: 'the terminal',
      match: { type: 'catch_all' },
      action: { type: 'webhook', config: { url: receiver.inboundUrl } },
      priority: -1,
    },
  })
  receiver.setSecrets({ webhook: String(webhook.secret), route: String(route.secret) })
  return {
    liveKey,
    testKey,
    webhook: { id: webhook.id, url: receiver.url, secret: webhook.secret },
    route: { id: route.id, secret: route.secret },
  }
}

/** Adds the domain, publishes its DNS records and verifies it, as a customer does. Returns the id of the domain. */
async function addVerifiedDomain(organizationId: string, operator: Operator, zone: Zone): Promise<string> {
  const domain = await operator.run('domains_create', { organizationId, body: { name: DOMAIN } })
  for (const { type, name, value, priority } of domain.dns_records) {
    zone.set(name, type, [priority === null ? value : { preference: priority, exchange: value }])
  }
  const params = { domain_id: domain.id }
  const { status } = await operator.run('domains_verify', { organizationId, params })
  if (status !== 'verified') throw new Error(`the domain of the try-out is ${status}`)
  return params.domain_id
}

async function makeKey(organizationId: string, domainId: string, mode: 'live' | 'test', operator: Operator) {
  const body = { name: `try ${mode}`, domain_id: domainId, permissions: ['admin'], mode }
  const key = await operator.run('api_keys_create', { organizationId, body })
  return key.key
}
