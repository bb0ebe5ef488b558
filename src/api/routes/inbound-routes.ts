import { z } from 'zod'
import { parseMailbox } from '../../mail/address.ts'
import { iso } from '../../model/event.ts'
import { type InboundRoute, type RouteMatch, weighRoutes } from '../../model/inbound-route.ts'
import { invalid } from '../../model/refusal.ts'
import type { MintId } from '../../platform/ids.ts'
import type { Random } from '../../platform/random.ts'
import type { Store } from '../../storage/store.ts'
import { mintSigningSecret } from '../../webhooks/sign.ts'
import { deleted } from '../answer.ts'
import { requireOwned } from '../errors.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { pageAnswer, recordsRequest } from '../page.ts'
import { emailAddress, recordsQuery } from '../schema.ts'
import { actionRecord, domainOfMatch, routeFields } from './inbound-route-fields.ts'

export interface InboundRouteDeps {
  store: Pick<Store, 'inboundRoutes' | 'domains'>
  random: Random
  mintId: MintId
  /** Null when the URL may be stored, else why not (platform/fetch-public.ts checkWebhookUrl). */
  checkUrl: (url: string) => string | null
  /** To be called when mail may have become due to an endpoint. */
  wakeInbound: () => void
}

/** `/v1/inbound-routes`: what happens to mail that comes in for the organization's domains (contract §5). */
export function inboundRouteOperations(deps: InboundRouteDeps): Operation[] {
  const { store, random, mintId, wakeInbound } = deps
  const { name, match, action, authentication, enabled, priority } = routeFields(deps.checkUrl)
  const load = async ({ params, organizationId }: Call) =>
    requireOwned(await store.inboundRoutes.get(params.route_id!), organizationId, 'inbound route')

  /** A route is only for domains of its organization: an unknown one is 400, somebody else's 403. */
  const requireOwnDomain = async (wanted: RouteMatch, organizationId: string) => {
    const domain = domainOfMatch(wanted)
    if (domain === null) return
    const known = await store.domains.findByName(domain)
    if (known !== null) return requireOwned(known, organizationId, 'domain')
    throw invalid([{ field: 'match.value', message: `match.value is for ${domain}, which is no domain here` }])
  }

  return [
    operation({
      id: 'inbound_routes_create',
      method: 'POST',
      path: '/v1/inbound-routes',
      permission: 'manage',
      summary: 'Say what happens to mail for an address, pattern or domain; the signing secret is shown this once',
      description:
        'Of all routes that match a recipient the one with the highest `priority` takes the mail, then address before pattern before domain before catch-all. `a+tag@d` falls back to `a@d`. `authentication`: `none` takes everything and tells the verdicts, `dmarc` refuses what the author’s own policy wants refused, `require_pass` all that does not pass DMARC.',
      answers: async () => (await import('../answers/inbound-routes.ts')).routeCreatedAnswers,
      example: {
        name: 'help desk',
        match: { type: 'address', value: 'help@example.com' },
        action: { type: 'webhook', config: { url: 'https://hooks.example.com/inbound' } },
      },
      body: z.strictObject({
        name,
        match,
        action,
        authentication: authentication.default('none'),
        enabled: enabled.default(true),
        priority: priority.default(0),
      }),
      idempotent: true,
      secretAnswer: true,
      async handle({ organizationId, now, body, remember }) {
        await requireOwnDomain(body.match, organizationId)
        const route: InboundRoute = { id: mintId('rte'), organizationId, ...body, createdAt: now }
        const secret = mintSigningSecret(random)
        const answer = { status: 201, body: { ...toWire(route), secret } }
        await store.inboundRoutes.create(route, secret, remember(answer))
        return answer
      },
    }),
    operation({
      id: 'inbound_routes_list',
      method: 'GET',
      path: '/v1/inbound-routes',
      permission: 'manage',
      summary: 'List inbound routes, newest first',
      answers: async () => (await import('../answers/inbound-routes.ts')).routeListAnswers,
      query: recordsQuery,
      handle: async ({ organizationId, query }) =>
        pageAnswer(await store.inboundRoutes.list(organizationId, recordsRequest(query)), toWire),
    }),
    operation({
      id: 'inbound_routes_get',
      method: 'GET',
      path: '/v1/inbound-routes/:route_id',
      permission: 'manage',
      summary: 'Read one inbound route',
      answers: async () => (await import('../answers/inbound-routes.ts')).routeAnswers,
      load,
      handle: async ({ resource }) => ({ status: 200, body: toWire(resource) }),
    }),
    operation({
      id: 'inbound_routes_update',
      method: 'PATCH',
      path: '/v1/inbound-routes/:route_id',
      permission: 'manage',
      summary: 'Change an inbound route; match and action are given whole',
      answers: async () => (await import('../answers/inbound-routes.ts')).routeAnswers,
      example: { priority: 10 },
      body: z.strictObject({ name, match, action, authentication, enabled, priority }).partial(),
      load,
      async handle({ resource, organizationId, body }) {
        if (body.match !== undefined) await requireOwnDomain(body.match, organizationId)
        const change = given(body)
        if (Object.keys(change).length === 0) return { status: 200, body: toWire(resource) }
        const route = await store.inboundRoutes.update(resource.id, change)
        wakeInbound()
        return { status: 200, body: toWire(requireOwned(route, organizationId, 'inbound route')) }
      },
    }),
    operation({
      id: 'inbound_routes_delete',
      method: 'DELETE',
      path: '/v1/inbound-routes/:route_id',
      permission: 'manage',
      summary: 'Remove an inbound route; its messages stay, what was still to be posted has failed',
      answers: async () => (await import('../answers/inbound-routes.ts')).routeDeletedAnswers,
      load,
      async handle({ resource }) {
        await store.inboundRoutes.remove(resource.id)
        return deleted(resource.id)
      },
    }),
    operation({
      id: 'inbound_routes_test',
      method: 'POST',
      path: '/v1/inbound-routes/:route_id/test',
      permission: 'manage',
      unaudited: 'looks',
      summary: 'Ask which route would take a mail, and why; nothing is sent',
      answers: async () => (await import('../answers/inbound-routes.ts')).routeTestAnswers,
      example: { from: 'bob@customer.example', to: 'help+order@example.com', subject: 'A question' },
      body: testBody,
      load,
      async handle({ resource, organizationId, body }) {
        const { local, domain } = parseMailbox(body.to)!
        if (store.inboundRoutes.domainByReturnPathHost(domain)?.organizationId === organizationId) {
          return { status: 200, body: nobody(`${domain} ${RETURN_PATH}`) }
        }
        const known = await store.domains.findByName(domain)
        if (known === null) return { status: 200, body: nobody(`${domain} is no domain here: ${NOT_OURS}`) }
        requireOwned(known, organizationId, 'domain')
        const enabledRoutes = store.inboundRoutes.enabledOf(organizationId)
        const routes = resource.enabled ? enabledRoutes : [...enabledRoutes, resource]
        return { status: 200, body: testAnswer(weighRoutes(routes, { local, domain }), resource) }
      },
    }),
  ]
}

/** `from` and `subject` decide nothing yet; they are taken so that a whole mail can be described. An empty `from` is
 *  the null return path. */
const testBody = z.strictObject({
  from: z
    .union([emailAddress, z.literal('')])
    .optional()
    .describe('Decides nothing yet.'),
  to: emailAddress,
  subject: z.string().max(998, 'must have at most 998 characters').optional(),
})

const RETURN_PATH = 'is a return path: what comes there is about mail that was sent, no route is asked'
const NOT_OURS = 'mail for it is refused with 550 5.7.1'
const UNKNOWN = 'no enabled route matches: mail for this address is refused with 550 5.1.1'

/** What was decided about a mail, for the route that was asked about. Nothing considered: no route was looked at. */
function testAnswer(weighed: ReturnType<typeof weighRoutes>, asked: InboundRoute) {
  const considered = weighed.map(({ route, matches, why }) => ({
    id: route.id,
    name: route.name,
    matches,
    reason: why,
  }))
  const first = weighed[0]
  if (first === undefined || !first.takes) return { ...nobody(UNKNOWN), considered }
  return {
    taken_by: toWire(first.route),
    takes: first.route.id === asked.id,
    by: first.by,
    via_bare_address: first.viaBareAddress,
    reason: `${JSON.stringify(first.route.name)} ${first.why}`,
    considered,
  }
}

function nobody(reason: string) {
  return { taken_by: null, takes: false, by: null, via_bare_address: false, reason, considered: [] }
}

type Change = Parameters<Store['inboundRoutes']['update']>[1]

/** A PATCH body → only the fields that are there. */
function given(body: { [Field in keyof Change]: Change[Field] | undefined }): Change {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
}

function toWire(route: InboundRoute) {
  return {
    id: route.id,
    name: route.name,
    match: { type: route.match.type, value: route.match.value },
    action: actionRecord(route.action),
    authentication: route.authentication,
    enabled: route.enabled,
    priority: route.priority,
    created_at: iso(route.createdAt),
  }
}
