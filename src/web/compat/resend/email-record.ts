import type { Wire } from '../external-api.ts'

/** Our message → Resend's record without content. */
export function headOf(message: Wire, isComplaint: boolean) {
  return {
    id: message.id,
    message_id: message.message_id_header,
    from: message.from,
    to: listOf(message.to) ?? [],
    cc: listOf(message.cc),
    bcc: listOf(message.bcc),
    reply_to: listOf(message.reply_to),
    subject: message.subject,
    created_at: message.created_at,
    scheduled_at: message.scheduled_at,
    last_event: isComplaint ? 'complained' : lastEvent(message),
  }
}

const listOf = (addresses: string | string[] | null) => (typeof addresses === 'string' ? [addresses] : addresses)

/** Last event: the furthest state that any recipient has reached. */
function lastEvent({ status, recipients }: Wire): string {
  if (recipients.some(({ clicks }: Wire) => clicks > 0)) return 'clicked'
  if (recipients.some(({ opens }: Wire) => opens > 0)) return 'opened'
  if (status !== 'partial') return LAST_EVENTS[status] ?? status
  return recipients.some((recipient: Wire) => recipient.status === 'bounced') ? 'bounced' : 'delivered'
}

const LAST_EVENTS: Record<string, string> = {
  scheduled: 'scheduled',
  queued: 'queued',
  deferred: 'delivery_delayed',
  delivered: 'delivered',
  bounced: 'bounced',
  suppressed: 'suppressed',
  cancelled: 'canceled',
}
