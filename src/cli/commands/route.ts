import { type Command, InvalidArgumentError, Option } from 'commander'
import type { InboundRoute } from '../../client/types.ts'
import { ROUTE_AUTHENTICATIONS } from '../../model/inbound-route.ts'
import { recordTable } from '../columns.ts'
import { usageFault } from '../failure.ts'
import { type EndpointHeaders, readEndpointHeaders } from '../given-files.ts'
import { addList, addOperation, type Fields, type Given } from '../operation-command.ts'
import { gather, HEADERS, ORG } from '../options.ts'
import * as places from '../places.ts'
import { sanitize } from '../print.ts'
import type { Results } from '../results.ts'

/** `postrider route …`. */
export function addRoutes(program: Command): void {
  const parent = program.command('route').description('manage the routes of inbound mail')
  addList(parent, 'list', 'inbound_routes_list', {
    about: 'list inbound routes, newest first',
    place: places.organization,
    placed: [ORG],
    columns: { id: 'id', status: stateOf, priority: 'priority', 'mail to': matchOf, action: actionOf, name: 'name' },
    none: 'no routes yet',
  })
  addOperation(parent, 'show <id>', 'inbound_routes_get', {
    about: 'show an inbound route',
    place: places.route,
    placed: [ORG],
    text: routeText,
  })
  addOperation(parent, 'create', 'inbound_routes_create', {
    about: 'create an inbound route',
    place: places.organization,
    placed: [ORG],
    body: { name: new Option('--name <name>', 'name in lists').makeOptionMandatory(), ...FIELDS },
    others: [...OTHERS, new Option('--disable', 'create it disabled')],
    given: ({ options }: Given<RouteOptions>) => {
      const body = bodyOf(options)
      if (body.match === undefined)
        throw usageFault('match: missing. Set it with --address, --pattern, --domain or --catch-all')
      if (body.action === undefined) throw usageFault('action: missing. Set it with --webhook, --forward-to or --store')
      return { body }
    },
    text: (route) => `${routeText(route)}\n\n${route.secret}\n\n${SECRET}`,
  })
  addOperation(parent, 'update <id>', 'inbound_routes_update', {
    about: 'change an inbound route',
    place: places.route,
    placed: [ORG],
    body: { name: new Option('--name <name>', 'name in lists'), ...FIELDS },
    others: [
      ...OTHERS,
      new Option('--enable', 'route mail with it again').conflicts('disable'),
      new Option('--disable', 'route no mail with it'),
      new Option('--no-headers', 'with --webhook: remove its headers'),
    ],
    given: ({ options }: Given<RouteOptions>) => ({ body: bodyOf(options) }),
    text: routeText,
  })
  addOperation(parent, 'test <id> <address>', 'inbound_routes_test', {
    about: 'show which route would take a mail to this address, and why; nothing is sent',
    place: places.route,
    placed: [ORG],
    given: ({ operands: [, to] }) => ({ body: { to } }),
    text: testText,
  })
  addOperation(parent, 'delete <id>', 'inbound_routes_delete', {
    about: 'delete an inbound route; received messages remain',
    place: places.route,
    placed: [ORG],
    text: (_, { operands: [id] }) => `deleted ${id}`,
  })
}

const SECRET = 'Store this secret now: it is shown only once. It signs the webhook requests of this route.'

const FIELDS: Fields = {
  authentication: new Option('--authentication <rule>', 'DMARC results to reject mail for').choices(
    ROUTE_AUTHENTICATIONS,
  ),
  priority: new Option(
    '--priority <number>',
    'the highest of several matching routes wins, from -1000 to 1000',
  ).argParser(priority),
}

/** One of the first four sets the match, one of `webhook`, `forwardTo` and `store` the action. */
const OTHERS: readonly Option[] = [
  new Option('--address <address>', 'mail to this address'),
  new Option('--pattern <pattern>', 'mail to addresses such as support-*@example.com'),
  new Option('--domain <name>', 'mail to all addresses of this domain'),
  new Option('--catch-all', 'mail that no other route matches'),
  new Option('--webhook <url>', 'post the mail to this URL'),
  new Option('--include-attachments', 'with --webhook: post the content of attachments too'),
  new Option('--no-replies', 'with --webhook: leave out the fields about replies'),
  ...HEADERS,
  new Option('--forward-to <address>', 'forward the mail to this address; repeatable').argParser(gather),
  new Option('--store', 'only store the mail'),
]

interface RouteOptions extends EndpointHeaders {
  address?: string
  pattern?: string
  domain?: string
  catchAll?: true
  webhook?: string
  forwardTo?: string[]
  store?: true
  includeAttachments?: true
  replies: boolean
  disable?: true
  enable?: true
}

function priority(text: string): number {
  const value = /^-?\d{1,4}$/.test(text) ? Number(text) : Number.NaN
  if (Math.abs(value) <= 1000) return value
  throw new InvalidArgumentError('Expected a priority from -1000 to 1000.')
}

/** Options → the request fields that they set. Throws CommandFailure (exit code 2) for two matches or actions. */
function bodyOf(options: RouteOptions) {
  const { address, pattern, domain, catchAll, webhook, forwardTo, store, includeAttachments, replies } = options
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
      config: { url: webhook, include_attachments: includeAttachments === true, replies, headers },
    },
    forwardTo !== undefined && { type: 'forward', config: { to: forwardTo } },
    store === true && { type: 'store' },
  ]
  if (includeAttachments && webhook === undefined) throw usageFault('include-attachments: needs --webhook')
  if (!replies && webhook === undefined) throw usageFault('no-replies: needs --webhook')
  if (headers !== undefined && webhook === undefined) throw usageFault('headers: need --webhook')
  return {
    match: onlyOne('match', matches),
    action: onlyOne('action', actions),
    enabled: options.disable ? false : options.enable,
  }
}

function onlyOne(what: string, candidates: readonly (object | false)[]): object | undefined {
  const [first, second] = candidates.filter((each) => each !== false)
  if (second !== undefined) throw usageFault(`${what}: only one can be set`)
  return first
}

function testText({ taken_by: taker, reason, considered }: Results['inbound_routes_test']): string {
  const what = taker === null ? 'no route' : `${taker.id} ${taker.name}`
  const rows = recordTable(considered, {
    id: 'id',
    matches: ({ matches }) => (matches ? 'yes' : 'no'),
    name: 'name',
    reason: 'reason',
  })
  return `${sanitize(what)}: ${sanitize(reason)}\n\n${rows}`.trimEnd()
}

function routeText(route: InboundRoute): string {
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
        ...(action.config.replies ? [] : ['(without replies)']),
        ...(action.config.header_names.length === 0 ? [] : [`(headers ${action.config.header_names.join(', ')})`]),
      ].join(' ')
    case 'forward':
      return `forward to ${action.config.to.map(({ email, status, is_stopped: isStopped }) => `${email} (${isStopped ? 'stopped' : status})`).join(', ')}`
    case 'store':
      return 'store'
  }
}
