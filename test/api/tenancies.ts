import type { ApiKey, Permission } from '../../src/model/api-key.ts'
import type { Domain } from '../../src/model/domain.ts'
import { createEvent } from '../../src/model/event.ts'
import type { Mode } from '../../src/model/message.ts'
import type { PageRequest } from '../../src/storage/store.ts'
import { hashToken } from '../../src/web/api/sessions.ts'
import { inboundMessage, PARSED, storedMail } from '../support/inbound.ts'
import { addKey } from '../support/keys.ts'
import { VERIFIED } from '../support/verified.ts'
import { type ContractServer, startContractServer } from './contract-server.ts'

/** Three tenants for the tests of all operations: the domain `own`, another domain of its organization (`sibling`), and
 *  another organization (`stranger`). Each has a live and a test record of every kind. Every record contains a marker
 *  text, which must not appear in a response to a key that cannot access the record. */

export const PLACES = ['own', 'sibling', 'stranger'] as const
export type Place = (typeof PLACES)[number]
export const MODES: readonly Mode[] = ['live', 'test']

export interface Tenancy {
  place: Place
  organizationId: string
  domain: Domain
  /** By mode: path parameter → ID of a record. Records without a mode are under `live`. */
  ids: Record<Mode, Record<string, string>>
}

export type Tenancies = Awaited<ReturnType<typeof openTenancies>>

/** Marker text in every record of a place and mode. */
export const canaryOf = (place: Place, mode: Mode) => `zq${place}${mode}zq`

export async function openTenancies() {
  const setup = await startContractServer()
  const { store, mintId, random, clock } = setup
  const strangers = mintId('org')
  await store.organizations.create({ id: strangers, name: 'strangers', plan: 'enterprise', createdAt: clock.now() })
  const tenancies = {} as Record<Place, Tenancy>
  const tenancy = async (place: Place, organizationId: string) => {
    const domain = (await store.domains.get((await setup.addDomain(organizationId, `${place}.example`, true)).id))!
    tenancies[place] = { place, organizationId, domain, ids: { live: {}, test: {} } }
  }
  await tenancy('own', setup.organizationId)
  await tenancy('sibling', setup.organizationId)
  await tenancy('stranger', strangers)

  const mintKey = async (place: Place, mode: Mode, permissions: Permission[], change: Partial<ApiKey> = {}) => {
    const { organizationId, domain } = tenancies[place]
    const id = mintId('key')
    const owner = { id, organizationId, domainId: domain.id, createdAt: clock.now() }
    return (await addKey(store, { ...owner, name: 'walker', mode, permissions, ...change }, random)).value
  }
  const makers = {} as Record<Place, Record<Mode, string>>
  for (const place of PLACES) {
    makers[place] = { live: '', test: '' }
    for (const mode of MODES) makers[place][mode] = await mintKey(place, mode, ['send', 'read', 'manage'])
  }

  const ask: Ask = async (key, method, path, body) => {
    const marks = path.startsWith('/v1/events/stream') ? await addMarks(setup, tenancies) : []
    const headers = new Headers(body === undefined ? {} : { 'content-type': 'application/json' })
    if (key !== null) headers.set('authorization', `Bearer ${key}`)
    const sent = body === undefined ? null : JSON.stringify(body)
    const response = await setup.api.fetch(new Request(`http://localhost${path}`, { method, headers, body: sent }))
    return { status: response.status, text: await beginningOf(response, marks) }
  }
  const addRecord = recordMakers(setup, { tenancies, keys: makers, ask })
  for (const place of PLACES) {
    for (const make of Object.values(addRecord)) for (const mode of MODES) await make(place, mode)
  }

  return { ...setup, tenancies, mintKey, ask, addRecord, snapshot: snapshots(store, tenancies) }
}

type Ask = (
  key: string | null,
  method: string,
  path: string,
  body?: unknown,
) => Promise<{ status: number; text: string }>

/** Makes texts that are unique. */
let made = 0

/** Path parameter → function that creates a record of that kind for a place and mode. Uses `keys`. */
export function recordMakers(
  { store, mintId, clock }: Pick<ContractServer, 'store' | 'mintId' | 'clock'>,
  { tenancies, keys, ask }: { tenancies: Record<Place, Tenancy>; keys: Record<Place, Record<Mode, string>>; ask: Ask },
): Record<string, (place: Place, mode: Mode) => Promise<void>> {
  const created = async (key: string, path: string, body: unknown): Promise<string> => {
    const { status, text } = await ask(key, 'POST', path, body)
    if (status > 299) throw new Error(`POST ${path}: ${status} ${text}`)
    return JSON.parse(text).id
  }

  return {
    message_id: async (place, mode) => {
      const { ids, domain } = tenancies[place]
      const canary = canaryOf(place, mode)
      const mail = { from: `shop@${domain.name}`, to: `${canary}@customer.example`, subject: canary, text: canary }
      const attachments = [{ filename: `${canary}.txt`, content: Buffer.from(canary).toString('base64') }]
      const whole = {
        ...mail,
        attachments,
        scheduled_at: new Date(clock.now() + 4 * 86_400_000).toISOString(),
        tags: [canary],
      }
      ids[mode].message_id = await created(keys[place][mode], '/v1/send', whole)
    },
    event_id: async (place, mode) => {
      const { ids, organizationId, domain } = tenancies[place]
      const id = mintId('evt')
      const about = {
        organizationId,
        domainId: domain.id,
        messageId: ids[mode].message_id!,
        mode,
        createdAt: clock.now(),
      }
      const data = { message_id: about.messageId, to: canaryOf(place, mode), smtp_response: canaryOf(place, mode) }
      await store.events.append([createEvent({ id, type: 'message.delivered', ...about }, data)])
      ids[mode].event_id = id
    },
    webhook_id: async (place, mode) => {
      const { ids } = tenancies[place]
      const url = `https://hooks.example.com/${canaryOf(place, mode)}`
      const key = keys[place][mode]
      const id = await created(key, '/v1/webhooks', {
        url,
        events: ['message.delivered'],
        description: canaryOf(place, mode),
      })
      await ask(key, 'POST', `/v1/webhooks/${id}/test`, { type: 'message.delivered' })
      const { records } = await store.webhookDeliveries.list({ ...ALL_DELIVERIES, webhookId: id }, NEWEST)
      Object.assign(ids[mode], { webhook_id: id, delivery_id: records[0]!.id })
    },
    template_id: async (place, mode) => {
      const canary = canaryOf(place, mode)
      const template = { name: canary, alias: `a${made++}`, subject: canary, text: canary }
      tenancies[place].ids[mode].template_id = await created(keys[place][mode], '/v1/templates', template)
    },
    id_or_email: async (place, mode) => {
      const { ids, domain } = tenancies[place]
      const email = `${canaryOf(place, mode)}${made++}@customer.example`
      ids[mode].id_or_email = await created(keys[place][mode], '/v1/suppressions', { email, domain_id: domain.id })
    },
    key_id: async (place, mode) => {
      const { ids, domain } = tenancies[place]
      const key = { name: canaryOf(place, mode), domain_id: domain.id, permissions: ['send'], mode }
      ids[mode].key_id = await created(keys[place][mode], '/v1/api-keys', key)
    },
    route_id: async (place) => {
      const { ids, domain } = tenancies[place]
      const match = { type: 'address', value: `${canaryOf(place, 'live')}@${domain.name}` }
      const action = { type: 'webhook', config: { url: `https://hooks.example.com/${canaryOf(place, 'live')}` } }
      const route = { name: canaryOf(place, 'live'), match, action }
      ids.live.route_id = await created(keys[place].live, '/v1/inbound-routes', route)
    },
    inbound_message_id: async (place) => {
      const { ids, organizationId, domain } = tenancies[place]
      const canary = canaryOf(place, 'live')
      const part = { id: mintId('inb'), organizationId, domainId: domain.id, routeId: ids.live.route_id! }
      const message = inboundMessage({ ...part, receivedAt: clock.now(), from: `${canary}@x.example`, subject: canary })
      const mail = storedMail(
        { ...PARSED, textBody: canary, htmlBody: canary },
        `Subject: ${canary}\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment\r\n\r\n${canary}\r\n`,
      )
      await store.inbound.accept({ ...mail, taken: [{ message, deliveryId: null, forward: null }] })
      ids.live.inbound_message_id = part.id
    },
    user_id: async (place) => {
      const { ids, organizationId } = tenancies[place]
      const id = mintId('usr')
      const canary = canaryOf(place, 'live')
      const user = { id, email: `${canary}${made++}@customer.example`, name: canary, createdAt: clock.now() }
      const roles = { [organizationId]: 'viewer' as const }
      await store.users.create(
        { ...user, isOperator: false, roles, disabledAt: null, lastSeenAt: null, ...VERIFIED },
        null,
      )
      ids.live.user_id = id
    },
    erasure_id: async (place) => {
      const { ids, organizationId } = tenancies[place]
      const asked = { id: mintId('era'), organizationId, email: `erased${made++}@customer.example`, now: clock.now() }
      ids.live.erasure_id = (await store.erasures.begin(asked))!.id
    },
    invitation_id: async (place) => {
      const { ids, organizationId } = tenancies[place]
      const [id, createdAt] = [mintId('inv'), clock.now()]
      const email = `${canaryOf(place, 'live')}${made++}@customer.example`
      const times = { createdAt, expiresAt: createdAt + 86_400_000 }
      const invitation = { id, organizationId, email, role: 'viewer' as const, invitedBy: 'operator', ...times }
      await store.invitations.create(invitation, { shown: hashToken(id), mailed: hashToken(`mailed ${id}`) })
      ids.live.invitation_id = id
    },
    domain_id: async (place) => {
      const { ids, domain } = tenancies[place]
      ids.live.domain_id = domain.id
    },
  }
}

/** Returns a function that resolves with all records of a place and mode, and the newest of each list, as one text.
 *  Records without a mode count as live. */
function snapshots(store: ContractServer['store'], tenancies: Record<Place, Tenancy>) {
  return async (place: Place, mode: Mode): Promise<string> => {
    const { ids, organizationId, domain } = tenancies[place]
    const id = ids[mode]
    const key = await store.apiKeys.get(id.key_id!)
    const records: unknown[] = [
      await store.messages.get(id.message_id!),
      await store.messages.deliveries(id.message_id!),
      await store.events.get(id.event_id!),
      await store.webhooks.get(id.webhook_id!),
      await store.webhooks.secrets(id.webhook_id!),
      await store.webhookDeliveries.get(id.delivery_id!),
      await store.templates.get(id.template_id!),
      await store.suppressions.get(id.id_or_email!),
      key && { ...key, lastUsedAt: null },
    ]
    if (mode === 'live') {
      records.push(
        await store.domains.get(domain.id),
        await store.inboundRoutes.get(id.route_id!),
        await store.inboundDeliveries.ofMessage(id.inbound_message_id!),
        (await store.inboundRoutes.list(organizationId, EVER)).records,
        (await store.domains.list(organizationId, EVER)).records.map((each) => each.id),
      )
    }
    const ofMode = <T extends { mode: Mode }>(all: T[]) => all.filter((each) => each.mode === mode).length
    const counts = [
      ofMode((await store.webhooks.list(organizationId, EVER)).records),
      ofMode((await store.templates.list(organizationId, EVER)).records),
      ofMode((await store.apiKeys.list(organizationId, EVER)).records),
    ]
    return JSON.stringify([records, counts])
  }
}

const EVER = { limit: 100_000, after: null, createdAfter: null, createdBefore: null }
const NEWEST: PageRequest = { limit: 1, after: null }
const ALL_DELIVERIES = { status: null, type: null, createdAfter: null, createdBefore: null }

/** Publishes an event without a marker text in each place and mode → their IDs. Every key sees some of them. */
async function addMarks(
  { store, mintId, clock }: ContractServer,
  tenancies: Record<Place, Tenancy>,
): Promise<readonly string[]> {
  const events = PLACES.flatMap((place) =>
    MODES.map((mode) => {
      const { organizationId, domain } = tenancies[place]
      const about = { organizationId, domainId: domain.id, messageId: null, mode, createdAt: clock.now() }
      return createEvent({ id: mintId('evt'), type: 'message.delivered', ...about }, { to: 'ann@customer.example' })
    }),
  )
  await store.events.append(events)
  return events.map(({ id }) => id)
}

/** The text of a response; of an event stream up to a mark, which comes after all events from before. */
async function beginningOf(response: Response, marks: readonly string[]): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text()
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of response.body!) {
    text += decoder.decode(bytes, { stream: true })
    if (marks.some((id) => text.includes(id))) return text
  }
  throw new Error(`the stream ended early: ${text}`)
}

export type { ContractServer }
