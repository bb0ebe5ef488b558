import type { Outcome } from '../../model/delivery.ts'
import { isPoisoned, WORKER_LOST_RULE } from '../outcome.ts'
import type { DestinationTerms } from './destination-limits.ts'

/** How one destination has behaved, and what it gets for it: connections grow by one after a run of mails that went through,
 *  are halved at trouble, and trouble that goes on pauses the destination, longer each time. */
export interface Reputation {
  readonly destination: string
  readonly terms: DestinationTerms
  level: 'proven' | 'unknown' | 'troubled'
  /** Connections at once. */
  limit: number
  underWay: number
  /** Good outcomes since the limit last changed. */
  run: number
  /** Troubles without a good outcome between them; those of one moment count once. */
  strikes: number
  struckAt: number
  /** The class alone: every organization that sends to the destination sees this. */
  lowered: { class: string; at: number } | null
  pausedUntil: number
  /** Mails that may start now, where the minute has a limit. */
  tokens: number
  tokensAt: number
}

/** An unknown destination gets this many connections: enough to be quick, few enough to be no rudeness. */
const FIRST_CONNECTIONS = 5
/** Good mails for one connection more: before the first trouble, and after it. */
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
    limit: Math.min(FIRST_CONNECTIONS, terms.maxConnections),
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

/** An attempt that began at `startedAt` ended so. `longestPauseMs`: how long a pause may be after that many strikes, so
 *  that it puts off no mail beyond its own retry. A refused recipient says nothing against the destination, and a bounce that
 *  met nobody (no such domain, expired) nothing at all; a deferral that met nobody (DNS is silent) is trouble. */
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
  reputation.limit = Math.min(reputation.limit + 1, reputation.terms.maxConnections)
}

/** Attempts that were in progress together tell of one trouble, not of many. */
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
  reputation.limit = Math.max(1, Math.floor(reputation.limit / 2))
  reputation.lowered = { class: outcome.cause.class, at: now }
  if (reputation.strikes < 2) return
  const pauseMs = Math.min(
    PAUSE_MS * 2 ** (reputation.strikes - 2),
    LONGEST_PAUSE_MS,
    longestPauseMs(reputation.strikes),
  )
  reputation.pausedUntil = now + pauseMs
}

/** Nothing answered, or the host as a whole does not want us now (421, 4.7.z, busy). */
function isTrouble(outcome: Outcome): outcome is Exclude<Outcome, { kind: 'delivered' | 'bounced' }> {
  return (outcome.kind === 'deferred' && !outcome.aboutRecipient) || outcome.kind === 'unknown'
}

/** A policy of one domain or `require_tls` of one message asked for more TLS than there was (host-policy.ts,
 *  session.ts), or one of our threads ended: other mail to the destination is none the worse for it. */
function isOurDemand(outcome: Outcome): boolean {
  if (outcome.kind !== 'deferred') return false
  const { rule } = outcome.cause
  return /^(tls|mta_sts|dane):/.test(rule) || isPoisoned(rule) || rule === WORKER_LOST_RULE
}

/** How many mails the minute leaves, and when (ms UTC) the next may start if none. */
export function minuteLeft(reputation: Reputation, now: number): { mails: number; nextAt: number } {
  const perMinute = reputation.terms.maxMailsPerMinute
  if (perMinute === null) return { mails: Number.POSITIVE_INFINITY, nextAt: now }
  const passedMs = Math.max(0, now - reputation.tokensAt)
  reputation.tokens = Math.min(burstOf(reputation.terms), reputation.tokens + (passedMs * perMinute) / MINUTE_MS)
  reputation.tokensAt = now
  // Some billionths are lost in the sums.
  const mails = Math.floor(reputation.tokens + 1e-6)
  return { mails, nextAt: now + Math.ceil(((1 - reputation.tokens) * MINUTE_MS) / perMinute) }
}

/** A second's worth at once: over any minute the limit is passed by no more than that. */
const burstOf = ({ maxMailsPerMinute }: DestinationTerms) =>
  maxMailsPerMinute === null ? 0 : Math.max(1, maxMailsPerMinute / 60)
