import { type EndpointHeaders, headerNamesOf } from './endpoint-headers.ts'

/** A rule that decides by recipient what happens to inbound mail. */
export interface InboundRoute {
  id: string
  organizationId: string
  name: string
  match: RouteMatch
  action: RouteAction
  /** Required authentication: none, only what the author's own DMARC policy demands, or a DMARC pass. */
  authentication: RouteAuthentication
  enabled: boolean
  /** Higher values match first. */
  priority: number
  createdAt: number
}

export type RouteMatch =
  /** `a@d`, local part folded. */
  | { type: 'address'; value: string }
  /** `local-pattern@d`; `*` stands for any run of characters, `?` for one. */
  | { type: 'pattern'; value: string }
  | { type: 'domain'; value: string }
  /** Matches every address of the domain; null = of every domain of the organization. */
  | { type: 'catch_all'; value: string | null }

export type RouteAction =
  /** `replies: false`: posts have no fields about replies. */
  | { type: 'webhook'; config: { url: string; includeAttachments: boolean; replies?: boolean; headerNames: string[] } }
  | { type: 'forward'; config: { to: string[] } }
  | { type: 'store'; config: Record<string, never> }

/** An action as a request gives it. Without `headers`, those of the same origin stay. */
export type GivenAction =
  | Exclude<RouteAction, { type: 'webhook' }>
  | {
      type: 'webhook'
      config: { url: string; includeAttachments: boolean; replies?: boolean; headers?: EndpointHeaders }
    }

/** `none`: all mail is accepted, and results are only reported. `dmarc`: a DMARC failure under `p=reject` is
 *  rejected at DATA. `require_pass`: everything without a DMARC pass is rejected. */
export const ROUTE_AUTHENTICATIONS = ['none', 'dmarc', 'require_pass'] as const
export type RouteAuthentication = (typeof ROUTE_AUTHENTICATIONS)[number]

/** A recipient for route matching: local part as given (quotes included), domain as lower-case A-label. */
export interface RoutedAddress {
  local: string
  domain: string
}

/** The route that matches an address, and what matched. */
export interface RouteChoice {
  route: InboundRoute
  by: RouteMatch['type']
  /** The route matches `a@d`, and the recipient was `a+tag@d`. */
  viaBareAddress: boolean
}

/** Explanation of the decision of one route for one address. */
export interface WeighedRoute {
  route: InboundRoute
  /** True if the route is enabled and matches the address, even if another route comes first. */
  matches: boolean
  /** True if this route receives the mail. */
  takes: boolean
  by: RouteMatch['type']
  viaBareAddress: boolean
  /** Reason for people, without a full stop. */
  why: string
}

/** The action of a new route. */
export function actionOf(given: GivenAction): RouteAction {
  if (given.type !== 'webhook') return given
  const { url, includeAttachments, replies, headers = [] } = given.config
  const config = { url, includeAttachments, ...(replies === false && { replies }), headerNames: headerNamesOf(headers) }
  return { type: given.type, config }
}

/** The organization's routes and an address → the route that receives its mail, or null. Order: highest priority;
 *  then address, pattern, domain, catch-all; then the exact address before its form without the tag; then the older
 *  route. Disabled routes never match. Never throws. */
export function chooseRoute(routes: readonly InboundRoute[], address: RoutedAddress): RouteChoice | null {
  const forms = formsOf(address)
  let best: RouteChoice | null = null
  for (const route of routes) {
    const hit = route.enabled ? fits(route.match, forms) : null
    if (hit === null) continue
    const choice = { route, by: route.match.type, viaBareAddress: hit === 'bare' }
    if (best === null || precedence(choice, best) < 0) best = choice
  }
  return best
}

/** RFC 5321 §4.5.1 requires every domain with mail to have a postmaster; RFC 2142 §2 and §5 ask for abuse too. */
const RESERVED = new Set(['postmaster', 'abuse'])

/** True for mail to postmaster or abuse of a domain that receives mail, which is accepted without a matching route.
 *  One enabled route is enough for a domain to receive mail. */
export function isReservedMailbox(routes: readonly InboundRoute[], { local, domain }: RoutedAddress): boolean {
  return RESERVED.has(foldLocalPart(local)) && routes.some(({ enabled, match }) => enabled && isFor(match, domain))
}

/** The same decision, explained for every route: matching routes in the order in which they would receive the mail,
 *  then the others by priority. The result of chooseRoute comes first and is the only one with `takes`. Empty
 *  without routes. */
export function weighRoutes(routes: readonly InboundRoute[], address: RoutedAddress): WeighedRoute[] {
  const forms = formsOf(address)
  const weighed = routes.map((route) => {
    const hit = fits(route.match, forms)
    return { route, by: route.match.type, viaBareAddress: hit === 'bare', hit, matches: route.enabled && hit !== null }
  })
  weighed.sort((a, b) => Number(b.matches) - Number(a.matches) || precedence(a, b))
  return weighed.map(({ hit, ...each }, place) => {
    const takes = place === 0 && each.matches
    const why = !each.matches
      ? whyNot(each.route, hit !== null, forms)
      : takes
        ? `accepts the mail: ${hitInWords(each)}`
        : `matches (${hitInWords(each)}), but ${whyBehind(each, weighed[0]!)}`
    return { ...each, takes, why }
  })
}

/** Local part → the form used for comparison: without redundant quotes, lower-case, NFC. Only the receiver
 *  interprets a local part (RFC 5321 §2.4), and this receiver ignores letter case. */
export function foldLocalPart(local: string): string {
  const plain = local.startsWith('"') && local.endsWith('"') && local.length > 1 ? unquoted(local) : local
  return plain.normalize('NFC').toLowerCase()
}

const RANK: Record<RouteMatch['type'], number> = { address: 0, pattern: 1, domain: 2, catch_all: 3 }
const IN_WORDS: Record<RouteMatch['type'], string> = {
  address: 'an address',
  pattern: 'a pattern',
  domain: 'a domain',
  catch_all: 'a catch-all',
}

interface Forms {
  domain: string
  exact: string
  /** The text before the first `+`; null without a `+` or with nothing before it. */
  bare: string | null
}

function formsOf(address: RoutedAddress): Forms {
  const exact = foldLocalPart(address.local)
  const plus = exact.indexOf('+')
  return { domain: address.domain, exact, bare: plus > 0 ? exact.slice(0, plus) : null }
}

/** True if the route can match mail of that domain. */
function isFor({ value }: RouteMatch, domain: string): boolean {
  return value === null || value.slice(value.lastIndexOf('@') + 1).toLowerCase() === domain
}

function fits(match: RouteMatch, { domain, exact, bare }: Forms): 'exact' | 'bare' | null {
  if (!isFor(match, domain)) return null
  if (match.type === 'catch_all' || match.type === 'domain') return 'exact'
  const wanted = foldLocalPart(match.value.slice(0, match.value.lastIndexOf('@')))
  const matchesLocal = (local: string) => (match.type === 'address' ? wanted === local : matchesPattern(wanted, local))
  return matchesLocal(exact) ? 'exact' : bare !== null && matchesLocal(bare) ? 'bare' : null
}

/** `*` matches any run, `?` one character. Only the last star is reconsidered, so the work is at most the product of
 *  both lengths. A regular expression made from the pattern could take exponential time. */
function matchesPattern(pattern: string, text: string): boolean {
  const wanted = [...pattern]
  const given = [...text]
  let at = 0
  let star = -1
  let resume = 0
  for (let i = 0; i < given.length; ) {
    if (wanted[at] === '*') {
      star = at++
      resume = i
    } else if (at < wanted.length && (wanted[at] === '?' || wanted[at] === given[i])) {
      at++
      i++
    } else if (star >= 0) {
      at = star + 1
      i = ++resume
    } else return false
  }
  while (wanted[at] === '*') at++
  return at === wanted.length
}

/** Negative when `a` comes before `b`. */
function precedence(a: RouteChoice, b: RouteChoice): number {
  return (
    b.route.priority - a.route.priority ||
    RANK[a.by] - RANK[b.by] ||
    Number(a.viaBareAddress) - Number(b.viaBareAddress) ||
    a.route.createdAt - b.route.createdAt ||
    (a.route.id < b.route.id ? -1 : 1)
  )
}

function hitInWords({ route, by, viaBareAddress }: RouteChoice): string {
  const { value } = route.match
  const form = viaBareAddress ? 'the address without its +tag' : 'the address'
  switch (by) {
    case 'address':
      return `${form} is ${value}`
    case 'pattern':
      return `${form} matches ${value}`
    case 'domain':
      return `the domain is ${value}`
    case 'catch_all':
      return `it matches every address at ${value ?? 'any domain'}`
  }
}

function whyBehind(behind: RouteChoice, first: RouteChoice): string {
  const { name, priority } = first.route
  const comes = `${JSON.stringify(name)} takes precedence:`
  if (priority !== behind.route.priority) return `${comes} its priority is ${priority}, not ${behind.route.priority}`
  if (first.by !== behind.by) return `${comes} ${IN_WORDS[first.by]} takes precedence over ${IN_WORDS[behind.by]}`
  if (first.viaBareAddress !== behind.viaBareAddress) return `${comes} it matches the full address with its +tag`
  return `${comes} it is older`
}

function whyNot(route: InboundRoute, isKnown: boolean, { domain }: Forms): string {
  if (isKnown) return 'would match but is disabled'
  const { type, value } = route.match
  const wanted = (value ?? '').slice((value ?? '').lastIndexOf('@') + 1).toLowerCase()
  if (wanted !== domain) return `does not match: it is for ${wanted}`
  return type === 'pattern' ? `does not match the pattern ${value}` : `does not match: the address is not ${value}`
}

function unquoted(local: string): string {
  return local.slice(1, -1).replace(/\\(.)/gs, '$1')
}

/** A route, and the secret that signs its posts. */
export interface SigningRoute {
  id: string
  route: InboundRoute
  secret: string
}
