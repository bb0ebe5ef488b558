import type { InboundRoute } from '../client/types.ts'
import { isId } from '../os/ids.ts'
import type { Store } from '../storage/store.ts'
import { withCliContext } from './cli-context.ts'
import { usageFault } from './failure.ts'
import { readEndpointHeaders } from './given-files.ts'
import { requireOrganization } from './org.ts'
import { print, printJson, sanitize, table } from './print.ts'
import type { OperationName, Results } from './results.ts'

interface Options {
  config: string
  json?: true
  org?: string
}

/** Options with the values of a route. One of the first four sets the match, one of the next three the action. */
interface RouteOptions extends Options {
  address?: string
  pattern?: string
  domain?: string
  catchAll?: true
  webhook?: string
  forwardTo?: string[]
  store?: true
  includeAttachments?: true
  /** `Name: value` each. */
  header?: string[]
  /** A file with such lines; false removes all. */
  headers?: string | false
  name?: string
  authentication?: string
  priority?: number
  disable?: true
  enable?: true
}

/** Prints the inbound routes of an organization, newest first, or "no routes yet". Throws CommandFailure for an
 *  unknown `org`. */
export async function listRoutes(options: Options): Promise<void> {
  await withCliContext(options.config, async ({ store, operator }) => {
    const { id: organizationId } = await requireOrganization(options.org, store)
    const data = await operator.listAll('inbound_routes_list', organizationId)
    if (options.json) return printJson({ data })
    const rows = data.map((each) => [
      each.id,
      stateOf(each),
      String(each.priority),
      matchOf(each),
      actionOf(each),
      each.name,
    ])
    print(table(['id', 'status', 'priority', 'mail to', 'action', 'name'], rows) || 'no routes yet')
  })
}

/** Prints an inbound route. Throws Refusal for an unknown id, as all functions below do. */
export async function showRoute(id: string, options: Options): Promise<void> {
  show(await run('inbound_routes_get', id, options), options)
}

/** Creates an inbound route and prints it with its signing secret, which cannot be shown again.
 *  Postrider mails a confirmation request to forward targets outside the verified domains. Throws CommandFailure
 *  (exit code 2) without a match or an action, and Refusal for an invalid value. */
export async function createRoute(options: RouteOptions): Promise<void> {
  const body = bodyOf(options)
  if (body.match === undefined)
    throw usageFault('match: missing. Set it with --address, --pattern, --domain or --catch-all')
  if (body.action === undefined) throw usageFault('action: missing. Set it with --webhook, --forward-to or --store')
  await withCliContext(options.config, async ({ store, operator }) => {
    const { id: organizationId } = await requireOrganization(options.org, store)
    const route = await operator.run('inbound_routes_create', { organizationId, body })
    if (options.json) return printJson(route)
    print(`${described(route)}\n\n${route.secret}\n\n${SECRET}`)
  })
}

const SECRET = 'Store this secret now: it is shown only once. It signs the webhook requests of this route.'

/** Changes the given values of an inbound route and prints it. Throws CommandFailure (exit code 2) without a change,
 *  and Refusal for an invalid value. */
export async function updateRoute(id: string, options: RouteOptions): Promise<void> {
  const body = bodyOf(options)
  if (Object.values(body).every((value) => value === undefined)) throw usageFault('route: no change given. See --help')
  show(await run('inbound_routes_update', id, options, body), options)
}

/** Prints which route would take a mail to the address, and what each route says to it. A disabled route is tested as if
 *  it were enabled. Throws Refusal for an invalid address. */
export async function testRoute(id: string, to: string, options: Options): Promise<void> {
  const tested = await run('inbound_routes_test', id, options, { to })
  if (options.json) return printJson(tested)
  const { taken_by: taker, reason, considered } = tested
  const rows = considered.map((each) => [each.id, each.matches ? 'yes' : 'no', each.name, each.reason])
  const what = taker === null ? 'no route' : `${taker.id} ${taker.name}`
  print(
    [`${sanitize(what)}: ${sanitize(reason)}`, table(['id', 'matches', 'name', 'reason'], rows)].join('\n\n').trimEnd(),
  )
}

/** Deletes an inbound route. Received messages remain. */
export async function deleteRoute(id: string, options: Options): Promise<void> {
  const answer = await run('inbound_routes_delete', id, options)
  if (options.json) printJson(answer)
  else print(`deleted ${id}`)
}

/** Options → the request fields that they set. Throws CommandFailure (exit code 2) for two matches or actions. */
function bodyOf(options: RouteOptions) {
  const { address, pattern, domain, catchAll, webhook, forwardTo, store, includeAttachments } = options
  const headers = readEndpointHeaders(options)
  const matches = [
    address !== undefined && { type: 'address', value: address },
    pattern !== undefined && { type: 'pattern', value: pattern },
    domain !== undefined && { type: 'domain', value: domain },
    catchAll === true && { type: 'catch_all' },
  ]
  const actions = [
    webhook !== undefined && {
      type: 'webhook',
      config: { url: webhook, include_attachments: includeAttachments === true, headers },
    },
    forwardTo !== undefined && { type: 'forward', config: { to: forwardTo } },
    store === true && { type: 'store' },
  ]
  if (includeAttachments && webhook === undefined) throw usageFault('include-attachments: needs --webhook')
  if (headers !== undefined && webhook === undefined) throw usageFault('headers: need --webhook')
  const { name, authentication, priority } = options
  return {
    name,
    match: onlyOne('match', matches),
    action: onlyOne('action', actions),
    authentication,
    priority,
    enabled: options.disable ? false : options.enable,
  }
}

function onlyOne(what: string, candidates: readonly (object | false)[]): object | undefined {
  const [first, second] = candidates.filter((each) => each !== false)
  if (second !== undefined) throw usageFault(`${what}: only one can be set`)
  return first
}

function run<Id extends OperationName>(
  operation: Id,
  id: string,
  { config, org }: Options,
  body?: object,
): Promise<Results[Id]> {
  return withCliContext(config, async ({ store, operator }) => {
    const organizationId = await ownerOf(id, org, store)
    return operator.run(operation, { organizationId, params: { route_id: id }, body })
  })
}

/** Organization of a route: the one with this id, or the only one. */
async function ownerOf(id: string, org: string | undefined, store: Store): Promise<string> {
  const found = org === undefined && isId('rte', id) ? await store.inboundRoutes.get(id) : null
  return found?.organizationId ?? (await requireOrganization(org, store)).id
}

function show(route: InboundRoute, { json }: Options): void {
  if (json) printJson(route)
  else print(described(route))
}

function described(route: InboundRoute): string {
  const { id, name, authentication, priority } = route
  const rows = [
    ['mail to', matchOf(route)],
    ['action', actionOf(route)],
    ['authentication', authentication],
    ['priority', String(priority)],
  ]
  const facts = rows.map(([head = '', value = '']) => `  ${head.padEnd(14)}  ${sanitize(value)}`)
  return [`${id} is ${stateOf(route)}   ${sanitize(name)}`, ...facts].join('\n')
}

const stateOf = ({ enabled }: InboundRoute) => (enabled ? 'enabled' : 'disabled')

function matchOf({ match, domain }: InboundRoute): string {
  switch (match.type) {
    case 'domain':
      return `${match.value} (all addresses)`
    case 'catch_all':
      return `other addresses of ${domain ?? 'all domains'}`
    default:
      return match.value ?? '-'
  }
}

function actionOf({ action }: InboundRoute): string {
  switch (action.type) {
    case 'webhook':
      return [
        action.config.url,
        ...(action.config.include_attachments ? ['(with attachments)'] : []),
        ...(action.config.header_names.length === 0 ? [] : [`(headers ${action.config.header_names.join(', ')})`]),
      ].join(' ')
    case 'forward':
      return `forward to ${action.config.to.map(({ email, status, is_stopped: isStopped }) => `${email} (${isStopped ? 'stopped' : status})`).join(', ')}`
    case 'store':
      return 'store'
  }
}
