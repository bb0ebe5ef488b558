import type { Json } from '../kit/api.ts'
import { ago, duration, when } from '../kit/format.ts'

/** Message → where it stands, in one line: for one recipient what happened, for several the number of each status. */
export function outcomeLine(message: Json): string {
  const { recipients } = message
  if (recipients.length === 1) return outcomeOfOne(recipients[0], message)
  const counts = Map.groupBy(recipients as Json[], ({ status }) => status as string)
  return [...counts].map(([status, all]) => `${all.length} ${status}`).join(', ')
}

function outcomeOfOne(recipient: Json, { created_at, scheduled_at }: Json): string {
  const { status, mx_host, delivered_at, next_attempt_at, bounce_type, smtp_response } = recipient
  switch (status) {
    case 'delivered': {
      const ms = Date.parse(delivered_at) - Date.parse(scheduled_at ?? created_at)
      return mx_host === null ? 'Delivered' : `Delivered to ${mx_host} in ${duration(Math.max(0, ms))}`
    }
    case 'bounced':
      return `${bounce_type === 'soft' ? 'Soft' : 'Hard'} bounce: ${smtp_response ?? 'no reply'}`
    case 'deferred':
      return `Deferred, next attempt ${ago(next_attempt_at)}`
    case 'suppressed':
      return 'Not sent: the recipient is suppressed'
    case 'scheduled':
      return `Scheduled for ${when(scheduled_at)}`
    case 'cancelled':
      return 'Cancelled before delivery'
    default:
      return 'Waiting for the first attempt'
  }
}
