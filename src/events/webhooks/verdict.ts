import type { PostAttempt } from '../../model/post-attempt.ts'
import type { PostResult } from '../../net/https/requests.ts'
import type { Clock } from '../../os/clock.ts'
import type { Random } from '../../os/random.ts'
import { nextWebhookAttempt } from './schedule.ts'

/** Result of one attempt and the new state of the delivery. `isGone`: the endpoint answered 410. */
export interface Verdict {
  attempt: PostAttempt
  status: 'pending' | 'delivered' | 'failed'
  nextAttemptAt: number | null
  isGone: boolean
}

/** Dependencies and settings of a verdict. */
export interface JudgeMeans {
  clock: Clock
  random: Random
  /** Waits before attempts 2 to 5, in seconds. */
  scheduleSeconds: readonly number[]
}

/** Number and start (ms UTC) of an attempt, and the result of its POST → the verdict.
 *
 *    2xx                  delivered, even if the body does not end
 *    3xx, 4xx, 5xx        failed attempt; redirects are not followed
 *    429, 503             the same, and their Retry-After is honoured
 *    410                  the same, and `isGone`
 *    blocked, no answer   failed attempt without a status code
 *
 *  A failed attempt is retried up to the fifth; after that the delivery is `failed`. Never throws. */
export function judge(number: number, at: number, result: PostResult, means: JudgeMeans): Verdict {
  const answer = result.kind === 'answered' ? result : null
  const statusCode = answer?.status ?? null
  const attempt: PostAttempt = {
    number,
    at,
    durationMs: result.durationMs,
    statusCode,
    error: errorText(result),
    responseExcerpt: answer?.excerpt || null,
  }
  if (statusCode !== null && isSuccess(statusCode)) {
    return { attempt, status: 'delivered', nextAttemptAt: null, isGone: false }
  }
  const nextAttemptAt = nextWebhookAttempt({
    attempt: number,
    now: means.clock.now(),
    scheduleSeconds: means.scheduleSeconds,
    retryAfterSeconds: statusCode === 429 || statusCode === 503 ? answer!.retryAfterSeconds : null,
    random: means.random,
  })
  return { attempt, status: nextAttemptAt === null ? 'failed' : 'pending', nextAttemptAt, isGone: statusCode === GONE }
}

/** Error text of the delivery record; null if the attempt succeeded. */
function errorText(result: PostResult): string | null {
  switch (result.kind) {
    case 'blocked':
      return `blocked: ${result.reason}`
    case 'no_answer':
      return result.error
    case 'answered':
      if (isSuccess(result.status)) return null
      if (result.status >= 300 && result.status < 400) {
        const to = result.location === null ? '' : ` to ${result.location}`
        return `HTTP ${result.status}${to} (redirects are not followed)`
      }
      return `HTTP ${result.status}`
  }
}

const isSuccess = (status: number) => status >= 200 && status < 300

/** RFC 9110 §15.5.11: the endpoint is permanently gone. */
const GONE = 410
