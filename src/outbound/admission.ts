import { type Outcome, SANDBOX } from '../model/delivery.ts'
import type { Obstacle, Room } from '../storage/store.ts'
import { createAllowance } from './allowance.ts'
import { createPace } from './pace.ts'
import type { SiteState } from './site-state.ts'
import type { SiteTerms } from './site-terms.ts'
import type { Sites, Way } from './sites.ts'

/** Who may go now: domain → site → what the site is allowed, in the words of the store's claims. What a claim took
 *  counts at once, so that the domains of one site cannot pass its limit together. */
export interface Admission extends Required<Room> {
  /** After a claim that succeeded: to be asked once for each delivery, in its order, where it goes; GIVEN_UP for one
   *  that found no room until its age was over. */
  admitted(): (domain: string) => Way
  /** Connections at once to the site, in the whole house, and mails over each. */
  connectionsOf(way: Way): Connections
  /** `reached`: somebody answered for the domain. */
  ended(way: Way, ending: { outcome: Outcome; reached: boolean; startedAt: number }): void
  /** It was never tried after all. */
  returned(way: Way): void
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

export const GIVEN_UP: Way = { site: '[given up]', mx: null }

/** Due since the start and overdue by less than this is fresh: no backlog makes it wait. */
const FRESH_MS = 5_000

/** `overdueMs`: what has waited so long is to be given up and needs no room; counted from now on at the earliest, for
 *  what waited while nobody served is tried first. */
export function createAdmission(options: {
  sites: Sites
  now: () => number
  maxInFlight: number
  termsOf: (site: string) => SiteTerms
  longestPauseMs: (strikes: number) => number
  overdueMs: number
}): Admission {
  const { sites, now, maxInFlight, overdueMs } = options
  let openedAt = now()
  const allowance = createAllowance(options)
  const pace = createPace()
  let taken = new Map<string, { way: Way; count: number; givenUp: number }>()
  let isGivenUp = false

  const question = (domain: string, isFresh: boolean, at: number): Obstacle => {
    const { starts, nextAt } = pace.left(at)
    if (!isFresh && starts <= 0) return { name: PACE, until: nextAt }
    const { obstacle, isNew } = sites.ask(domain, isFresh)
    if (isNew) pace.started(1, at)
    return obstacle
  }

  return {
    freeFor: (domain, dueAt) => {
      if (domain === SANDBOX) return maxInFlight
      const at = now()
      isGivenUp = at - Math.max(dueAt, openedAt) > overdueMs
      if (isGivenUp) return 1
      const isFresh = dueAt >= openedAt && at - dueAt < FRESH_MS
      const way = sites.wayOf(domain, at)
      if (way === null) return question(domain, isFresh, at)
      const room = allowance.roomFor(way.site, isFresh, at)
      if (typeof room !== 'number' || !allowance.isPaced(way.site, isFresh)) return room
      const { starts, nextAt } = pace.left(at)
      return starts > 0 ? Math.min(room, starts) : { name: PACE, until: nextAt }
    },
    begin: () => {
      for (const { way, count } of taken.values()) if (way !== TEST_WAY) allowance.undone(way.site, count)
      taken = new Map()
    },
    // What freeFor was asked about last is what is taken.
    took: (domain, count) => {
      const way = domain === SANDBOX ? TEST_WAY : (sites.lastWayOf(domain) ?? { site: domain, mx: null })
      const sums = { count: 0, givenUp: 0, ...taken.get(domain), way }
      taken.set(domain, sums)
      if (way === TEST_WAY) return
      if (isGivenUp) {
        sums.givenUp += count
        return
      }
      sums.count += count
      const at = now()
      if (allowance.isPaced(way.site, false)) pace.started(count, at)
      allowance.started(way.site, count, at)
    },
    admitted: () => {
      const granted = taken
      taken = new Map()
      return (domain) => {
        const sums = granted.get(domain)!
        return sums.givenUp-- > 0 ? GIVEN_UP : sums.way
      }
    },
    connectionsOf: ({ site }) => allowance.connectionsOf(site, now()),
    ended: (way, ending) => {
      if (way === TEST_WAY || way === GIVEN_UP) return
      const at = now()
      if (ending.outcome.kind === 'delivered') pace.good(at)
      allowance.ended(way.site, ending, at)
    },
    returned: (way) => {
      if (way !== TEST_WAY && way !== GIVEN_UP) allowance.undone(way.site, 1)
    },
    freed: allowance.freed,
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
const TEST_WAY: Way = { site: SANDBOX, mx: null }
