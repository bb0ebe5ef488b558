import { backoffMs } from '../../../os/backoff.ts'
import type { Random } from '../../../os/random.ts'

/** Deferral → when the next attempt starts (ms UTC); null to give up. `attempt` is the number of the deferred
 *  attempt (1 = the first). `firstAttemptAt` is when the first was due (ms UTC); null if the clock was set since
 *  then, which makes the difference meaningless. Each wait varies by ±10 %, so that mails deferred together do not
 *  return together. Gives up if the next attempt would start more than `maxAgeSeconds` after the first; `expired` if only
 *  `expiresAt` (null = the schedule decides alone) forbids it. A delivery is at least as old as the sum of its waits. With an
 *  empty schedule nothing is retried. Never throws. */
export function nextAttempt(options: {
  attempt: number
  firstAttemptAt: number | null
  now: number
  scheduleSeconds: readonly number[]
  maxAgeSeconds: number
  expiresAt: number | null
  random: Random
}): number | 'expired' | null {
  const { attempt, firstAttemptAt, now, scheduleSeconds, maxAgeSeconds, expiresAt, random } = options
  if (scheduleSeconds.length === 0) return null
  const nextAt = now + backoffMs(scheduleSeconds, attempt, JITTER, random)
  const ageMs = Math.max(nextAt - (firstAttemptAt ?? nextAt), leastAgeMs(scheduleSeconds, attempt))
  if (ageMs > maxAgeSeconds * 1000) return null
  return expiresAt !== null && nextAt > expiresAt ? 'expired' : nextAt
}

/** Minimum sum of the waits before attempt `attempt + 1`. */
function leastAgeMs(scheduleSeconds: readonly number[], attempt: number): number {
  const beyond = Math.max(0, attempt - scheduleSeconds.length)
  const waits = scheduleSeconds.slice(0, attempt).reduce((sum, seconds) => sum + seconds, 0)
  return (waits + beyond * (scheduleSeconds.at(-1) ?? 0)) * 1000 * (1 - JITTER)
}

const JITTER = 0.1 // ±10 %
