import { backoffMs } from '../os/backoff.ts'
import type { Random } from '../os/random.ts'

/** Attempts of one webhook delivery, the first included. */
export const WEBHOOK_ATTEMPTS = 5

/** A failed attempt → when the next one is due (ms UTC), or null when there is none: the fifth was the last, and so
 *  is every attempt that somebody asked for by hand beyond it. The four waits of `ladderSeconds` stray by ±20 %, so
 *  that a thousand failures of one second do not come back in one second.
 *  `retryAfterSeconds` (null = not asked for) makes the wait longer, never shorter, up to a day: an endpoint may ask
 *  for patience, but not park our deliveries for ever. Inbound deliveries use the same rule with their own ladder. */
export function nextWebhookAttempt(failed: {
  /** Number of the attempt that has just failed, from 1. */
  attempt: number
  now: number
  ladderSeconds: readonly number[]
  retryAfterSeconds: number | null
  random: Random
}): number | null {
  if (failed.attempt >= WEBHOOK_ATTEMPTS) return null
  const ladderMs = backoffMs(failed.ladderSeconds, failed.attempt, JITTER, failed.random)
  const askedMs = Math.min(failed.retryAfterSeconds ?? 0, MAX_RETRY_AFTER_SECONDS) * 1000
  return failed.now + Math.max(ladderMs, askedMs)
}

/** Each wait varies by ±20 %. */
const JITTER = 0.2
const MAX_RETRY_AFTER_SECONDS = 86_400
