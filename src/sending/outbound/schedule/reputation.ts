import type { Outcome } from '../../../model/delivery.ts'
import { isPoisoned, WORKER_LOST_RULE } from '../outcome.ts'
import type { DestinationTerms } from './destination-limits.ts'

/** Reputation of one destination and its resulting limits. A run of delivered mails adds one connection, trouble
 *  halves them, and repeated trouble pauses the destination, longer each time. */
export interface Reputation {
  readonly destination: string
  /** Of this node, now. */
  terms: DestinationTerms
  level: 'proven' | 'unknown' | 'troubled'
  /** Current limit of connections. */
  limit: number
  underWay: number
  /** Delivered mails since the limit last changed. */
  run: number
  /** Troubles without a delivered mail in between; simultaneous ones count once. */
  strikes: number
  struckAt: number
  /** Only the class, because every organization that sends to the destination sees this. */
  lowered: { class: string; at: number } | null
  pausedUntil: number
  /** Mails that may start now, if there is a limit per minute. */
  tokens: number
  tokensAt: number
}

/** Connections for an unknown destination: enough to be fast, few enough to be accepted. */
const FIRST_CONNECTIONS = 5
/** Delivered mails that add one connection: before the first trouble, and after it. */
const RUN = 5
const RUN_AFTER_TROUBLE = 20
const PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 300_000
const MINUTE_MS = 60_000

export function newReputation(destination: string, terms: DestinationTerms, now: number): Reputation {
  return {
    destination,
    terms,
    level: 'unknown',
    limit: Math.max(1, Math.min(FIRST_CONNECTIONS, terms.maxConnections)),
    underWay: 0,
    run: 0,
    strikes: 0,
    struckAt: Number.NEGATIVE_INFINITY,
    lowered: null,
    pausedUntil: 0,
    tokens: burstOf(terms),
    tokensAt: now,
  }
}

/** Updates the reputation with the result of an attempt that started at `startedAt`. `longestPauseMs`: longest pause
 *  after that many strikes, so that no mail waits beyond its own retry. A refused recipient does not count against
 *  the destination. A bounce without a reply (no such domain, expired) does not count at all; a deferral without one
 *  (DNS does not answer) is trouble. */
export function learn(
  reputation: Reputation,
  { outcome, reached, startedAt }: { outcome: Outcome; reached: boolean; startedAt: number },
  now: number,
  longestPauseMs: (strikes: number) => number,
): void {
  if (isOurDemand(outcome)) return
  if (isTrouble(outcome)) strike(reputation, outcome, startedAt, now, longestPauseMs)
  else if (reached) grow(reputation)
}

function grow(reputation: Reputation): void {
  reputation.level = 'proven'
  reputation.strikes = 0
  reputation.run++
  if (reputation.run < (reputation.lowered === null ? RUN : RUN_AFTER_TROUBLE)) return
  reputation.run = 0
  if (reputation.limit < reputation.terms.maxConnections) reputation.limit++
}

/** Attempts that were in progress at the same time count as one trouble. */
function strike(
  reputation: Reputation,
  outcome: Exclude<Outcome, { kind: 'delivered' }>,
  startedAt: number,
  now: number,
  longestPauseMs: (strikes: number) => number,
): void {
  reputation.level = 'troubled'
  reputation.run = 0
  if (startedAt < reputation.struckAt) return
  reputation.struckAt = now
  reputation.strikes++
  reputation.limit = Math.max(1, Math.floor(connectionsOf(reputation) / 2))
  reputation.lowered = { class: outcome.cause.class, at: now }
  if (reputation.strikes < 2) return
  const pauseMs = Math.min(
    PAUSE_MS * 2 ** (reputation.strikes - 2),
    LONGEST_PAUSE_MS,
    longestPauseMs(reputation.strikes),
  )
  reputation.pausedUntil = now + pauseMs
}

/** Connections that this node may use. */
export const connectionsOf = ({ limit, terms }: Reputation) => Math.min(limit, terms.maxConnections)

/** True if nothing answered, or the host as a whole refuses mail now (421, 4.7.z, busy). */
export function isTrouble(outcome: Outcome): outcome is Exclude<Outcome, { kind: 'delivered' | 'bounced' }> {
  return (outcome.kind === 'deferred' && !outcome.aboutRecipient) || outcome.kind === 'unknown'
}

/** True if a domain's policy or a message's `require_tls` demanded more TLS than the host offers (host-policy.ts,
 *  session.ts), or one of our threads ended: other mail to the destination is not affected. */
export function isOurDemand(outcome: Outcome): boolean {
  if (outcome.kind !== 'deferred') return false
  const { rule } = outcome.cause
  return /^(tls|mta_sts|dane):/.test(rule) || isPoisoned(rule) || rule === WORKER_LOST_RULE
}

/** How many mails the limit per minute allows now, and if none, when (steady clock, ms) the next may start. */
export function minuteLeft(reputation: Reputation, now: number): { mails: number; nextAt: number } {
  const perMinute = reputation.terms.maxMailsPerMinute
  if (perMinute === null) return { mails: Number.POSITIVE_INFINITY, nextAt: now }
  const passedMs = Math.max(0, now - reputation.tokensAt)
  reputation.tokens = Math.min(burstOf(reputation.terms), reputation.tokens + (passedMs * perMinute) / MINUTE_MS)
  reputation.tokensAt = now
  // Compensates rounding errors of the sums.
  const mails = Math.floor(reputation.tokens + 1e-6)
  return { mails, nextAt: now + Math.ceil(((1 - reputation.tokens) * MINUTE_MS) / perMinute) }
}

/** Mails of one second may start at once, so that any minute exceeds the limit by no more than that. */
const burstOf = ({ maxMailsPerMinute }: DestinationTerms) =>
  maxMailsPerMinute === null ? 0 : Math.max(1, maxMailsPerMinute / 60)
