import { Refusal, type RefusalReason } from '../../model/refusal.ts'
import { replyText, SmtpReply } from '../smtp-server/reply.ts'

/** All replies of the submission handler; the listener has its own. With 4yz the author's mail server retries by
 *  itself; with 5yz the author is notified at once. 4yz is for conditions that pass within a few days. */

/** RFC 4954 §6. The same reply for an unknown, revoked, expired or address-restricted key, as in the API. */
export const wrongPassword = () => new SmtpReply(535, '5.7.8', 'password is not a valid API key')

/** The password is correct, but no key of this user may send. */
export const mayNotSend = () => new SmtpReply(535, '5.7.8', 'API key lacks the send permission')

/** No login, or the key has ended since. RFC 4954 §6 */
export const loginNeeded = () => new SmtpReply(530, '5.7.0', 'authenticate with a valid API key first')

/** The author's mail server retries by itself. RFC 3463 §3.8 */
export const tooFast = (limit: number, resetSeconds: number) =>
  new SmtpReply(
    451,
    '4.7.1',
    `rate limit of ${limit} requests per minute exceeded, try again in ${resetSeconds} seconds`,
  )

/** A recipient address that cannot receive mail. RFC 3463 §3.2 */
export const notAnAddress = () =>
  new SmtpReply(553, '5.1.3', 'invalid recipient, expected an address such as ann@example.com')

/** RFC 5321 §6.3 */
export const loopDetected = () => new SmtpReply(554, '5.4.6', 'mail loop detected: too many Received fields')

/** Text after `250 2.0.0 `. */
export const queued = (messageId: string) => `queued as ${messageId}`

/** Error thrown by submission → the SMTP reply. Returns anything but a Refusal unchanged: the listener handles bugs and
 *  a store that cannot write. */
export function replyTo(thrown: unknown): unknown {
  if (!(thrown instanceof Refusal)) return thrown
  const isPassing = thrown.details?.reason === 'request_in_progress'
  const isFull = thrown.reason === 'quota_exceeded' && thrown.details?.limit_name === 'stored_bytes'
  const [code, enhanced] = isPassing ? IN_PROGRESS : isFull ? STORAGE_FULL : REPLY_OF[thrown.reason]
  return new SmtpReply(code, enhanced, replyText(textOf(thrown)))
}

const IN_PROGRESS = [451, '4.5.0'] as const
/** Retention frees space every day, so a later attempt succeeds. */
const STORAGE_FULL = [452, '4.3.1'] as const

/** RFC 3463. `quota_exceeded` is permanent because a month outlasts every mail queue and the author should learn of it
 *  today. */
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
  request_timeout: [451, '4.4.2'],
  rate_limited: [451, '4.7.1'],
  unavailable: [451, '4.3.0'],
  internal_error: [451, '4.3.0'],
}

/** Lists all faults, as the API does. */
function textOf({ message, faults }: Refusal): string {
  return faults !== undefined && faults.length > 1 ? faults.map((fault) => fault.message).join('; ') : message
}
