import type { EventType } from './event.ts'
import { iso } from './event.ts'

/** Event type and time → the `data` of a sample event: every field of a real one, and `test: true`. The addresses
 *  are reserved for examples (RFC 2606, RFC 5737). */
export function sampleData(type: EventType, at: number): Record<string, unknown> {
  const general = type.startsWith('message.') ? GENERAL : {}
  return { ...general, ...fieldsOf(type, iso(at), at), test: true }
}

const GENERAL = {
  message_id: 'msg_00000000000000000000000000',
  from: 'Example <hello@example.com>',
  to: 'recipient@example.net',
  subject: 'A sample message',
  metadata: { order: '1001' },
  tags: ['sample'],
  mode: 'test',
}

const SAMPLE_DOMAIN = { domain_id: 'dom_00000000000000000000000000', domain: 'example.com' }

const SUPPRESSION = {
  suppression_id: 'sup_00000000000000000000000000',
  email: 'recipient@example.net',
  reason: 'hard_bounce',
  domain_id: null,
  stream: null,
  message_id: 'msg_00000000000000000000000000',
  mode: 'test',
}

const INBOUND = {
  inbound_message_id: 'inb_00000000000000000000000000',
  route_id: 'rte_00000000000000000000000000',
  domain_id: 'dom_00000000000000000000000000',
  from: 'sender@example.net',
  to: ['support@example.com'],
  subject: 'A sample message',
  message_id_header: '<sample@example.net>',
  size_bytes: 24_576,
  spf_result: 'pass',
  dkim_result: 'pass',
  dmarc_result: 'pass',
  attachments: [{ filename: 'photo.png', content_type: 'image/png', size: 16_384, content_id: null }],
  attachment_count: 1,
}

const READER = { user_agent: 'Mozilla/5.0 (sample)', ip_address: '192.0.2.1' }

function fieldsOf(type: EventType, time: string, at: number): Record<string, unknown> {
  switch (type) {
    case 'message.delivered':
      return { delivered_at: time, smtp_response: '250 2.0.0 OK' }
    case 'message.bounced':
      return {
        bounce_type: 'hard',
        bounce_code: '5.1.1',
        bounce_message: '550 5.1.1 no such mailbox',
        bounced_at: time,
        will_retry: false,
      }
    case 'message.deferred':
      return {
        deferred_at: time,
        attempt: 1,
        next_attempt_at: iso(at + 300_000),
        smtp_response: '451 4.7.1 try again later',
      }
    case 'message.opened':
      return { opened_at: time, ...READER, machine: false }
    case 'message.clicked':
      return { clicked_at: time, url: 'https://example.com/welcome', ...READER, machine: false }
    case 'message.unsubscribed':
      return { unsubscribed_at: time, method: 'one_click', ...READER }
    case 'message.complained':
      return { complained_at: time, feedback_type: 'abuse' }
    case 'message.suppressed':
      return { suppressed_at: time, reason: 'hard_bounce', suppression_stream: null }
    case 'message.accepted':
      return { accepted_at: time, scheduled_at: null }
    case 'message.cancelled':
      return { cancelled_at: time }
    case 'message.expired':
      return { expired_at: time }
    case 'inbound.received':
      return { ...INBOUND, received_at: time }
    case 'domain.verified':
      return { ...SAMPLE_DOMAIN, verified_at: time, proved_by: 'dkim' }
    case 'domain.failed':
      return { ...SAMPLE_DOMAIN, failed_at: time, reason: 'proof_lost' }
    case 'webhook.paused':
      return {
        webhook_id: 'whk_00000000000000000000000000',
        url: 'https://hooks.example.com',
        reason: 'The endpoint returned 410.',
        mode: 'test',
        paused_at: time,
      }
    case 'suppression.added':
      return { ...SUPPRESSION, added_at: time }
    case 'suppression.removed':
      return { ...SUPPRESSION, removed_at: time }
    case 'quality.alert':
      return {
        alert_id: 'alr_00000000000000000000000000',
        ...SAMPLE_DOMAIN,
        metric: 'bounce_rate',
        value: 0.08,
        threshold: 0.05,
        window_hours: 24,
        sent: 1000,
        affected: 80,
        state: 'firing',
        triggered_at: time,
      }
  }
}
