import type { PostriderError } from './errors.ts'

/** Statuses after which the same request may go well (interface.md "Retry rules for clients"). */
const RETRYABLE = [429, 500, 502, 503, 504]
/** The server says itself that it did nothing. */
const UNSUPPORTED = [429, 503]
const BASE_MS = 500
const LONGEST_MS = 8_000

/** A failure → may the request go out again. `isRepeatable`: doing it twice is doing it once. Others go again only when
 *  the server said that it did nothing; after a broken connection nobody knows. */
export function mayGoAgain({ code, status }: PostriderError, isRepeatable: boolean): boolean {
  if (status !== null) return RETRYABLE.includes(status) && (isRepeatable || UNSUPPORTED.includes(status))
  return isRepeatable && code === 'connection_failed'
}

/** The wait before the next attempt, ms: exponential with full jitter; on top of what the server asks for, so that not
 *  all come back in the same instant. `attempt` counts from 0, `chance` is 0 ≤ x < 1. */
export function pauseMs(error: PostriderError, attempt: number, chance: number): number {
  const backoffMs = Math.round(chance * Math.min(LONGEST_MS, BASE_MS * 2 ** attempt))
  return (error.retryAfterSeconds ?? 0) * 1_000 + backoffMs
}
