import { destinationOf, type Outcome, ownerOf, SANDBOX } from '../../model/delivery.ts'
import type { Obstacle, Room } from '../../storage/store.ts'
import { createPace } from './cold-start-pacing.ts'
import { createAllowance } from './concurrency.ts'
import type { SiteTerms } from './destination-limits.ts'
import type { SiteState } from './destination-state.ts'
import type { Sites, Way } from './destinations.ts'
import type { OwnerShares } from './owner-shares.ts'

/** Who may go now: queue → domain → site → what the site is allowed, in the words of the store's claims. What a claim took
 *  counts at once, so that the domains of one site cannot pass its limit together. */
export interface Admission extends Required<Room> {
  /** After a claim that succeeded: to be asked once for each delivery, in its order, what its queue was granted; GIVEN_UP for
   *  one that found no room until its age was over. */
  admitted(): (queue: string) => Grant
  /** Connections at once to the site, in the whole house, and mails over each. */
  connectionsOf(way: Way): Connections
  /** `reached`: somebody answered for the domain. */
  ended(grant: Grant, ending: { outcome: Outcome; reached: boolean; startedAt: number }): void
  /** It was never tried after all. */
  returned(grant: Grant): void
  /** Obstacles that may be gone since the last call. */
  freed(): string[]
  /** The clock was set by so many ms: pauses and ages go on as they were. */
  leapt(byMs: number): void
  stateOf(site: string): SiteState
  sites(): SiteState[]
}

export interface Connections {
  connections: number
  maxMails: number
}

/** Where a delivery goes, and whose place among which it takes. */
export interface Grant {
  way: Way
  owner: string
  pool: string
}

export const GIVEN_UP: Grant = { way: { site: '[given up]', mx: null }, owner: '', pool: 'none' }

/** Due since the start and overdue by less than this is fresh: no backlog makes it wait. */
const FRESH_MS = 5_000

/** `overdueMs`: what has waited so long is to be given up and needs no room; counted from now on at the earliest, for
 *  what waited while nobody served is tried first. */
export function createAdmission(options: {
  sites: Sites
  shares: OwnerShares
  now: () => number
  maxInFlight: number
  termsOf: (site: string) => SiteTerms
  longestPauseMs: (strikes: number) => number
  overdueMs: number
}): Admission {
  const { sites, shares, now, maxInFlight, overdueMs } = options
  let openedAt = now()
  const allowance = createAllowance(options)
  const pace = createPace()
  let taken = new Map<string, { grant: Grant; count: number; givenUp: number }>()
  let isGivenUp = false

  const question = (domain: string, owner: string, isFresh: boolean, at: number): Obstacle => {
    const { starts, nextAt } = pace.left(at)
    if (!isFresh && starts <= 0) return { name: PACE, until: nextAt }
    const { obstacle, isNew } = sites.ask(domain, owner, isFresh)
    if (isNew) pace.started(1, at)
    return obstacle
  }

  const grantFor = (queue: string): Grant => {
    const domain = destinationOf(queue)
    if (domain === SANDBOX) return TEST
    const way = sites.lastWayOf(domain) ?? { site: domain, mx: null }
    return { way, owner: ownerOf(queue), pool: allowance.poolOf(way.site).name }
  }
  const undone = ({ way, owner, pool }: Grant, count: number) => {
    shares.gaveBack(pool, owner, count)
    allowance.undone(way.site, count)
  }

  return {
    freeFor: (queue, dueAt) => {
      const domain = destinationOf(queue)
      const owner = ownerOf(queue)
      if (domain === SANDBOX) return maxInFlight
      const at = now()
      isGivenUp = at - Math.max(dueAt, openedAt) > overdueMs
      if (isGivenUp) return 1
      const isFresh = dueAt >= openedAt && at - dueAt < FRESH_MS
      const way = sites.wayOf(domain, at)
      if (way === null) return question(domain, owner, isFresh, at)
      const pool = allowance.poolOf(way.site)
      const share = shares.roomFor(pool.name, owner, pool.total)
      const ofSite = allowance.roomFor(way.site, isFresh, at)
      if (typeof ofSite !== 'number') return ofSite
      if (share <= 0) return shares.obstacleOf(pool.name, owner)
      const room = Math.min(ofSite, share)
      if (!allowance.isPaced(way.site, isFresh)) return room
      const { starts, nextAt } = pace.left(at)
      return starts > 0 ? Math.min(room, starts) : { name: PACE, until: nextAt }
    },
    begin: () => {
      for (const { grant, count } of taken.values()) if (grant !== TEST) undone(grant, count)
      taken = new Map()
    },
    // What freeFor was asked about last is what is taken.
    took: (queue, count) => {
      const grant = grantFor(queue)
      const sums = { count: 0, givenUp: 0, ...taken.get(queue), grant }
      taken.set(queue, sums)
      if (grant === TEST) return
      if (isGivenUp) {
        sums.givenUp += count
        return
      }
      sums.count += count
      const at = now()
      const { site } = grant.way
      shares.took(grant.pool, grant.owner, count)
      if (allowance.isPaced(site, false)) pace.started(count, at)
      allowance.started(site, count, at)
    },
    admitted: () => {
      const granted = taken
      taken = new Map()
      return (queue) => {
        const sums = granted.get(queue)!
        return sums.givenUp-- > 0 ? GIVEN_UP : sums.grant
      }
    },
    connectionsOf: ({ site }) => allowance.connectionsOf(site, now()),
    ended: (grant, ending) => {
      if (grant === TEST || grant === GIVEN_UP) return
      const at = now()
      if (ending.outcome.kind === 'delivered') pace.good(at)
      shares.gaveBack(grant.pool, grant.owner, 1)
      allowance.ended(grant.way.site, ending, at)
    },
    returned: (grant) => {
      if (grant !== TEST && grant !== GIVEN_UP) undone(grant, 1)
    },
    freed: () => [...allowance.freed(), ...shares.freed()],
    leapt: (byMs) => {
      openedAt += byMs
      allowance.leapt(byMs)
      sites.leapt(byMs)
    },
    stateOf: (site) => allowance.stateOf(site, now()),
    sites: () => allowance.sites(now()),
  }
}

const PACE = 'pace'
const TEST: Grant = { way: { site: SANDBOX, mx: null }, owner: '', pool: 'none' }
