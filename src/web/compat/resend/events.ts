import { EVENT_FACTS, EVENT_TYPES, type EventType } from '../../../model/event-types.ts'
import type { Message } from '../../../model/message.ts'
import type { Wire } from '../external-api.ts'
import { receivedAttachment } from './received.ts'
import { ORIGINS } from './suppressions.ts'

/** Resend's names of events → ours. Contact events have no equivalent, nor do our events of other types. */
const OURS = new Map(
  EVENT_TYPES.flatMap((ours) => {
    const { resend } = EVENT_FACTS[ours]
    return resend === undefined ? [] : [[resend, ours] as const]
  }),
)

export const RESEND_EVENTS = [...OURS.keys()]

/** Our event name → Resend's, or unchanged if Resend has none. */
export function resendEvent(type: EventType): string {
  return EVENT_FACTS[type].resend ?? type
}

/** Resend's event name → ours. */
export function ourEvent(name: string): EventType {
  return OURS.get(name)!
}

/** Our envelope, and its message if it still exists → body in Resend's format, identical on each attempt. `to` is the
 *  affected recipient. */
export function resendBody(envelope: string, message: Message | null): string {
  const { type, timestamp, data } = JSON.parse(envelope) as { type: EventType; timestamp: string; data: Wire }
  const { resend } = EVENT_FACTS[type]
  if (resend === undefined) return JSON.stringify({ type, created_at: timestamp, data })
  const other = otherData(type, data)
  if (other !== null) return JSON.stringify({ type: resend, created_at: timestamp, data: other })
  const tags = Object.entries(data.metadata ?? {}).map(([name, value]) => [name, String(value)])
  const general = {
    email_id: data.message_id,
    message_id: message?.messageIdHeader ?? '',
    created_at: message === null ? timestamp : new Date(message.createdAt).toISOString(),
    from: data.from,
    to: [data.to],
    subject: data.subject,
    ...(message?.templateId && { template_id: message.templateId }),
    ...(tags.length > 0 && { tags: Object.fromEntries(tags) }),
  }
  const name = type === 'message.accepted' && data.scheduled_at !== null ? 'email.scheduled' : resend
  return JSON.stringify({ type: name, created_at: timestamp, data: { ...general, ...ownFields(type, data) } })
}

/** Data of an event that is about no message that was sent; null for the others. */
function otherData(type: EventType, data: Wire): object | null {
  if (type === 'suppression.added' || type === 'suppression.removed') {
    const { suppression_id: id, email, reason, message_id } = data
    return { id, email, origin: ORIGINS[reason], source_id: message_id, created_at: data.added_at ?? data.removed_at }
  }
  if (type !== 'inbound.received') return null
  return {
    email_id: data.inbound_message_id,
    created_at: data.received_at,
    from: data.from,
    to: data.to,
    cc: [],
    bcc: [],
    received_for: data.to,
    message_id: data.message_id_header,
    subject: data.subject,
    attachments: data.attachments.map(receivedAttachment),
  }
}

function ownFields(type: EventType, data: Wire): object {
  if (type === 'message.bounced') return { bounce: bounceOf(data) }
  if (type === 'message.suppressed') return { suppressed: suppressedOf(data) }
  if (type !== 'message.clicked') return {}
  const { url, clicked_at, ip_address, user_agent } = data
  return { click: { ipAddress: ip_address, link: url, timestamp: clicked_at, userAgent: user_agent } }
}

/** The type is that of Amazon SES, which Resend passes on. */
function suppressedOf({ reason }: Wire) {
  return { type: 'OnAccountSuppressionList', message: `The recipient is suppressed: ${reason}.` }
}

/** Type and subtype are those of Amazon SES, which Resend passes on. Our first soft bounce of a temporarily full
 *  mailbox is also `Transient`, and `email.delivered` may follow. */
function bounceOf({ bounce_type, bounce_code, bounce_message }: Wire) {
  const subType =
    bounce_type === 'hard' ? 'General' : (SUBTYPES.find(([code]) => code.test(bounce_code))?.[1] ?? 'General')
  return { type: bounce_type === 'hard' ? 'Permanent' : 'Transient', subType, message: bounce_message }
}

/** Enhanced status code (RFC 3463) → subtype. */
const SUBTYPES: [RegExp, string][] = [
  [/^[45]\.2\.2$/, 'MailboxFull'],
  [/^[45]\.3\.4$/, 'MessageTooLarge'],
  [/^[45]\.6\./, 'ContentRejected'],
]
