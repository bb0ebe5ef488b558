import type { Lookup, MxRecord, Resolver } from '../../../net/dns/resolver.ts'
import type { Clock } from '../../../os/clock.ts'
import { setNewest } from '../../../os/set-newest.ts'
import type { Blocker } from '../../../storage/store.ts'
import { isAddressLiteral } from '../mx.ts'
import { destinationFor } from './destination.ts'
import type { OwnerShares } from './owner-shares.ts'

/** Route of a domain's mail: the destination whose limits apply, and the MX lookup (null: no lookup was needed). */
export interface DestinationRoute {
  destination: string
  mx: Lookup<MxRecord> | null
}

/** Concurrent lookups. A backlog gets half of them, so that fresh mail need not wait for overdue domains whose DNS
 *  does not answer. */
const LOOKUPS = 64
const LOOKUPS_OF_BACKLOG = LOOKUPS / 2
/** Bounds of how long a lookup is cached: a backlog must not repeat it within a minute, and a moved domain must be
 *  found within an hour. */
const SHORTEST_MS = 60_000
const LONGEST_MS = 3_600_000
const NOTHING_THERE_MS = 60_000
const TROUBLE_MS = 5_000
/** Uses of an expired result: the caller that requested it gets it even if it comes back late, once for the due time and
 *  once for the claim. */
const LATE_USES = 2
/** Maximum of cached domains; the oldest lookup is dropped first. */
const REMEMBERED = 100_000

/** Domain → its route. Each domain is looked up once and cached, so that the destination is known before anything is
 *  claimed. In memory only: after a restart, domains are looked up again. */
export class DestinationRoutes {
  readonly #resolver: Pick<Resolver, 'mx'>
  readonly #shares: OwnerShares
  readonly #clock: Pick<Clock, 'now'>
  readonly #onFound: () => void
  readonly #routes = new Map<string, { route: DestinationRoute; until: number; lateUses: number }>()
  readonly #inProgress = new Set<string>()
  #freed: string[] = []

  /** `clock`: the steady one. `onFound` is called when a lookup has ended: `freed` has new names then. */
  constructor(options: {
    resolver: Pick<Resolver, 'mx'>
    shares: OwnerShares
    clock: Pick<Clock, 'now'>
    onFound: () => void
  }) {
    this.#resolver = options.resolver
    this.#shares = options.shares
    this.#clock = options.clock
    this.#onFound = options.onFound
  }

  /** The route that is valid at `now` (steady clock, ms); null = unknown: call `lookUp`. */
  routeFor(domain: string, now: number): DestinationRoute | null {
    const known = this.#routes.get(domain)
    return known !== undefined && (known.until > now || known.lateUses-- > 0) ? known.route : routeOfLiteral(domain)
  }

  /** The last known route, however old. */
  lastRouteFor(domain: string): DestinationRoute | null {
    return this.#routes.get(domain)?.route ?? routeOfLiteral(domain)
  }

  /** Starts a lookup, or waits for a free one; returns what the domain waits for. `owner`: the organization that
   *  needs it. */
  lookUp(domain: string, owner: string, isFresh: boolean): { blocker: Blocker; isNew: boolean } {
    const isNew = !this.#inProgress.has(domain)
    const share = this.#shares.left(LOOKUP, owner, LOOKUPS)
    if (isNew && this.#inProgress.size >= (isFresh ? LOOKUPS : LOOKUPS_OF_BACKLOG)) {
      return { blocker: { name: isFresh ? FREE_LOOKUP : FREE_LOOKUP_OF_BACKLOG, until: null }, isNew: false }
    }
    if (isNew && share <= 0) return { blocker: this.#shares.blockerOf(LOOKUP, owner), isNew: false }
    if (isNew) void this.#find(domain, owner)
    return { blocker: { name: nameOf(domain), until: null }, isNew }
  }

  /** Blockers that have ended since the last call. */
  freed(): string[] {
    if (this.#freed.length === 0) return []
    const names = this.#freed
    this.#freed = []
    return names
  }

  async #find(domain: string, owner: string): Promise<void> {
    this.#inProgress.add(domain)
    this.#shares.add(LOOKUP, owner, 1)
    const mx = await this.#resolver.mx(domain)
    const route = { destination: destinationFor(domain, mx), mx }
    this.#inProgress.delete(domain)
    this.#shares.remove(LOOKUP, owner, 1)
    const found = { route, until: this.#clock.now() + lifeOf(mx), lateUses: LATE_USES }
    setNewest(this.#routes, domain, found, REMEMBERED)
    this.#freed.push(nameOf(domain), FREE_LOOKUP, FREE_LOOKUP_OF_BACKLOG)
    this.#onFound()
  }
}

/** The pool of OwnerShares. */
const LOOKUP = 'lookup'
const FREE_LOOKUP = 'lookups'
const FREE_LOOKUP_OF_BACKLOG = 'lookups of the backlog'
const nameOf = (domain: string) => `mx ${domain}`

function routeOfLiteral(domain: string): DestinationRoute | null {
  return isAddressLiteral(domain) ? { destination: domain.toLowerCase(), mx: null } : null
}

function lifeOf(mx: Lookup<MxRecord>): number {
  if (mx.kind === 'records') return Math.min(Math.max(mx.ttlSeconds * 1000, SHORTEST_MS), LONGEST_MS)
  return mx.kind === 'temporary' ? TROUBLE_MS : NOTHING_THERE_MS
}
