import type { Lookup, MxRecord, Resolver } from '../../net/dns/resolver.ts'
import { deleteOldest } from '../../os/delete-oldest.ts'
import type { Blocker } from '../../storage/store.ts'
import { isAddressLiteral } from '../mx.ts'
import { destinationFor, destinationOfHost } from './destination.ts'
import type { OwnerShares } from './owner-shares.ts'

/** Where a domain's mail goes: the destination whose limits count, and what DNS said of its MX (null: nothing was to be asked). */
export interface DestinationRoute {
  destination: string
  mx: Lookup<MxRecord> | null
}

/** Domain → its route, asked of DNS once and remembered, so that the destination is known before anything is claimed. Memory
 *  only: after a restart all is asked again. */
export interface DestinationRoutes {
  /** Null = not known at `now` (steady clock, ms): ask. */
  routeFor(domain: string, now: number): DestinationRoute | null
  /** As it was known last, were it long ago. */
  lastRouteFor(domain: string): DestinationRoute | null
  /** Asks, or waits until there is room to ask; answers what the domain has to wait for. `owner`: who wants to know. */
  ask(domain: string, owner: string, isFresh: boolean): { blocker: Blocker; isNew: boolean }
}

/** Questions in progress; what has been due for long gets half of them, so that a fresh mail need not wait behind a
 *  backlog of domains whose DNS is silent. */
const QUESTIONS = 64
const QUESTIONS_OF_BACKLOG = QUESTIONS / 2
/** Bounds of an answer's life: a backlog must not ask twice in a minute, and a moved domain be found within the hour. */
const SHORTEST_MS = 60_000
const LONGEST_MS = 3_600_000
const NOTHING_THERE_MS = 60_000
const TROUBLE_MS = 5_000
/** Whoever asked gets the answer, however late it looks: whether something is due, and the claim. */
const LOOKS = 2
/** Domains remembered; what was asked longest ago is forgotten first. */
const REMEMBERED = 100_000

export function createDestinationRoutes(options: {
  resolver: Pick<Resolver, 'mx'>
  shares: OwnerShares
  /** All mail goes to this host, if there is one. */
  smarthost: string | null
  /** Steady clock, ms. */
  now: () => number
  /** What waited behind these may go on. */
  onKnown: (blockers: string[]) => void
}): DestinationRoutes {
  const { resolver, shares, smarthost, now: clockNow, onKnown } = options
  const all: DestinationRoute | null =
    smarthost === null ? null : { destination: destinationOfHost(smarthost), mx: null }
  const routes = new Map<string, { route: DestinationRoute; until: number; looks: number }>()
  const asking = new Set<string>()

  const asked = async (domain: string, owner: string) => {
    asking.add(domain)
    shares.took(QUESTION, owner, 1)
    const mx = await resolver.mx(domain)
    asking.delete(domain)
    shares.gaveBack(QUESTION, owner, 1)
    routes.delete(domain)
    routes.set(domain, {
      route: { destination: destinationFor(domain, mx), mx },
      until: clockNow() + lifeOf(mx),
      looks: LOOKS,
    })
    if (routes.size > REMEMBERED) deleteOldest(routes)
    onKnown([nameOf(domain), QUESTION_SLOTS, BACKLOG_QUESTION_SLOTS])
  }
  const withoutQuestion = (domain: string): DestinationRoute | null =>
    all ?? (isAddressLiteral(domain) ? { destination: domain.toLowerCase(), mx: null } : null)

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
