import type { WebhookFormat } from '../../model/webhook.ts'
import type { Post } from '../../net/https/requests.ts'
import type { ClaimedWebhookDelivery } from '../../storage/store.ts'
import { postWithHeaders } from './post-with-headers.ts'
import { signEnveloped, signResend } from './sign.ts'
import { type JudgeMeans, judge, type Verdict } from './verdict.ts'

/** Dependencies and settings of an attempt. */
export interface AttemptMeans extends JudgeMeans {
  post: Post
  timeoutMs: number
  userAgent: string
  shapes: Shapes
}

/** Makes the body of a claim in another service's format, the same at each attempt. */
export type Shapes = Record<Exclude<WebhookFormat, 'enveloped'>, (claim: ClaimedWebhookDelivery) => Promise<string>>

/** Result of one attempt and the new state of the delivery. `pauseReason`: also pauses the webhook. */
export interface AttemptVerdict extends Omit<Verdict, 'isGone'> {
  pauseReason: string | null
}

/** Claimed delivery → one signed POST and its verdict (verdict.ts). A 410 pauses the webhook, so that the remaining
 *  attempts wait until it is active again. Rejects only with what `post` throws, which is a bug. */
export async function attemptDelivery(claim: ClaimedWebhookDelivery, means: AttemptMeans): Promise<AttemptVerdict> {
  const { secrets, eventId, format, attempt } = claim
  const body = format === 'enveloped' ? claim.body : await means.shapes[format](claim)
  const at = means.clock.now()
  const sign = format === 'enveloped' ? signEnveloped : signResend
  const headers = { ...sign({ secrets, eventId, body, attempt, now: at }), 'User-Agent': means.userAgent }
  const request = { headers, body, timeoutMs: means.timeoutMs }
  const result = await postWithHeaders(means.post, claim.url, claim.headers, request)
  const { isGone, ...verdict } = judge(claim.attempt, at, result, means)
  return { ...verdict, pauseReason: isGone ? GONE_REASON : null }
}

const GONE_REASON = 'The endpoint returned 410 Gone.'
