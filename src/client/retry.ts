import type { PostriderError } from './errors.ts'

/** Statuses after which the same request may succeed later. */
const RETRYABLE = [429, 500, 502, 503, 504]
/** Statuses with which the server states that it did not process the request. */
const NOT_PROCESSED = [429, 503]
const BASE_MS = 500
const LONGEST_MS = 8_000

/** True if a request can be retried after this failure. `isRepeatable` means that repeating the request has no further
 *  effect. Other requests can be retried only if the server states that it did not process them. */
export function canRetry({ code, status }: PostriderError, isRepeatable: boolean): boolean {
  if (status !== null) return RETRYABLE.includes(status) && (isRepeatable || NOT_PROCESSED.includes(status))
  return isRepeatable && code === 'connection_failed'
}

/** Pause before the next attempt in ms: the server's Retry-After plus an exponential backoff with full jitter, so that
 *  clients do not all retry at the same moment. `attempt` counts from 0. `chance` is a random number from 0 up to, but
 *  not including, 1. */
export function pauseMs(error: PostriderError, attempt: number, chance: number): number {
  const backoffMs = Math.round(chance * Math.min(LONGEST_MS, BASE_MS * 2 ** attempt))
  return (error.retryAfterSeconds ?? 0) * 1_000 + backoffMs
}
