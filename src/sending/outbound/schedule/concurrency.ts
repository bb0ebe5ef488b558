import type { Outcome } from '../../../model/delivery.ts'
import type { Blocker, NodeParts, Quota } from '../../../storage/store.ts'
import type { SharedLimits } from '../relays/shared-limits.ts'
import { addressIn, destinationIn } from './destination.ts'
import type { DestinationTerms } from './destination-limits.ts'
import type { DestinationState } from './destination-state.ts'
import { connectionsOf, learn, minuteLeft, newReputation, type Reputation } from './reputation.ts'

/** Deliveries per connection of a proven destination: one mail on the wire, the next ones composed and signed
 *  meanwhile. */
const AHEAD = 4
/** Maximum of stored reputations. The least recently used one without deliveries in progress is dropped first and
 *  becomes unknown again. */
const REMEMBERED = 50_000

type ReputationLevel = Reputation['level']

/** Limits the deliveries in progress per destination by its reputation (reputation.ts). A proven one gets enough to
 *  keep its connections busy, any other one delivery per connection. All unknown destinations together get half of
 *  all deliveries in progress, and all troubled ones a quarter, so that dead and slow ones leave capacity however
 *  many they are. A destination here is a key of destination.ts: each address that mail is sent from has a reputation of its
 *  own. All times are of the steady clock, in ms. */
export class DestinationConcurrency {
  readonly #termsOf: (key: string) => DestinationTerms
  readonly #parts: NodeParts | undefined
  readonly #longestPauseMs: (strikes: number) => number
  readonly #shared: Pick<SharedLimits, 'leftAt' | 'connectionsAt' | 'started'> | undefined
  /** Deliveries in progress that all destinations of a level may have together. */
  readonly #totals: Record<ReputationLevel, number>
  readonly #underWay: Record<ReputationLevel, number> = { proven: 0, unknown: 0, troubled: 0 }
  readonly #reputations = new Map<string, Reputation>()
  #freed = new Set<string>()

  constructor(options: {
    maxInFlight: number
    /** Terms of this node. */
    termsOf: (key: string) => DestinationTerms
    /** The parts of nodes in limits; absent: this one is the only one. */
    parts?: NodeParts | undefined
    /** Longest pause after that many strikes in a row, in ms: not beyond the retry of the mail that failed. */
    longestPauseMs: (strikes: number) => number
    /** Limits that hold for all nodes together; absent: there are none. */
    shared?: Pick<SharedLimits, 'leftAt' | 'connectionsAt' | 'started'> | undefined
  }) {
    const { maxInFlight } = options
    this.#termsOf = options.termsOf
    this.#parts = options.parts
    this.#longestPauseMs = options.longestPauseMs
    this.#shared = options.shared
    this.#totals = {
      proven: maxInFlight,
      unknown: Math.ceil(maxInFlight / 2),
      troubled: Math.ceil(maxInFlight / 4),
    }
  }

  /** How many more deliveries may start, or the blocker they wait for. `isFresh`: not overdue for long. A backlog
   *  gets half of the unknown destinations' share, so that fresh mail need not wait for it. */
  quotasOf(destination: string, isFresh: boolean, now: number): Quota[] | Blocker {
    const reputation = this.#reputationOf(destination, now)
    const { level, pausedUntil } = reputation
    const name = nameOf(destination)
    if (pausedUntil > now) return { name, until: pausedUntil }
    const ofAll = this.#shared?.leftAt(destination) ?? null
    if (ofAll !== null && 'name' in ofAll) return ofAll
    const own = mostOf(reputation, ofAll?.connections) - reputation.underWay
    // Without a part of its own in the limit, nothing of this node ends that could free it.
    if (own <= 0) return reputation.terms.maxConnections > 0 ? { name, until: null } : this.#noPart(name)
    const minute = minuteLeft(reputation, now)
    if (minute.mails <= 0) return { name, until: minute.nextAt }
    const mails = Math.min(minute.mails, ofAll?.mails ?? Number.POSITIVE_INFINITY)
    const ofDestination = { name, most: Math.min(own, mails) }
    const ofLevel = { name: level, most: this.#totals[level] - this.#underWay[level] }
    if (level !== 'unknown') return ofLevel.most > 0 ? [ofDestination, ofLevel] : { name: level, until: null }
    // A fresh mail is not limited by the backlog's half but counts against it.
    const backlogTotal = Math.ceil(this.#totals.unknown / 2)
    const ofBacklog = { name: BACKLOG, most: isFresh ? Infinity : backlogTotal - this.#underWay.unknown }
    if (ofBacklog.most <= 0) return { name: BACKLOG, until: null }
    return ofLevel.most > 0 ? [ofDestination, ofBacklog, ofLevel] : { name: level, until: null }
  }

  /** The pool that the destination shares with others of its level: its name, and how many deliveries it has in all. */
  poolOf(destination: string): { name: ReputationLevel; total: number } {
    const name = this.#levelOf(destination)
    return { name, total: this.#totals[name] }
  }

  started(destination: string, started: number, now: number): void {
    const reputation = this.#reputationOf(destination, now)
    this.#reputations.set(destination, reputation)
    this.#count(reputation, started)
    reputation.tokens -= started
    this.#shared?.started(destination, started)
  }

  /** Undoes `started`. */
  undone(destination: string, started: number): void {
    const reputation = this.#reputations.get(destination)
    if (reputation === undefined) return
    this.#count(reputation, -started)
    reputation.tokens += started
    this.#shared?.started(destination, -started)
    this.#free(reputation)
  }

  ended(destination: string, ending: { outcome: Outcome; reached: boolean; startedAt: number }, now: number): void {
    const reputation = this.#reputations.get(destination)
    if (reputation === undefined) return
    this.#free(reputation)
    this.#underWay[reputation.level] -= reputation.underWay
    reputation.underWay--
    learn(reputation, ending, now, this.#longestPauseMs)
    this.#underWay[reputation.level] += reputation.underWay
    this.#reputations.delete(destination)
    this.#reputations.set(destination, reputation)
    if (this.#reputations.size > REMEMBERED) deleteOldestIdle(this.#reputations)
  }

  /** Blockers that may have ended since the last call. */
  freed(): string[] {
    if (this.#freed.size === 0) return []
    const names = [...this.#freed]
    this.#freed = new Set()
    return names
  }

  /** True if its attempts are limited while others accept mail (cold-start-pacing.ts). */
  isPaced(destination: string, isFresh: boolean): boolean {
    const level = this.#levelOf(destination)
    return level === 'troubled' || (level === 'unknown' && !isFresh)
  }

  /** Current limit of connections, and mails per connection. */
  connectionsOf(destination: string, now: number): { connections: number; maxMails: number } {
    const reputation = this.#reputationOf(destination, now)
    const ofAll = this.#shared?.connectionsAt(destination) ?? Number.POSITIVE_INFINITY
    const connections = Math.max(1, Math.min(connectionsOf(reputation), ofAll))
    return { connections, maxMails: reputation.terms.maxMailsPerConnection }
  }

  stateOf(destination: string, now: number): DestinationState {
    return stateOf(this.#reputationOf(destination, now), now)
  }

  destinations(now: number): DestinationState[] {
    return [...this.#reputations.values()].map((reputation) => stateOf(reputation, now))
  }

  #levelOf(destination: string): ReputationLevel {
    return this.#reputations.get(destination)?.level ?? 'unknown'
  }

  /** Stored only once something starts. */
  #reputationOf(destination: string, now: number): Reputation {
    const known = this.#reputations.get(destination)
    if (known === undefined) return newReputation(destination, this.#termsOf(destination), now)
    if (this.#parts !== undefined) known.terms = this.#termsOf(destination)
    return known
  }

  #noPart(name: string): Blocker {
    return this.#parts?.blocker(name) ?? { name, until: null }
  }

  #count(reputation: Reputation, change: number): void {
    reputation.underWay += change
    this.#underWay[reputation.level] += change
  }

  #free({ destination, level }: Reputation): void {
    this.#freed.add(nameOf(destination)).add(level)
    if (level === 'unknown') this.#freed.add(BACKLOG)
  }
}

const BACKLOG = 'unknown backlog'
const nameOf = (destination: string) => `destination ${destination}`

function mostOf(reputation: Reputation, connections = Number.POSITIVE_INFINITY): number {
  const most = Math.min(connectionsOf(reputation), connections)
  return reputation.level === 'proven' ? most * AHEAD : most
}

function stateOf(reputation: Reputation, now: number): DestinationState {
  const { destination, terms, underWay, lowered, level, pausedUntil } = reputation
  const isPaused = pausedUntil > now
  return {
    destination: destinationIn(destination),
    sourceAddress: addressIn(destination),
    state: isPaused ? 'paused' : level,
    limit: connectionsOf(reputation),
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
