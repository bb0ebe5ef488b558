import type { Outcome } from '../../model/delivery.ts'
import type { Blocker, Quota } from '../../storage/store.ts'
import type { SiteTerms } from './destination-limits.ts'
import type { SiteState } from './destination-state.ts'
import { learn, minuteLeft, newStanding, type Standing } from './reputation.ts'

/** How many deliveries of a site may be under way, by how it has behaved (standing.ts): one that takes mail gets enough
 *  to keep its connections fed, any other a delivery a connection. All unknown sites together get half of all deliveries in flight
 *  and all in trouble a quarter, so that dead and slow ones, however many, leave room.
 *  All times are those of the steady clock, ms. */
export interface Allowance {
  /** How many more may start, or what they wait for. `isFresh`: not overdue for long. Of the unknown sites' share a
   *  backlog gets half, so that a fresh mail need not wait behind it. */
  quotasOf(site: string, isFresh: boolean, now: number): Quota[] | Blocker
  /** All that share places with the site: its name, and how many places there are. */
  poolOf(site: string): { name: Repute; total: number }
  started(site: string, count: number, now: number): void
  /** As if it had never started. */
  undone(site: string, count: number): void
  ended(site: string, ending: { outcome: Outcome; reached: boolean; startedAt: number }, now: number): void
  /** Blockers that may be gone since the last call. */
  freed(): string[]
  /** Whether its attempts have to be few while others take mail well (pace.ts). */
  isPaced(site: string, isFresh: boolean): boolean
  /** Connections at once, at present. */
  connectionsOf(site: string, now: number): { connections: number; maxMails: number }
  stateOf(site: string, now: number): SiteState
  sites(now: number): SiteState[]
}

/** Ahead of each connection: one mail on the wire, the next ones composed and signed meanwhile. */
const AHEAD = 4
/** Sites remembered; the one quiet for longest is forgotten first and is then simply unknown again. */
const REMEMBERED = 50_000

type Repute = Standing['repute']

export function createAllowance(options: {
  maxInFlight: number
  termsOf: (site: string) => SiteTerms
  /** Not beyond the retry of the mail that failed. */
  longestPauseMs: (strikes: number) => number
}): Allowance {
  const { maxInFlight, termsOf, longestPauseMs } = options
  const together: Record<Repute, number> = {
    proven: maxInFlight,
    unknown: Math.ceil(maxInFlight / 2),
    troubled: Math.ceil(maxInFlight / 4),
  }
  const backlogOfUnknown = Math.ceil(together.unknown / 2)
  const underWay: Record<Repute, number> = { proven: 0, unknown: 0, troubled: 0 }
  const standings = new Map<string, Standing>()
  let freed = new Set<string>()

  /** Kept only once something starts. */
  const standingOf = (site: string, now: number) => standings.get(site) ?? newStanding(site, termsOf(site), now)
  const count = (standing: Standing, change: number) => {
    standing.underWay += change
    underWay[standing.repute] += change
  }
  const free = ({ site, repute }: Standing) => {
    freed.add(nameOf(site)).add(repute)
    if (repute === 'unknown') freed.add(BACKLOG)
  }

  return {
    quotasOf: (site, isFresh, now) => {
      const standing = standingOf(site, now)
      const { repute, pausedUntil } = standing
      if (pausedUntil > now) return { name: nameOf(site), until: pausedUntil }
      const own = mostOf(standing) - standing.underWay
      if (own <= 0) return { name: nameOf(site), until: null }
      const minute = minuteLeft(standing, now)
      if (minute.mails <= 0) return { name: nameOf(site), until: minute.nextAt }
      const ofSite = { name: nameOf(site), most: Math.min(own, minute.mails) }
      const shared = { name: repute, most: together[repute] - underWay[repute] }
      if (repute !== 'unknown') return shared.most > 0 ? [ofSite, shared] : { name: repute, until: null }
      // A fresh mail is not limited by the backlog's half but counts against it.
      const ofBacklog = { name: BACKLOG, most: isFresh ? Infinity : backlogOfUnknown - underWay.unknown }
      if (ofBacklog.most <= 0) return { name: BACKLOG, until: null }
      return shared.most > 0 ? [ofSite, ofBacklog, shared] : { name: repute, until: null }
    },
    poolOf: (site) => {
      const name = standings.get(site)?.repute ?? 'unknown'
      return { name, total: together[name] }
    },
    started: (site, started, now) => {
      const standing = standingOf(site, now)
      standings.set(site, standing)
      count(standing, started)
      standing.tokens -= started
    },
    undone: (site, started) => {
      const standing = standings.get(site)
      if (standing === undefined) return
      count(standing, -started)
      standing.tokens += started
      free(standing)
    },
    ended: (site, ending, now) => {
      const standing = standings.get(site)
      if (standing === undefined) return
      free(standing)
      underWay[standing.repute] -= standing.underWay
      standing.underWay--
      learn(standing, ending, now, longestPauseMs)
      underWay[standing.repute] += standing.underWay
      standings.delete(site)
      standings.set(site, standing)
      if (standings.size > REMEMBERED) forgetOldestIdle(standings)
    },
    freed: () => {
      if (freed.size === 0) return []
      const names = [...freed]
      freed = new Set()
      return names
    },
    isPaced: (site, isFresh) => {
      const repute = standings.get(site)?.repute ?? 'unknown'
      return repute === 'troubled' || (repute === 'unknown' && !isFresh)
    },
    connectionsOf: (site, now) => {
      const { limit, terms } = standingOf(site, now)
      return { connections: limit, maxMails: terms.maxMailsPerConnection }
    },
    stateOf: (site, now) => stateOf(standingOf(site, now), now),
    sites: (now) => [...standings.values()].map((standing) => stateOf(standing, now)),
  }
}

const BACKLOG = 'unknown backlog'
const nameOf = (site: string) => `site ${site}`
const mostOf = ({ repute, limit }: Standing) => (repute === 'proven' ? limit * AHEAD : limit)

function stateOf(standing: Standing, now: number): SiteState {
  const { site, terms, limit, underWay, lowered, repute, pausedUntil } = standing
  const isPaused = pausedUntil > now
  return {
    site,
    state: isPaused ? 'paused' : repute,
    limit,
    maxLimit: terms.maxConnections,
    underWay,
    maxUnderWay: mostOf(standing),
    lowered,
    pausedUntil: isPaused ? pausedUntil : null,
  }
}

function forgetOldestIdle(standings: Map<string, Standing>): void {
  for (const [site, standing] of standings) {
    if (standing.underWay > 0) continue
    standings.delete(site)
    return
  }
}
