import type { Delivery } from '../../model/delivery.ts'
import type { Message } from '../../model/message.ts'
import { unpackRecipients } from '../message-rows.ts'

export const MESSAGE_COLUMNS = `m.number, m.id, m.organization_id as organizationId, m.domain_id as domainId,
  m.key_id as keyId, m.mode, m.source, m.stream, m.status, m.sender as "from", m.recipients, m.subject, m.tags, m.metadata,
  m.template_id as templateId, m.size_bytes as sizeBytes, m.message_id_header as messageIdHeader,
  m.created_at as createdAt, m.scheduled_at as scheduledAt, m.expires_at as expiresAt, m.require_tls as requireTls,
  m.unsubscribe, m.track_opens as trackOpens, m.track_clicks as trackClicks`

export type MessageRow = Omit<Message, Packed> & {
  number: number
  recipients: string
  tags: string
  metadata: string
  requireTls: number
  unsubscribe: number
  trackOpens: number
  trackClicks: number
}
type Packed = 'to' | 'cc' | 'bcc' | 'replyTo' | 'tags' | 'metadata' | Flags
type Flags = 'requireTls' | 'unsubscribe' | 'trackOpens' | 'trackClicks'

export function toMessage(row: MessageRow): Message {
  return {
    id: row.id,
    organizationId: row.organizationId,
    domainId: row.domainId,
    keyId: row.keyId,
    mode: row.mode,
    source: row.source,
    stream: row.stream,
    status: row.status,
    from: row.from,
    ...unpackRecipients(row.recipients),
    subject: row.subject,
    tags: JSON.parse(row.tags),
    metadata: JSON.parse(row.metadata),
    templateId: row.templateId,
    sizeBytes: row.sizeBytes,
    messageIdHeader: row.messageIdHeader,
    createdAt: row.createdAt,
    scheduledAt: row.scheduledAt,
    expiresAt: row.expiresAt,
    requireTls: row.requireTls === 1,
    unsubscribe: row.unsubscribe === 1,
    trackOpens: row.trackOpens === 1,
    trackClicks: row.trackClicks === 1,
  }
}

export const DELIVERY_COLUMNS = `d.number, d.id, m.id as messageId, d.position, d.email, d.type, d.queue, d.status,
  d.attempts, d.last_attempt_at as lastAttemptAt, d.next_attempt_at as nextAttemptAt, d.worker,
  d.delivered_at as deliveredAt, d.smtp_response as smtpResponse, d.bounce_type as bounceType,
  d.bounce_code as bounceCode, d.mx_host as mxHost, d.tls, d.opens, d.clicks,
  d.machine_opens as machineOpens, d.machine_clicks as machineClicks,
  d.soft_bounce_told as isSoftBounceReported`

export type DeliveryRow = Omit<Delivery, 'isSoftBounceReported'> & {
  number: number
  worker: string | null
  isSoftBounceReported: number
}

/** Table row → Delivery. While an attempt is in progress, nextAttemptAt is null. */
export function toDelivery({ number: _, worker, isSoftBounceReported, ...row }: DeliveryRow): Delivery {
  return {
    ...row,
    nextAttemptAt: worker === null ? row.nextAttemptAt : null,
    isSoftBounceReported: isSoftBounceReported === 1,
  }
}
