import { toALabel } from '../mail/address.ts'
import type { Domain } from '../model/domain.ts'
import type { Organization } from '../model/organization.ts'
import { foldedEmail, type User } from '../model/user.ts'
import { isId } from '../os/ids.ts'
import type { Store } from '../storage/store.ts'
import { CommandFailure, usageFault } from './failure.ts'
import type { Given, Place } from './operation-command.ts'
import type { OperationContext } from './operation-context.ts'

/** Finds the organizations, domains and records that commands name. A command with a key of another server has no store:
 *  the key belongs to one organization, and the server finds the record. */

/** Finds an organization by id or name; undefined selects the only one. Throws CommandFailure if there is none, or if
 *  several exist and `idOrName` is undefined. */
export async function requireOrganization(idOrName: string | undefined, store: Store): Promise<Organization> {
  if (idOrName !== undefined) {
    const organization = await store.organizations.find(idOrName)
    if (organization !== null) return organization
    throw new CommandFailure(`org: no organization ${idOrName}. List organizations with: postrider org list`)
  }
  const all = await store.organizations.list()
  const [only, ...others] = all
  if (only !== undefined && others.length === 0) return only
  if (only === undefined) throw new CommandFailure('org: no organization yet. Create one with: postrider org create')
  throw usageFault('org: there are several organizations. Choose one with --org')
}

/** Maximum number of organizations in the error message for a name that several of them have added. */
const MOST_CLAIMS = 20

/** Finds a domain by name or id. Throws CommandFailure if there is none, or if several organizations have added the
 *  name and none has verified it. */
export async function requireDomain(nameOrId: string, store: Store): Promise<Domain> {
  const text = nameOrId.trim().replace(/\.$/, '')
  const claims = await store.domains.claimsOf(toALabel(text) ?? text.toLowerCase(), MOST_CLAIMS)
  const owned = claims.find(({ status }) => status === 'verified')
  if (owned === undefined && claims.length > 1) {
    const ids = claims.map(({ id, organizationId }) => `${id} of ${organizationId}`).join(', ')
    throw new CommandFailure(`domain: several organizations claim ${nameOrId}. Use one of these ids instead: ${ids}`)
  }
  const domain = owned ?? claims[0] ?? (await store.domains.get(nameOrId))
  if (domain !== null) return domain
  throw new CommandFailure(`domain: no domain ${nameOrId}. List domains with: postrider domain list`)
}

/** Options → the organization, and the domain or null without `domain`. A domain without `org` selects its organization.
 *  Throws CommandFailure for an unknown one, or if `org` is missing. */
async function requirePlace(
  { org, domain: name }: { org?: string; domain?: string },
  store: Store | null,
): Promise<{ organizationId: string; domainId: string | null }> {
  if (store === null)
    return { organizationId: await organizationOf({ ...(org && { org }) }, store), domainId: name ?? null }
  if (name === undefined) return { organizationId: (await requireOrganization(org, store)).id, domainId: null }
  const owner = org === undefined ? null : (await requireOrganization(org, store)).id
  const own = owner === null ? null : await store.domains.findOf(owner, name)
  const { id: domainId, organizationId } = own ?? (await requireDomain(name, store))
  return { organizationId: owner ?? organizationId, domainId } // the operation refuses a domain of another organization
}

export interface Stored {
  /** Null: the operation runs on another server, by an API key. */
  store: Store | null
}

/** The organization of `--org`, or the only one; '' for that of the key. */
async function organizationOf({ org }: { org?: string }, store: Store | null): Promise<string> {
  if (store !== null) return (await requireOrganization(org, store)).id
  if (org === undefined) return ''
  throw usageFault('org: an API key works in its own organization. Omit --org')
}

/** The installation, for operations that belong to no organization. */
export async function installation(): Promise<Place> {
  return { organizationId: '' }
}

/** The organization of `--org`, or the only one. */
export async function organization({ options }: Given, { store }: Stored): Promise<Place> {
  return { organizationId: await organizationOf(options, store) }
}

/** The organization of `--org`, or the only one, with the first operand as a parameter of the path. */
export function organizationWith(parameter: string) {
  return async (given: Given, stored: Stored): Promise<Place> => {
    const { organizationId } = await organization(given, stored)
    const [value = ''] = given.operands
    return { organizationId, params: { [parameter]: value } }
  }
}

/** The organization of `--org`, or all. */
export async function organizations({ options }: Given, { store }: Stored): Promise<Place[]> {
  const { org } = options
  if (store === null) return [{ organizationId: await organizationOf(options, store) }]
  const found = org === undefined ? await store.organizations.list() : [await requireOrganization(org, store)]
  return found.map(({ id }) => ({ organizationId: id }))
}

/** The organization of `--org`, or the installation. */
export async function organizationIfGiven(given: Given, stored: Stored): Promise<Place> {
  return given.options.org === undefined ? installation() : organization(given, stored)
}

/** The organization in the first operand, by id or name. */
export async function organizationNamed({ operands: [name = ''] }: Given, { store }: Stored): Promise<Place> {
  if (store === null) return { organizationId: '', params: { organization_id: name } }
  const { id } = await requireOrganization(name, store)
  return { organizationId: id, params: { organization_id: id } }
}

/** The organization of `--org`, and the id of the domain of `--domain`, if any: as a field of the body. */
export async function organizationOfDomain({ options }: Given, { store }: Stored): Promise<Place> {
  const { organizationId, domainId } = await requirePlace(options, store)
  return { organizationId, body: { domain_id: domainId } }
}

/** The same for a query. */
export async function organizationOfDomainQuery({ options }: Given, { store }: Stored): Promise<Place> {
  const { organizationId, domainId } = await requirePlace(options, store)
  return { organizationId, query: domainId === null ? {} : { domain_id: domainId } }
}

/** The domain of `--domain`, which is required: as a field of the body. */
export async function domainGiven({ options }: Given, { store }: Stored): Promise<Place> {
  const { organizationId, domainId } = await requirePlace({ domain: options.domain ?? '' }, store)
  return { organizationId, body: { domain_id: domainId } }
}

/** The organization of `--domain`, with the id of the domain; without it, all organizations. */
export async function domainOrOrganizations(given: Given, stored: Stored): Promise<Place[]> {
  return given.options.domain === undefined ? organizations(given, stored) : [await domainGiven(given, stored)]
}

/** The domain in the first operand, by name or id. */
export async function domain({ operands: [name = ''] }: Given, { store }: Stored): Promise<Place> {
  const { organizationId, domainId } = await requirePlace({ domain: name }, store)
  return { organizationId, params: { domain_id: domainId ?? '' } }
}

/** A record that was found by its id. Throws CommandFailure, with the command that lists such records, if there is none. */
function recordAt(
  params: Record<string, string>,
  found: { organizationId: string } | null,
  [noun, advice]: [noun: string, advice: string],
): Place {
  if (found !== null) return { organizationId: found.organizationId, params }
  throw new CommandFailure(`${noun}: no ${noun} ${Object.values(params)[0]}. ${advice}`)
}

export async function apiKey({ operands: [id = ''] }: Given, { store }: Stored): Promise<Place> {
  if (store === null) return { organizationId: '', params: { key_id: id } }
  const found = await store.apiKeys.get(id)
  return recordAt({ key_id: id }, found, ['key', 'List keys with: postrider key list'])
}

export async function webhook({ operands: [id = ''] }: Given, { store }: Stored): Promise<Place> {
  if (store === null) return { organizationId: '', params: { webhook_id: id } }
  const found = await store.webhooks.get(id)
  return recordAt({ webhook_id: id }, found, ['webhook', 'List webhooks with: postrider webhook list'])
}

export async function event({ operands: [id = ''] }: Given, { store }: Stored): Promise<Place> {
  if (store === null) return { organizationId: '', params: { event_id: id } }
  const found = await store.events.get(id)
  return recordAt({ event_id: id }, found, ['event', 'List recent events with: postrider event list'])
}

/** With the domain and the mode of the message, which a resent copy keeps. */
export async function message({ operands: [id = ''] }: Given, { store }: Stored): Promise<Place> {
  if (store === null) return { organizationId: '', params: { message_id: id } }
  const found = await store.messages.get(id)
  const place = recordAt({ message_id: id }, found, ['message', 'List recent messages with: postrider message list'])
  return found === null ? place : { ...place, domainId: found.domainId, mode: found.mode }
}

/** A delivery of a webhook, by its own id. */
export async function webhookDelivery({ operands: [id = ''] }: Given, { store }: Stored): Promise<Place> {
  if (store === null) throw new CommandFailure('retry: run this on the server, or use the dashboard')
  const found = await store.webhookDeliveries.get(id)
  const owner = found === null ? null : await store.webhooks.get(found.webhookId)
  const advice = 'List deliveries with: postrider webhook deliveries WEBHOOK_ID'
  return recordAt({ delivery_id: id, webhook_id: owner?.id ?? '' }, owner, ['delivery', advice])
}

/** An inbound route by its id, otherwise in the organization of `--org` or the only one. */
export async function route({ operands: [id = ''], options }: Given, { store }: Stored): Promise<Place> {
  const isGlobal = store !== null && options.org === undefined && isId('rte', id)
  const found = isGlobal ? await store.inboundRoutes.get(id) : null
  const organizationId = found?.organizationId ?? (await organizationOf(options, store))
  return { organizationId, params: { route_id: id } }
}

/** A template by its id or its alias, like `route`. */
export async function template({ operands: [name = ''], options }: Given, { store }: Stored): Promise<Place> {
  const isGlobal = store !== null && options.org === undefined && isId('tpl', name)
  const found = isGlobal ? await store.templates.get(name) : null
  const organizationId = found?.organizationId ?? (await organizationOf(options, store))
  return { organizationId, params: { template_id: name } }
}

/** A user of the installation in the first operand, by address or id. */
export async function user({ operands: [name = ''] }: Given, context: OperationContext): Promise<Place> {
  return { organizationId: '', params: { user_id: await userIdOf(name, context) } }
}

async function userIdOf(name: string, { store, operator }: OperationContext): Promise<string> {
  if (store !== null) return (await requireUser(name, store)).id
  if (!name.includes('@')) return name // the server finds it
  const all = await operator.listAll('users_list', { organizationId: '' })
  const found = all.find(({ email }) => email !== null && foldedEmail(email) === foldedEmail(name))
  return found?.id ?? noUser(name)
}

/** Finds a user by address or id. Throws CommandFailure if there is none. */
export async function requireUser(name: string, { users }: Pick<Store, 'users'>): Promise<User> {
  const user = name.includes('@') ? await users.findByEmail(foldedEmail(name)) : await users.get(name)
  return user ?? noUser(name)
}

function noUser(name: string): never {
  throw new CommandFailure(`user: no user ${name}. List users with: postrider user list`)
}
