import { Refusal, type RefusalReason } from '../model/refusal.ts'
import { replyText, SmtpReply } from '../smtp-server/reply.ts'

/** Every answer of the submission door but the listener's own. A 4yz asks the author's mail system to come back by
 *  itself, a 5yz goes to the author at once: only what passes within its patience of some days is a 4yz. */

/** RFC 4954 §6. One answer for a key that is unknown, revoked, expired or not to be used from there, as the API has it. */
export const wrongPassword = () => new SmtpReply(535, '5.7.8', 'the password is not a valid API key')

/** The password is right, and no password of this user would do more. */
export const mayNotSend = () => new SmtpReply(535, '5.7.8', 'this key lacks the permission send')

/** RFC 4954 §6: nobody logged in, or the key ended since. */
export const loginNeeded = () => new SmtpReply(530, '5.7.0', 'log in with a valid API key first')

/** RFC 3463 §3.8; the author's mail system comes back by itself. */
export const tooFast = (limit: number, resetSeconds: number) =>
  new SmtpReply(451, '4.7.1', `more than ${limit} requests a minute, try again in ${resetSeconds} seconds`)

/** RFC 3463 §3.2: a recipient we could not write to. */
export const notAnAddress = () =>
  new SmtpReply(553, '5.1.3', 'the recipient must be one address such as ann@example.com')

/** RFC 5321 §6.3. */
export const loopDetected = () => new SmtpReply(554, '5.4.6', 'mail loop detected: too many Received headers')

/** Text behind `250 2.0.0 `. */
export const queued = (messageId: string) => `queued as ${messageId}`

/** What submission threw → the reply to speak; anything but a Refusal → itself: a store that cannot write and bugs are
 *  the listener's to tell. */
export function replyTo(thrown: unknown): unknown {
  if (!(thrown instanceof Refusal)) return thrown
  const isPassing = thrown.details?.reason === 'request_in_progress'
  const isFull = thrown.reason === 'quota_exceeded' && thrown.details?.limit_name === 'stored_bytes'
  const [code, enhanced] = isPassing ? IN_PROGRESS : isFull ? STORAGE_FULL : REPLY_OF[thrown.reason]
  return new SmtpReply(code, enhanced, replyText(textOf(thrown)))
}

const IN_PROGRESS = [451, '4.5.0'] as const
/** Retention removes something every day: a program that tries again gets its mail in. */
const STORAGE_FULL = [452, '4.3.1'] as const

/** RFC 3463; `quota_exceeded` is final because a month outlasts every queue: the author should know today. */
const REPLY_OF: Record<RefusalReason, readonly [code: number, enhanced: string]> = {
  validation_error: [550, '5.6.0'],
  template_error: [550, '5.6.0'],
  unauthorized: [530, '5.7.0'],
  forbidden: [550, '5.7.1'],
  domain_not_verified: [550, '5.7.1'],
  quota_exceeded: [550, '5.7.1'],
  payload_too_large: [552, '5.3.4'],
  conflict: [550, '5.5.0'],
  invalid_state: [550, '5.5.0'],
  not_found: [550, '5.5.0'],
  method_not_allowed: [550, '5.5.0'],
  rate_limited: [451, '4.7.1'],
  unavailable: [451, '4.3.0'],
  internal_error: [451, '4.3.0'],
}

/** Of several faults each is told, as the API does. */
function textOf({ message, faults }: Refusal): string {
  return faults !== undefined && faults.length > 1 ? faults.map((fault) => fault.message).join('; ') : message
}
