import { z } from 'zod'
import type { Config } from '../../../config/load.ts'
import { mintSigningSecret } from '../../../events/webhooks/sign.ts'
import { parseMailbox } from '../../../mail/address.ts'
import { isOwned } from '../../../model/domain.ts'
import { iso } from '../../../model/event.ts'
import type { ForwardTargetStatus } from '../../../model/forward-target.ts'
import {
  actionOf,
  type InboundRoute,
  isReservedMailbox,
  type RouteMatch,
  weighRoutes,
} from '../../../model/inbound-route.ts'
import { withinLimit } from '../../../model/limits.ts'
import { invalid, Refusal } from '../../../model/refusal.ts'
import { suppressionKey } from '../../../model/suppression.ts'
import { pathParameter } from '../../../net/path-parameter.ts'
import type { MintId } from '../../../os/ids.ts'
import type { Notify } from '../../../os/notifier.ts'
import type { Random } from '../../../os/random.ts'
import type { Asked, Forwarding, ForwardRoute } from '../../../sending/submission/forwarding.ts'
import type { Page, Store } from '../../../storage/store.ts'
import { rule } from '../access.ts'
import { requireOwned } from '../errors.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { isOperator } from '../operator.ts'
import { pageResponse, recordsRequest } from '../page.ts'
import { deleted } from '../rendered-response.ts'
import { characters, emailAddress, recordsQuery } from '../schema.ts'
import {
  filteredPage,
  NO_RECORDS,
  requireLive,
  requireWithin,
  type Scope,
  scopeOf,
  withoutOnlyDomain,
} from '../scope.ts'
import { actionRecord, domainOfMatch, routeFields } from './inbound-route-fields.ts'

export interface InboundRouteDeps {
  store: Pick<Store, 'snapshot' | 'inboundRoutes' | 'domains'>
  random: Random
  mintId: MintId
  /** Returns why the URL is rejected, or null (checkWebhookUrl in net/webhook-url.ts). */
  checkUrl: (url: string) => string | null
  notify: Notify
  config: Pick<Config, 'sending'>
  forwarding: Pick<Forwarding, 'statusOf' | 'ask'>
}

/** The operations of `/v1/inbound-routes`: routes for mail to the organization's domains. */
export function inboundRouteOperations(deps: InboundRouteDeps): Operation[] {
  const { store, random, mintId, notify, forwarding } = deps
  /** If false, unverified domains count as verified. */
  const requireVerified = deps.config.sending.requireVerifiedDomain
  const toWire = async (route: InboundRoute) => {
    const targets = await targetsOf(route)
    return routeRecord(route, (email) => targets.get(email) ?? 'pending')
  }
  const toWirePage = async ({ records, hasMore }: Page<InboundRoute>) => ({
    records: await Promise.all(records.map(toWire)),
    hasMore,
  })
  /** Route → status of each forward target by address; empty if it does not forward. */
  const targetsOf = async ({ organizationId, action }: InboundRoute) => {
    const targets = new Map<string, ForwardTargetStatus>()
    if (action.type !== 'forward') return targets
    for (const email of action.config.to) targets.set(email, await forwarding.statusOf(organizationId, email))
    return targets
  }
  /** Requests confirmations from the pending targets of a stored route. Ignores refusals, because the route is stored:
   *  its targets stay `pending`, and the caller can request confirmations again. */
  const askTargets = async (route: InboundRoute, now: number): Promise<void> => {
    if (!isForward(route)) return
    const targets = await targetsOf(route)
    const pending = route.action.config.to.filter((email) => targets.get(email) === 'pending')
    await forwarding.ask(route, pending, now).catch((thrown: unknown) => {
      if (!(thrown instanceof Refusal)) throw thrown
    })
  }
  const { name, match, action, authentication, enabled, priority } = routeFields(deps.checkUrl)
  /** Route and scope → the route with the `domainId` for the scope: the domain of its match, or null for a catch-all of
   *  all domains, which belongs to the organization. */
  const placed = async (route: InboundRoute | null, { domainId }: Scope) => {
    if (route === null || domainId === null) return route
    const own = await store.domains.get(domainId)
    return { ...route, domainId: domainOfMatch(route.match) === own?.name ? domainId : null }
  }
  const reachOf = async ({ key }: Pick<Call, 'key'>) => withoutOnlyDomain(scopeOf(key), store)
  const load = async (call: Call) => {
    const scope = await reachOf(call)
    const route = await store.inboundRoutes.get(pathParameter(call, 'route_id'))
    return requireLive(await placed(route, scope), scope, 'inbound route')
  }

  /** Rejects with `forbidden` if the match is for a domain of another organization or outside the scope, and with
   *  `validation_error` if it is for an unknown domain. */
  const requireOwnDomain = async (wanted: RouteMatch, { key }: Pick<Call, 'key'>) => {
    const domain = domainOfMatch(wanted)
    if (domain === null) return
    const scope = scopeOf(key)
    const own = await store.domains.findOf(key.organizationId, domain)
    if (own !== null) return requireWithin({ ...own, domainId: own.id }, scope, 'domain')
    const known = await store.domains.findByName(domain)
    if (known !== null && isOwned(known, requireVerified))
      requireWithin({ ...known, domainId: known.id }, scope, 'domain')
    throw invalid([
      { field: 'match.value', message: `match.value is for ${domain}, which is not a domain of this organization` },
    ])
  }

  /** Match of a request → the match to store. A catch-all from a key without `admin` is limited to the key's domain, so
   *  that it does not include domains that the organization adds later. */
  const ownMatch = async (wanted: RouteMatch, { key }: Pick<Call, 'key'>): Promise<RouteMatch> => {
    const { domainId } = scopeOf(key)
    if (wanted.type !== 'catch_all' || wanted.value !== null || domainId === null) return wanted
    return { type: 'catch_all', value: (await store.domains.get(domainId))?.name ?? null }
  }

  return [
    operation({
      id: 'inbound_routes_create',
      method: 'POST',
      path: '/v1/inbound-routes',
      tag: 'Inbound mail',
      access: rule('manage', 'developer', 'refused', 'own_domain'),
      summary: 'Create an inbound route',
      description:
        'The response contains the signing secret, which is shown only once. If several routes match a recipient, the one with the highest `priority` wins; then address before pattern before domain before catch-all. `a+tag@d` falls back to `a@d`. With `authentication`, `none` accepts all mail and reports the results. `dmarc` rejects mail that the author domain’s DMARC policy rejects. `require_pass` rejects mail that does not pass DMARC. Forwards count as sending. A forward target outside the organization’s verified domains is `pending` until its owner confirms it; Postrider emails the confirmation link now.',
      responses: async () => (await import('../responses/inbound-routes.ts')).routeCreatedResponses,
      refusals: ['quota_exceeded'],
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
      secretResponse: true,
      async handle({ key, organizationId, now, body, remember }) {
        await requireOwnDomain(body.match, { key })
        const match = await ownMatch(body.match, { key })
        const given = { id: mintId('rte'), organizationId, ...body, match, createdAt: now }
        const route: InboundRoute = { ...given, action: actionOf(body.action) }
        const secret = mintSigningSecret(random)
        const answer = { status: 201, body: { ...(await toWire(route)), secret } }
        withinLimit(await store.inboundRoutes.create(given, secret, remember(answer)), now)
        await askTargets(route, now)
        return answer
      },
    }),
    operation({
      id: 'inbound_routes_list',
      method: 'GET',
      path: '/v1/inbound-routes',
      tag: 'Inbound mail',
      access: rule('manage', 'developer', 'test_records', 'own_domain'),
      summary: 'List inbound routes',
      responses: async () => (await import('../responses/inbound-routes.ts')).routeListResponses,
      query: recordsQuery,
      async handle({ key, organizationId, query }) {
        const scope = await reachOf({ key })
        if (scope.mode === 'test') return pageResponse(NO_RECORDS, () => null)
        const page = recordsRequest(query)
        const list = (asked: typeof page) => store.inboundRoutes.list(organizationId, asked)
        if (scope.domainId === null) return pageResponse(await toWirePage(await list(page)), (each) => each)
        const name = (await store.domains.get(scope.domainId))?.name
        const found = await filteredPage(list, page, ({ match }) => domainOfMatch(match) === name)
        return pageResponse(await toWirePage(found), (each) => each)
      },
    }),
    operation({
      id: 'inbound_routes_get',
      method: 'GET',
      path: '/v1/inbound-routes/:route_id',
      tag: 'Inbound mail',
      access: rule('manage', 'developer', 'test_records', 'own_domain'),
      summary: 'Retrieve an inbound route',
      responses: async () => (await import('../responses/inbound-routes.ts')).routeResponses,
      load,
      handle: async ({ resource }) => ({ status: 200, body: await toWire(resource) }),
    }),
    operation({
      id: 'inbound_routes_update',
      method: 'PATCH',
      path: '/v1/inbound-routes/:route_id',
      tag: 'Inbound mail',
      access: rule('manage', 'developer', 'test_records', 'own_domain'),
      summary: 'Update an inbound route',
      description:
        'Send `match` and `action` as complete objects. Without `headers`, a webhook action keeps those it has if scheme, host and port of `url` stay the same; otherwise they are removed.',
      responses: async () => (await import('../responses/inbound-routes.ts')).routeResponses,
      example: { priority: 10 },
      body: z.strictObject({ name, match, action, authentication, enabled, priority }).partial(),
      load,
      async handle({ key, resource, organizationId, body, now }) {
        if (body.match !== undefined) await requireOwnDomain(body.match, { key })
        const match = body.match && (await ownMatch(body.match, { key }))
        const change = given({ ...body, match })
        if (Object.keys(change).length === 0) return { status: 200, body: await toWire(resource) }
        const route = await store.inboundRoutes.update(resource.id, change)
        notify('inbound deliveries')
        const changed = requireOwned(route, organizationId, 'inbound route')
        if (body.action !== undefined) await askTargets(changed, now)
        return { status: 200, body: await toWire(changed) }
      },
    }),
    operation({
      id: 'inbound_routes_delete',
      method: 'DELETE',
      path: '/v1/inbound-routes/:route_id',
      tag: 'Inbound mail',
      access: rule('manage', 'developer', 'test_records', 'own_domain'),
      summary: 'Delete an inbound route',
      description: 'Messages it received remain. Pending webhook deliveries fail.',
      responses: async () => (await import('../responses/inbound-routes.ts')).routeDeletedResponses,
      load,
      async handle({ resource }) {
        await store.inboundRoutes.remove(resource.id)
        return deleted(resource.id)
      },
    }),
    operation({
      id: 'inbound_routes_confirmations',
      method: 'POST',
      path: '/v1/inbound-routes/:route_id/confirmations',
      tag: 'Inbound mail',
      access: rule('manage', 'developer', 'test_records', 'own_domain'),
      summary: 'Resend confirmation requests to pending forward targets',
      description:
        'Each target gets an email from the route’s domain with a link that is valid for seven days. These emails belong to the server, so that your organization does not read the link. An address gets at most three requests per day, across all organizations. Targets whose owner stopped the forwarding get none, nor do targets whose mail this server receives: the operator passes on their link.',
      responses: async () => (await import('../responses/inbound-routes.ts')).routeConfirmationsResponses,
      refusals: ['domain_not_verified', 'quota_exceeded', 'invalid_state'],
      example: { email: 'ann@elsewhere.example' },
      body: z.strictObject({ email: emailAddress.optional().describe('Absent: all pending targets.') }),
      bodyOptional: true,
      load,
      async handle({ key, resource, body, now }) {
        if (!isForward(resource)) throw new Refusal('invalid_state', 'This route is not a forward route.')
        const { to } = resource.action.config
        const wanted = body.email === undefined ? null : suppressionKey(body.email)
        const asked = to.filter((email) => wanted === null || suppressionKey(email) === wanted)
        if (asked.length === 0) throw invalid([{ field: 'email', message: 'email is not a target of this route' }])
        const results = await forwarding.ask(resource, asked, now)
        return { status: 202, body: { data: results.map((asked) => askedRecord(asked, isOperator(key))) } }
      },
    }),
    operation({
      id: 'inbound_routes_test',
      method: 'POST',
      path: '/v1/inbound-routes/:route_id/test',
      tag: 'Inbound mail',
      access: rule('manage', 'developer', 'test_records', 'own_domain'),
      unaudited: 'looks',
      summary: 'Test which route would match a message',
      description: 'Explains the decision. Nothing is sent.',
      responses: async () => (await import('../responses/inbound-routes.ts')).routeTestResponses,
      example: { from: 'bob@customer.example', to: 'help+order@example.com', subject: 'A question' },
      body: testBody,
      load,
      async handle({ key, resource, organizationId, body }) {
        const { local, domain } = parseMailbox(body.to)!
        if (store.snapshot.domainByReturnPathHost(domain)?.organizationId === organizationId) {
          return { status: 200, body: unmatched(`${domain} ${RETURN_PATH}`) }
        }
        const own = await store.domains.findOf(organizationId, domain)
        const known = await store.domains.findByName(domain)
        const scope = scopeOf(key)
        if (own === null) {
          if (known !== null && isOwned(known, requireVerified)) {
            requireWithin({ ...known, domainId: known.id }, scope, 'domain')
          }
          return { status: 200, body: unmatched(`${domain} is not a domain of this server: ${NOT_OURS}`) }
        }
        requireWithin({ ...own, domainId: own.id }, scope, 'domain')
        if (!isOwned(own, requireVerified)) {
          return { status: 200, body: unmatched(`${domain} is ${own.status}, not verified: ${NOT_OURS}`) }
        }
        const enabledRoutes = store.snapshot.enabledRoutes(organizationId)
        const routes = resource.enabled ? enabledRoutes : [...enabledRoutes, resource]
        const { domainId } = await reachOf({ key })
        const only = domainId === null ? null : (await store.domains.get(domainId))?.name
        const isShown = (route: InboundRoute) => only === null || domainOfMatch(route.match) === only
        const unmatchedReason = isReservedMailbox(routes, { local, domain }) ? RESERVED : UNKNOWN
        const weighed = weighRoutes(routes, { local, domain })
        return { status: 200, body: await testResponse(weighed, { asked: resource, unmatchedReason, isShown, toWire }) }
      },
    }),
  ]
}

/** Body of a routing test. `from` and `subject` have no effect; they are accepted so that clients can describe a
 *  complete message. An empty `from` is the null return path. */
const testBody = z.strictObject({
  from: z
    .union([emailAddress, z.literal('')])
    .optional()
    .describe('Currently ignored.'),
  to: emailAddress,
  subject: characters(998).optional(),
})

function isForward(route: InboundRoute): route is ForwardRoute {
  return route.action.type === 'forward'
}

function askedRecord({ email, result, url }: Asked, isByOperator: boolean) {
  return {
    email,
    status: result === 'confirmed' ? 'confirmed' : 'pending',
    sent: result === 'asked',
    reason: result === 'asked' || result === 'confirmed' ? null : result,
    url: isByOperator ? (url ?? null) : null,
  }
}

const RETURN_PATH = 'is a return path: mail to it is a report about sent mail and does not use routes'
const NOT_OURS = 'mail to it is rejected with 550 5.7.1'
const SHARED = 'a route for every domain of the organization accepts it; only keys with admin can see that route'
const RESERVED = 'no enabled route matches; mail to postmaster and abuse is stored anyway'
const UNKNOWN = 'no enabled route matches; mail to this address is rejected with 550 5.1.1'

/** Weighed routes → JSON result of a routing test. `asked` is the route in the path. Routes that the key cannot see are
 *  left out. If `considered` is empty, no visible route was checked. */
async function testResponse(
  weighed: ReturnType<typeof weighRoutes>,
  {
    asked,
    unmatchedReason,
    isShown,
    toWire,
  }: {
    asked: InboundRoute
    /** The reason if no route matches. */
    unmatchedReason: string
    isShown: (route: InboundRoute) => boolean
    toWire: (route: InboundRoute) => Promise<object>
  },
) {
  const shown = weighed.filter(({ route }) => isShown(route))
  const considered = shown.map(({ route, matches, why }) => ({
    id: route.id,
    name: route.name,
    matches,
    reason: why,
  }))
  const first = weighed[0]
  if (first === undefined || !first.takes) return { ...unmatched(unmatchedReason), considered }
  if (!isShown(first.route)) return { ...unmatched(SHARED), considered: considered.map(unreasoned) }
  return {
    taken_by: await toWire(first.route),
    takes: first.route.id === asked.id,
    by: first.by,
    via_bare_address: first.viaBareAddress,
    reason: `${JSON.stringify(first.route.name)} ${first.why}`,
    considered,
  }
}

/** Replaces the reason of a considered route, because it may contain the name of a route that the key cannot see. */
const unreasoned = <T extends { reason: string }>(each: T): T => ({ ...each, reason: SHARED })

function unmatched(reason: string) {
  return { taken_by: null, takes: false, by: null, via_bare_address: false, reason, considered: [] }
}

type Change = Parameters<Store['inboundRoutes']['update']>[1]

/** PATCH body → only the fields that are present. */
function given(body: { [Field in keyof Change]: Change[Field] | undefined }): Change {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
}

/** Route → its JSON record. `statusOf` returns the status of a forward target. */
function routeRecord(route: InboundRoute, statusOf: (email: string) => ForwardTargetStatus) {
  return {
    id: route.id,
    name: route.name,
    match: { type: route.match.type, value: route.match.type === 'catch_all' ? null : route.match.value },
    domain: domainOfMatch(route.match),
    action: actionRecord(route.action, statusOf),
    authentication: route.authentication,
    enabled: route.enabled,
    priority: route.priority,
    created_at: iso(route.createdAt),
  }
}
