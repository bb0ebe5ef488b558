import type { Lookup, MxRecord, Resolver } from '../../net/dns/resolver.ts'
import { setNewest } from '../../os/set-newest.ts'
import type { Blocker } from '../../storage/store.ts'
import { isAddressLiteral } from '../mx.ts'
import { destinationFor } from './destination.ts'
import type { OwnerShares } from './owner-shares.ts'

/** Route of a domain's mail: the destination whose limits apply, and the MX lookup (null: no lookup was needed). */
export interface DestinationRoute {
  destination: string
  mx: Lookup<MxRecord> | null
}

/** Domain → its route. Each domain is looked up once and cached, so that the destination is known before anything is
 *  claimed. In memory only: after a restart, domains are looked up again. */
export interface DestinationRoutes {
  /** The route that is valid at `now` (steady clock, ms); null = unknown: call `ask`. */
  routeFor(domain: string, now: number): DestinationRoute | null
  /** The last known route, however old. */
  lastRouteFor(domain: string): DestinationRoute | null
  /** Starts a lookup, or waits for a free one; returns what the domain waits for. `owner`: the organization that
   *  needs it. */
  ask(domain: string, owner: string, isFresh: boolean): { blocker: Blocker; isNew: boolean }
}

/** Concurrent lookups. A backlog gets half of them, so that fresh mail need not wait for overdue domains whose DNS
 *  does not answer. */
const QUESTIONS = 64
const QUESTIONS_OF_BACKLOG = QUESTIONS / 2
/** Bounds of how long a lookup is cached: a backlog must not repeat it within a minute, and a moved domain must be
 *  found within an hour. */
const SHORTEST_MS = 60_000
const LONGEST_MS = 3_600_000
const NOTHING_THERE_MS = 60_000
const TROUBLE_MS = 5_000
/** Uses of an expired result: the caller that requested it gets it even if it looks late, once for the due time and
 *  once for the claim. */
const LOOKS = 2
/** Maximum of cached domains; the oldest lookup is dropped first. */
const REMEMBERED = 100_000

export function createDestinationRoutes(options: {
  resolver: Pick<Resolver, 'mx'>
  shares: OwnerShares
  /** Steady clock, ms. */
  now: () => number
  /** Notes that a domain's mail shares the limits of a destination (Deliveries.shareLimits). */
  shareLimits: (domain: string, destination: string) => Promise<void>
  /** Called with the blockers that ended with a lookup. */
  onKnown: (blockers: string[]) => void
}): DestinationRoutes {
  const { resolver, shares, now: clockNow, shareLimits, onKnown } = options
  const routes = new Map<string, { route: DestinationRoute; until: number; looks: number }>()
  const asking = new Set<string>()

  const asked = async (domain: string, owner: string) => {
    asking.add(domain)
    shares.took(QUESTION, owner, 1)
    const mx = await resolver.mx(domain)
    const route = { destination: destinationFor(domain, mx), mx }
    const isShared = mx.kind === 'temporary' || (await isNoted(domain, route.destination))
    asking.delete(domain)
    shares.gaveBack(QUESTION, owner, 1)
    if (isShared) setNewest(routes, domain, { route, until: clockNow() + lifeOf(mx), looks: LOOKS }, REMEMBERED)
    onKnown([nameOf(domain), QUESTION_SLOTS, BACKLOG_QUESTION_SLOTS])
  }
  /** False if the store is not available: asked again. */
  const isNoted = (domain: string, destination: string) =>
    shareLimits(domain, destination).then(
      () => true,
      () => false,
    )
  const withoutQuestion = (domain: string): DestinationRoute | null =>
    isAddressLiteral(domain) ? { destination: domain.toLowerCase(), mx: null } : null

  return {
    routeFor: (domain, now) => {
      const known = routes.get(domain)
      return known !== undefined && (known.until > now || known.looks-- > 0) ? known.route : withoutQuestion(domain)
    },
    lastRouteFor: (domain) => routes.get(domain)?.route ?? withoutQuestion(domain),
    ask: (domain, owner, isFresh) => {
      const isNew = !asking.has(domain)
      const share = shares.placesFor(QUESTION, owner, QUESTIONS)
      if (isNew && asking.size >= (isFresh ? QUESTIONS : QUESTIONS_OF_BACKLOG)) {
        return { blocker: { name: isFresh ? QUESTION_SLOTS : BACKLOG_QUESTION_SLOTS, until: null }, isNew: false }
      }
      if (isNew && share <= 0) return { blocker: shares.blockerOf(QUESTION, owner), isNew: false }
      if (isNew) void asked(domain, owner)
      return { blocker: { name: nameOf(domain), until: null }, isNew }
    },
  }
}

const QUESTION = 'question'
const QUESTION_SLOTS = 'questions'
const BACKLOG_QUESTION_SLOTS = 'questions of the backlog'
const nameOf = (domain: string) => `mx ${domain}`

function lifeOf(mx: Lookup<MxRecord>): number {
  if (mx.kind === 'records') return Math.min(Math.max(mx.ttlSeconds * 1000, SHORTEST_MS), LONGEST_MS)
  return mx.kind === 'temporary' ? TROUBLE_MS : NOTHING_THERE_MS
}
