import type { WebhookAttempt, WebhookDeliveryStatus } from '../model/webhook.ts'
import type { Clock } from '../platform/clock.ts'
import type { Post, PostResult } from '../platform/fetch-public.ts'
import type { Random } from '../platform/random.ts'
import type { ClaimedWebhookDelivery } from '../storage/store.ts'
import { nextWebhookAttempt } from './schedule.ts'
import { signEnveloped } from './sign.ts'

/** What an attempt needs of the world and of the settings. */
export interface AttemptMeans {
  post: Post
  clock: Clock
  random: Random
  ladderSeconds: readonly number[]
  timeoutMs: number
  userAgent: string
}

/** What came of one attempt and what the delivery is now. `pauseReason`: the webhook is to be paused as well. */
export interface AttemptVerdict {
  attempt: WebhookAttempt
  status: WebhookDeliveryStatus
  nextAttemptAt: number | null
  pauseReason: string | null
}

/** A claimed delivery → one signed POST and what follows from its answer. Rejects only with what `post` throws, a bug.
 *
 *    2xx                  delivered
 *    3xx, 4xx, 5xx        failed attempt; redirects are not followed
 *    429, 503             the same, and their Retry-After is honoured
 *    410                  the same, and the webhook is paused: what is left to try waits until it is active again
 *    blocked, no answer   failed attempt without a status code
 *
 *  A failed attempt is tried again until the fifth; the delivery is `failed` after that. */
export async function attemptDelivery(claim: ClaimedWebhookDelivery, means: AttemptMeans): Promise<AttemptVerdict> {
  const { secrets, eventId, body } = claim
  const at = means.clock.now()
  const signed = signEnveloped({ secrets, eventId, body, attempt: claim.attempt, now: at })
  const headers = { ...signed, 'User-Agent': means.userAgent }
  const result = await means.post(claim.url, { headers, body, timeoutMs: means.timeoutMs })
  return judge(claim.attempt, at, result, means)
}

function judge(number: number, at: number, result: PostResult, means: AttemptMeans): AttemptVerdict {
  const answer = result.kind === 'answered' ? result : null
  const statusCode = answer?.status ?? null
  const attempt: WebhookAttempt = {
    number,
    at,
    durationMs: result.durationMs,
    statusCode,
    error: errorText(result),
    responseExcerpt: answer?.excerpt || null,
  }
  if (statusCode !== null && isSuccess(statusCode)) {
    return { attempt, status: 'delivered', nextAttemptAt: null, pauseReason: null }
  }
  const nextAttemptAt = nextWebhookAttempt({
    attempt: number,
    now: means.clock.now(),
    ladderSeconds: means.ladderSeconds,
    retryAfterSeconds: statusCode === 429 || statusCode === 503 ? answer!.retryAfterSeconds : null,
    random: means.random,
  })
  const status = nextAttemptAt === null ? 'failed' : 'pending'
  return { attempt, status, nextAttemptAt, pauseReason: statusCode === GONE ? GONE_REASON : null }
}

/** The words of the delivery record; null when the attempt succeeded. */
function errorText(result: PostResult): string | null {
  switch (result.kind) {
    case 'blocked':
      return `blocked: ${result.reason}`
    case 'no_answer':
      return result.error
    case 'answered':
      if (isSuccess(result.status)) return null
      if (result.status >= 300 && result.status < 400) return `answered ${result.status}, redirects are not followed`
      return `answered ${result.status}`
  }
}

const isSuccess = (status: number) => status >= 200 && status < 300

/** RFC 9110 §15.5.11: the owner says that the address is not coming back. */
const GONE = 410
const GONE_REASON = 'the endpoint answered 410 Gone'
