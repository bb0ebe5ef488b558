import type { WebhookFormat } from '../model/webhook.ts'
import type { Post } from '../net/https/requests.ts'
import type { ClaimedWebhookDelivery } from '../storage/store.ts'
import { signEnveloped, signResend } from './sign.ts'
import { type JudgeMeans, judge, type Verdict } from './verdict.ts'

/** What an attempt needs of the world and of the settings. */
export interface AttemptMeans extends JudgeMeans {
  post: Post
  timeoutMs: number
  userAgent: string
  shapes: Shapes
}

/** Events in another service's shape: a claim → its body, the same at each attempt. */
export type Shapes = Record<Exclude<WebhookFormat, 'enveloped'>, (claim: ClaimedWebhookDelivery) => Promise<string>>

/** What came of one attempt and what the delivery is now. `pauseReason`: the webhook is to be paused as well. */
export interface AttemptVerdict extends Omit<Verdict, 'isGone'> {
  pauseReason: string | null
}

/** A claimed delivery → one signed POST and what follows from its answer (verdict.ts); 410 pauses the webhook, so that
 *  what is left to try waits until it is active again. Rejects only with what `post` throws, a bug. */
export async function attemptDelivery(claim: ClaimedWebhookDelivery, means: AttemptMeans): Promise<AttemptVerdict> {
  const { secrets, eventId, format, attempt } = claim
  const body = format === 'enveloped' ? claim.body : await means.shapes[format](claim)
  const at = means.clock.now()
  const sign = format === 'enveloped' ? signEnveloped : signResend
  const headers = { ...sign({ secrets, eventId, body, attempt, now: at }), 'User-Agent': means.userAgent }
  const result = await means.post(claim.url, { headers, body, timeoutMs: means.timeoutMs })
  const { isGone, ...verdict } = judge(claim.attempt, at, result, means)
  return { ...verdict, pauseReason: isGone ? GONE_REASON : null }
}

const GONE_REASON = 'The endpoint returned 410 Gone.'
