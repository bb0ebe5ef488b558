import type { BounceClass } from '../../../../mail/bounce-rules.ts'
import type { Json } from '../kit/api.ts'
import { ago, duration, when } from '../kit/format.ts'

/** Message → where it stands, in one line: for one recipient the address and what happened, for several the number of each
 *  status. `cause` is the class of the last reply, if it is known. */
export function outcomeLine(message: Json, cause?: string | null): string {
  const { recipients } = message
  if (recipients.length === 1) {
    const [{ email }] = recipients
    return [email, outcomeOf(recipients[0], message, cause)].filter(Boolean).join(' · ')
  }
  const counts = Map.groupBy(recipients as Json[], ({ status }) => status as string)
  return [...counts].map(([status, all]) => `${all.length} ${status}`).join(', ')
}

/** A recipient of a message → what happened, in a few words, beside a chip with the status: the cause of a bounce, the time
 *  of the next attempt. '' if the status says it all. */
export function outcomeOf(recipient: Json, { created_at, scheduled_at }: Json, cause?: string | null): string {
  const { status, mx_host, delivered_at, next_attempt_at } = recipient
  switch (status) {
    case 'delivered': {
      const ms = Date.parse(delivered_at) - Date.parse(scheduled_at ?? created_at)
      return mx_host === null ? '' : `${mx_host} in ${duration(Math.max(0, ms))}`
    }
    case 'bounced':
      return causeOf(recipient, cause)
    case 'deferred':
      return `Retry ${ago(next_attempt_at)}`
    case 'suppressed':
      return 'Not sent'
    case 'scheduled':
      return `For ${when(scheduled_at)}`
    case 'queued':
      return 'Waiting for the first attempt'
    default:
      return ''
  }
}

/** A bounced recipient → the cause in words. Lists have no class of the reply, only its enhanced status code (RFC 3463); a
 *  code that says little leaves the reply itself. */
function causeOf({ bounce_code, smtp_response }: Json, cause?: string | null): string {
  const known = cause && cause !== 'unknown' ? CAUSES[cause] : CODES[String(bounce_code).slice(2)]
  return known ?? smtp_response?.replace(REPLY_CODES, '') ?? 'No reply'
}

/** `550 5.7.1 `, and `554 30 ` of Yahoo, whose second code has two digits. */
const REPLY_CODES = /^\d{3}[ -](?:\d\.\d+\.\d+ |\d\d )?/

/** Labels of bounce classes (mail/bounce-class.ts). */
export const CAUSES: Record<string, string> = {
  no_mailbox: 'Mailbox does not exist',
  no_domain: 'Domain does not exist',
  mailbox_full: 'Mailbox is full',
  mailbox_disabled: 'Mailbox is disabled',
  policy: 'Blocked by policy',
  reputation: 'Blocked: reputation',
  content: 'Content rejected',
  authentication: 'Sender not authenticated',
  rate: 'Rate limited',
  greylist: 'Greylisted',
  size: 'Message too large',
  network: 'Network error',
  system: 'Receiving system error',
  tls: 'TLS error',
  protocol: 'Protocol error',
  unknown: 'Rejected without a known reason',
} satisfies Record<BounceClass, string>

/** Subject and detail of an enhanced status code whose meaning is clear. */
const CODES: Record<string, string> = {
  '1.1': 'Mailbox does not exist',
  '1.2': 'Domain does not exist',
  '1.10': 'Domain accepts no mail',
  '2.1': 'Mailbox is disabled',
  '2.2': 'Mailbox is full',
  '2.3': 'Message too large',
  '3.4': 'Message too large',
  '4.7': 'Not delivered in time',
  '7.23': 'Sender not authenticated',
  '7.25': 'Sender not authenticated',
  '7.26': 'Sender not authenticated',
}
