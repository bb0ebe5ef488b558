import type { PostriderError } from './errors.ts'

/** Statuses after which the same request may succeed. */
const RETRYABLE = [429, 500, 502, 503, 504]
/** The server states that it did not process the request. */
const UNSUPPORTED = [429, 503]
const BASE_MS = 500
const LONGEST_MS = 8_000

/** Failure → whether the request can be retried. `isRepeatable`: repeating it has no further effect. Other requests
 *  are retried only if the server states that it did not process them; after a connection error the outcome is
 *  unknown. */
export function mayGoAgain({ code, status }: PostriderError, isRepeatable: boolean): boolean {
  if (status !== null) return RETRYABLE.includes(status) && (isRepeatable || UNSUPPORTED.includes(status))
  return isRepeatable && code === 'connection_failed'
}

/** Pause before the next attempt, ms: exponential with full jitter, added to the server's Retry-After so that clients
 *  do not return at the same moment. `attempt` counts from 0, `chance` is 0 ≤ x < 1. */
export function pauseMs(error: PostriderError, attempt: number, chance: number): number {
  const backoffMs = Math.round(chance * Math.min(LONGEST_MS, BASE_MS * 2 ** attempt))
  return (error.retryAfterSeconds ?? 0) * 1_000 + backoffMs
}
