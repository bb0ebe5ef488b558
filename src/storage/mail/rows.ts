import type { Delivery } from '../../model/delivery.ts'
import type { Message } from '../../model/message.ts'
import { unpackRecipients } from '../message-rows.ts'

/** Of `deliveries d`. */
export const DELIVERY_COLUMNS = `d.number::float8 as number, d.id, d.message_number::float8 as "messageNumber", d.position,
  d.email, d.type, d.queue, d.status, d.attempts, d.last_attempt_at::float8 as "lastAttemptAt",
  d.next_attempt_at::float8 as "nextAttemptAt", d.worker, d.delivered_at::float8 as "deliveredAt",
  d.smtp_response as "smtpResponse", d.bounce_type as "bounceType", d.bounce_code as "bounceCode",
  d.mx_host as "mxHost", d.tls, d.opens, d.clicks, d.machine_opens as "machineOpens",
  d.machine_clicks as "machineClicks", d.soft_bounce_told::boolean as "isSoftBounceReported"`
/** Of `deliveries d`: no other delivery belongs to its message. */
export const IS_ONLY_RECIPIENT = `not exists (
    select 1 from deliveries o where o.message_number = d.message_number and o.position = 1)::boolean as "isOnlyRecipient"`
/** Of `messages m`. */
export const MESSAGE_COLUMNS = `m.id as "messageId", m.organization_id as "organizationId", m.domain_id as "domainId",
  m.key_id as "keyId", m.mode, m.source, m.stream, m.status as "messageStatus", m.sender as "from", m.recipients,
  m.subject, m.tags as "packedTags", m.metadata as "packedMetadata", m.template_id as "templateId",
  m.size_bytes::float8 as "sizeBytes", m.message_id_header as "messageIdHeader", m.created_at::float8 as "createdAt",
  m.scheduled_at::float8 as "scheduledAt", m.expires_at::float8 as "expiresAt",
  m.require_tls::boolean as "requireTls", m.unsubscribe::boolean as "unsubscribe",
  m.track_opens::boolean as "trackOpens", m.track_clicks::boolean as "trackClicks"`

/** A row of DELIVERY_COLUMNS and MESSAGE_COLUMNS. */
export interface DeliveryRow extends Delivery {
  number: number
  messageNumber: number
  /** Null: nobody attempts it. */
  worker: string | null
}

/** A row of MESSAGE_COLUMNS. */
export interface MessageRow extends Omit<Message, Packed | 'id' | 'status'> {
  messageId: string
  messageStatus: Message['status']
  recipients: string
  packedTags: string
  packedMetadata: string
}
type Packed = 'to' | 'cc' | 'bcc' | 'replyTo' | 'replies' | 'tags' | 'metadata'

/** While an attempt is in progress, nextAttemptAt is null. */
export function deliveryOf(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    messageId: row.messageId,
    position: row.position,
    email: row.email,
    type: row.type,
    queue: row.queue,
    status: row.status,
    attempts: row.attempts,
    lastAttemptAt: row.lastAttemptAt,
    nextAttemptAt: row.worker === null ? row.nextAttemptAt : null,
    deliveredAt: row.deliveredAt,
    smtpResponse: row.smtpResponse,
    bounceType: row.bounceType,
    bounceCode: row.bounceCode,
    mxHost: row.mxHost,
    tls: row.tls,
    opens: row.opens,
    clicks: row.clicks,
    machineOpens: row.machineOpens,
    machineClicks: row.machineClicks,
    isSoftBounceReported: row.isSoftBounceReported,
  }
}

export function messageOf(row: MessageRow): Message {
  return {
    id: row.messageId,
    organizationId: row.organizationId,
    domainId: row.domainId,
    keyId: row.keyId,
    mode: row.mode,
    source: row.source,
    stream: row.stream,
    status: row.messageStatus,
    from: row.from,
    ...unpackRecipients(row.recipients),
    subject: row.subject,
    tags: JSON.parse(row.packedTags),
    metadata: JSON.parse(row.packedMetadata),
    templateId: row.templateId,
    sizeBytes: row.sizeBytes,
    messageIdHeader: row.messageIdHeader,
    createdAt: row.createdAt,
    scheduledAt: row.scheduledAt,
    expiresAt: row.expiresAt,
    requireTls: row.requireTls,
    unsubscribe: row.unsubscribe,
    trackOpens: row.trackOpens,
    trackClicks: row.trackClicks,
  }
}
