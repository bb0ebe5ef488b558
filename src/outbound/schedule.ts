import { backoffMs } from '../platform/backoff.ts'
import type { Random } from '../platform/random.ts'

/** A deferral → when the next attempt starts (ms UTC), or null to give up. `attempt` is the number of the attempt that
 *  was just deferred (1 = the first), `firstAttemptAt` when the first was due. Each wait strays ±10 %, so that mails
 *  deferred together do not come back together. Given up when the next attempt would start more than `maxAgeSeconds`
 *  after the first, or after `expiresAt` (null = only the schedule decides). With an empty ladder nothing is retried.
 *  Never throws. */
export function nextAttempt(options: {
  attempt: number
  firstAttemptAt: number
  now: number
  ladderSeconds: readonly number[]
  maxAgeSeconds: number
  expiresAt: number | null
  random: Random
}): number | null {
  const { attempt, firstAttemptAt, now, ladderSeconds, maxAgeSeconds, expiresAt, random } = options
  if (ladderSeconds.length === 0) return null
  const nextAt = now + backoffMs(ladderSeconds, attempt, JITTER, random)
  if (nextAt > firstAttemptAt + maxAgeSeconds * 1000) return null
  return expiresAt !== null && nextAt > expiresAt ? null : nextAt
}

const JITTER = 0.1 // ±10 %
