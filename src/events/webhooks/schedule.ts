import { backoffMs } from '../../os/backoff.ts'
import type { Random } from '../../os/random.ts'

/** Attempts of one webhook delivery, including the first. */
export const WEBHOOK_ATTEMPTS = 5

/** Failed attempt → when the next one is due (ms UTC); null after the fifth attempt and after every manual one
 *  beyond it. The four waits of `scheduleSeconds` vary by ±20 %, so that a thousand failures in one second are
 *  not retried in one second. `retryAfterSeconds` (null = absent) makes the wait longer, never shorter, up to a day, so
 *  that an endpoint cannot postpone deliveries indefinitely. Inbound deliveries use the same rule with their own
 *  schedule. */
export function nextWebhookAttempt(failed: {
  /** Number of the failed attempt, from 1. */
  attempt: number
  now: number
  scheduleSeconds: readonly number[]
  retryAfterSeconds: number | null
  random: Random
}): number | null {
  if (failed.attempt >= WEBHOOK_ATTEMPTS) return null
  const scheduleMs = backoffMs(failed.scheduleSeconds, failed.attempt, JITTER, failed.random)
  const askedMs = Math.min(failed.retryAfterSeconds ?? 0, MAX_RETRY_AFTER_SECONDS) * 1000
  return failed.now + Math.max(scheduleMs, askedMs)
}

/** Each wait varies by ±20 %. */
const JITTER = 0.2
const MAX_RETRY_AFTER_SECONDS = 86_400
