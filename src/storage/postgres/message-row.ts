import type { Delivery } from '../../model/delivery.ts'
import { type DeliveryStatus, type Message, messageStatus } from '../../model/message.ts'
import { unpackRecipients } from '../message-rows.ts'

/** Of `messages m`, except its status. */
export const WITHOUT_STATUS = `m.id, m.organization_id as "organizationId", m.domain_id as "domainId",
  m.key_id as "keyId", m.mode, m.source, m.stream, m.sender as "from", m.recipients, m.subject, m.tags, m.metadata,
  m.template_id as "templateId", m.size_bytes::float8 as "sizeBytes", m.message_id_header as "messageIdHeader",
  m.created_at::float8 as "createdAt", m.scheduled_at::float8 as "scheduledAt", m.expires_at::float8 as "expiresAt",
  m.require_tls as "requireTls", m.unsubscribe, m.track_opens as "trackOpens", m.track_clicks as "trackClicks"`

/** Of its deliveries. */
export const STATUSES = `(select string_agg(coalesce(o.status, d.status), ' ') from deliveries d ${lastOutcome('status')}
    where d.message_id = m.id)`
/** Of `messages m`. */
export const MESSAGE_COLUMNS = `${WITHOUT_STATUS}, ${STATUSES} as statuses`

export type MessageRow = Omit<Message, 'status' | 'to' | 'cc' | 'bcc' | 'replyTo' | 'tags' | 'metadata'> & {
  recipients: string
  tags: string
  metadata: string
  /** Of its deliveries, separated by spaces; null = it has none. */
  statuses: string | null
}

export function toMessage({ recipients, tags, metadata, statuses, ...row }: MessageRow): Message {
  return {
    ...row,
    ...unpackRecipients(recipients),
    tags: JSON.parse(tags),
    metadata: JSON.parse(metadata),
    status: messageStatus((statuses?.split(' ') ?? []) as DeliveryStatus[]),
  }
}

/** Status of `messages m`, as model/message.ts messageStatus computes it. */
export const MESSAGE_STATUS = `(select case
      when count(*) = 0 then 'suppressed' when min(status) = max(status) then min(status)
      when bool_or(status = 'deferred') then 'deferred' when bool_or(status = 'queued') then 'queued'
      when bool_or(status = 'scheduled') then 'scheduled' else 'partial' end
    from (select coalesce(o.status, d.status) as status from deliveries d ${lastOutcome('status')}
      where d.message_id = m.id) s)`

/** The state of a delivery: of the outcome `o` if there is one, else as accepted. */
const state = (column: string) => `case when o.delivery_id is null then d.${column} else o.${column} end`

/** Of `deliveries d` with its state, except its attempts. */
const WITHOUT_ATTEMPTS = `d.id, d.message_id as "messageId", d.position, d.email, d.type, d.queue,
  coalesce(o.status, d.status) as status,
  (${state('delivered_at')})::float8 as "deliveredAt", ${state('smtp_response')} as "smtpResponse",
  ${state('bounce_type')} as "bounceType", ${state('bounce_code')} as "bounceCode", o.mx_host as "mxHost", o.tls,
  coalesce(e.opens, 0) as opens, coalesce(e.clicks, 0) as clicks, coalesce(e.machine_opens, 0) as "machineOpens",
  coalesce(e.machine_clicks, 0) as "machineClicks", coalesce(o.soft_bounce_reported, false) as "isSoftBounceReported"`
const ENGAGEMENT = 'left join engagement e on e.delivery_id = d.id'

/** Of `deliveries d` with its state. While a delivery waits, its queue knows its attempts. */
export const DELIVERY_COLUMNS = `${WITHOUT_ATTEMPTS}, coalesce(q.attempts, o.attempts, d.attempts) as attempts,
  (case when q.id is null then ${state('last_attempt_at')} else q.attempted_at end)::float8 as "lastAttemptAt",
  case when q.worker is null then q.due_at end::float8 as "nextAttemptAt"`
export const DELIVERY_STATE = `${lastOutcome('*')} left join delivery_queue q on q.id = d.id ${ENGAGEMENT}`
/** Deliveries $1 that wait, of which $2 have an outcome, except what their queue knows. */
export const WAITING = `select ${WITHOUT_ATTEMPTS} from deliveries d ${ENGAGEMENT}
    ${lastOutcome('*', 'and d.id = any($2::text[])')}
  where d.id = any($1::text[])`

/** A row of DELIVERY_COLUMNS is a Delivery. */
export type DeliveryRow = Delivery
export type WaitingRow = Omit<Delivery, 'attempts' | 'lastAttemptAt' | 'nextAttemptAt'>

/** The last outcome `o` of `deliveries d`. */
function lastOutcome(columns: string, condition = ''): string {
  return `left join lateral (select ${columns} from delivery_outcomes
    where delivery_id = d.id ${condition} order by seq desc limit 1) o on true`
}
