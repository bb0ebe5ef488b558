import type { Outcome } from '../../model/delivery.ts'
import type { Blocker, Quota } from '../../storage/store.ts'
import type { SharedLimits } from '../relays/shared-limits.ts'
import type { DestinationTerms } from './destination-limits.ts'
import type { DestinationState } from './destination-state.ts'
import { addressIn, destinationIn } from './limit-key.ts'
import { learn, minuteLeft, newReputation, type Reputation } from './reputation.ts'

/** Limits the deliveries in progress per destination by its reputation (reputation.ts). A proven one gets enough to
 *  keep its connections busy, any other one delivery per connection. All unknown destinations together get half of
 *  all deliveries in progress, and all troubled ones a quarter, so that dead and slow ones leave capacity however
 *  many they are. A destination here is a key of limit-key.ts: each address that mail is sent from has a reputation of its
 *  own. All times are of the steady clock, in ms. */
export interface DestinationConcurrency {
  /** How many more deliveries may start, or the blocker they wait for. `isFresh`: not overdue for long. A backlog
   *  gets half of the unknown destinations' share, so that fresh mail need not wait for it. */
  quotasOf(destination: string, isFresh: boolean, now: number): Quota[] | Blocker
  /** The pool whose places the destination shares: its name, and its number of places. */
  poolOf(destination: string): { name: ReputationLevel; total: number }
  started(destination: string, count: number, now: number): void
  /** Undoes `started`. */
  undone(destination: string, count: number): void
  ended(destination: string, ending: { outcome: Outcome; reached: boolean; startedAt: number }, now: number): void
  /** Blockers that may have ended since the last call. */
  freed(): string[]
  /** True if its attempts are limited while others accept mail (cold-start-pacing.ts). */
  isPaced(destination: string, isFresh: boolean): boolean
  /** Current limit of connections, and mails per connection. */
  connectionsOf(destination: string, now: number): { connections: number; maxMails: number }
  stateOf(destination: string, now: number): DestinationState
  destinations(now: number): DestinationState[]
}

/** Deliveries per connection of a proven destination: one mail on the wire, the next ones composed and signed
 *  meanwhile. */
const AHEAD = 4
/** Maximum of stored reputations. The least recently used one without deliveries in progress is dropped first and
 *  becomes unknown again. */
const REMEMBERED = 50_000

type ReputationLevel = Reputation['level']

export function createDestinationConcurrency(options: {
  maxInFlight: number
  termsOf: (destination: string) => DestinationTerms
  /** Longest pause after that many strikes in a row, in ms: not beyond the retry of the mail that failed. */
  longestPauseMs: (strikes: number) => number
  /** Limits that hold for all nodes together; absent: there are none. */
  shared?: Pick<SharedLimits, 'leftAt' | 'connectionsAt' | 'started'>
}): DestinationConcurrency {
  const { maxInFlight, termsOf, longestPauseMs, shared: sharedLimits } = options
  const together: Record<ReputationLevel, number> = {
    proven: maxInFlight,
    unknown: Math.ceil(maxInFlight / 2),
    troubled: Math.ceil(maxInFlight / 4),
  }
  const backlogOfUnknown = Math.ceil(together.unknown / 2)
  const underWay: Record<ReputationLevel, number> = { proven: 0, unknown: 0, troubled: 0 }
  const reputations = new Map<string, Reputation>()
  let freed = new Set<string>()

  /** Stored only once something starts. */
  const reputationOf = (destination: string, now: number) =>
    reputations.get(destination) ?? newReputation(destination, termsOf(destinationIn(destination)), now)
  const count = (reputation: Reputation, change: number) => {
    reputation.underWay += change
    underWay[reputation.level] += change
  }
  const free = ({ destination, level }: Reputation) => {
    freed.add(nameOf(destination)).add(level)
    if (level === 'unknown') freed.add(BACKLOG)
  }

  return {
    quotasOf: (destination, isFresh, now) => {
      const reputation = reputationOf(destination, now)
      const { level, pausedUntil } = reputation
      if (pausedUntil > now) return { name: nameOf(destination), until: pausedUntil }
      const ofAll = sharedLimits?.leftAt(destination) ?? null
      if (ofAll !== null && 'name' in ofAll) return ofAll
      const own = mostOf(reputation, ofAll?.connections) - reputation.underWay
      if (own <= 0) return { name: nameOf(destination), until: null }
      const minute = minuteLeft(reputation, now)
      if (minute.mails <= 0) return { name: nameOf(destination), until: minute.nextAt }
      const mails = Math.min(minute.mails, ofAll?.mails ?? Number.POSITIVE_INFINITY)
      const ofDestination = { name: nameOf(destination), most: Math.min(own, mails) }
      const shared = { name: level, most: together[level] - underWay[level] }
      if (level !== 'unknown') return shared.most > 0 ? [ofDestination, shared] : { name: level, until: null }
      // A fresh mail is not limited by the backlog's half but counts against it.
      const ofBacklog = { name: BACKLOG, most: isFresh ? Infinity : backlogOfUnknown - underWay.unknown }
      if (ofBacklog.most <= 0) return { name: BACKLOG, until: null }
      return shared.most > 0 ? [ofDestination, ofBacklog, shared] : { name: level, until: null }
    },
    poolOf: (destination) => {
      const name = reputations.get(destination)?.level ?? 'unknown'
      return { name, total: together[name] }
    },
    started: (destination, started, now) => {
      const reputation = reputationOf(destination, now)
      reputations.set(destination, reputation)
      count(reputation, started)
      reputation.tokens -= started
      sharedLimits?.started(destination, started)
    },
    undone: (destination, started) => {
      const reputation = reputations.get(destination)
      if (reputation === undefined) return
      count(reputation, -started)
      reputation.tokens += started
      sharedLimits?.started(destination, -started)
      free(reputation)
    },
    ended: (destination, ending, now) => {
      const reputation = reputations.get(destination)
      if (reputation === undefined) return
      free(reputation)
      underWay[reputation.level] -= reputation.underWay
      reputation.underWay--
      learn(reputation, ending, now, longestPauseMs)
      underWay[reputation.level] += reputation.underWay
      reputations.delete(destination)
      reputations.set(destination, reputation)
      if (reputations.size > REMEMBERED) deleteOldestIdle(reputations)
    },
    freed: () => {
      if (freed.size === 0) return []
      const names = [...freed]
      freed = new Set()
      return names
    },
    isPaced: (destination, isFresh) => {
      const level = reputations.get(destination)?.level ?? 'unknown'
      return level === 'troubled' || (level === 'unknown' && !isFresh)
    },
    connectionsOf: (destination, now) => {
      const { limit, terms } = reputationOf(destination, now)
      const ofAll = sharedLimits?.connectionsAt(destination) ?? Number.POSITIVE_INFINITY
      return { connections: Math.max(1, Math.min(limit, ofAll)), maxMails: terms.maxMailsPerConnection }
    },
    stateOf: (destination, now) => stateOf(reputationOf(destination, now), now),
    destinations: (now) => [...reputations.values()].map((reputation) => stateOf(reputation, now)),
  }
}

const BACKLOG = 'unknown backlog'
const nameOf = (destination: string) => `destination ${destination}`

function mostOf({ level, limit }: Reputation, connections = Number.POSITIVE_INFINITY): number {
  const most = Math.min(limit, connections)
  return level === 'proven' ? most * AHEAD : most
}

function stateOf(reputation: Reputation, now: number): DestinationState {
  const { destination, terms, limit, underWay, lowered, level, pausedUntil } = reputation
  const isPaused = pausedUntil > now
  return {
    destination: destinationIn(destination),
    sourceAddress: addressIn(destination),
    state: isPaused ? 'paused' : level,
    limit,
    maxLimit: terms.maxConnections,
    underWay,
    maxUnderWay: mostOf(reputation),
    lowered,
    pausedUntil: isPaused ? pausedUntil : null,
  }
}

function deleteOldestIdle(reputations: Map<string, Reputation>): void {
  for (const [destination, reputation] of reputations) {
    if (reputation.underWay > 0) continue
    reputations.delete(destination)
    return
  }
}
