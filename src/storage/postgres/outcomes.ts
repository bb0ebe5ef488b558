import type { Attempt, Delivery } from '../../model/delivery.ts'
import type { DeliveryStatus, Message } from '../../model/message.ts'
import { insertInto } from './insert.ts'
import type { Statements } from './transactions.ts'

/** The state of a delivery after something happened to it. */
export interface OutcomeRow
  extends Pick<
    Delivery,
    | 'status'
    | 'attempts'
    | 'lastAttemptAt'
    | 'deliveredAt'
    | 'smtpResponse'
    | 'bounceType'
    | 'bounceCode'
    | 'mxHost'
    | 'tls'
    | 'isSoftBounceReported'
  > {
  deliveryId: string
  /** 1 for the first outcome of a delivery. */
  seq: number
  organizationId: string
  /** Null = not an attempt. */
  attempt: Attempt | null
}

export const addOutcomeRows = insertInto<OutcomeRow>('delivery_outcomes', {
  delivery_id: ['text', ({ deliveryId }) => deliveryId],
  seq: ['int', ({ seq }) => seq],
  organization_id: ['text', ({ organizationId }) => organizationId],
  status: ['text', ({ status }) => status],
  attempts: ['int', ({ attempts }) => attempts],
  last_attempt_at: ['bigint', ({ lastAttemptAt }) => lastAttemptAt],
  delivered_at: ['bigint', ({ deliveredAt }) => deliveredAt],
  smtp_response: ['text', ({ smtpResponse }) => smtpResponse],
  bounce_type: ['text', ({ bounceType }) => bounceType],
  bounce_code: ['text', ({ bounceCode }) => bounceCode],
  mx_host: ['text', ({ mxHost }) => mxHost],
  tls: ['text', ({ tls }) => tls],
  soft_bounce_reported: ['boolean', ({ isSoftBounceReported }) => isSoftBounceReported],
  attempt: ['text', ({ attempt }) => (attempt === null ? null : JSON.stringify(attempt))],
})

/** A delivery of a message ended with this status. */
export interface Mark {
  message: Pick<Message, 'id' | 'organizationId'>
  status: DeliveryStatus
  isOnlyRecipient: boolean
}

const insertMarks = insertInto<{ organizationId: string; mark: string; messageId: string }>(
  'message_marks',
  {
    organization_id: ['text', ({ organizationId }) => organizationId],
    mark: ['text', ({ mark }) => mark],
    message_id: ['text', ({ messageId }) => messageId],
  },
  'on conflict do nothing',
)

/** Writes the marks by which a list finds messages by status: for `partial` those of which not everything was
 *  delivered. Delivered messages get none. */
export function addMarks(statements: Statements, marks: readonly Mark[]): Promise<number> {
  const rows = marks
    .filter(({ status }) => status !== 'delivered')
    .flatMap(({ message: { id, organizationId }, status, isOnlyRecipient }) =>
      [status, ...(isOnlyRecipient ? [] : ['partial'])].map((mark) => ({ organizationId, mark, messageId: id })),
    )
  return insertMarks(statements, rows)
}

/** Opens and clicks to add to those of a delivery. */
export interface Engaged {
  deliveryId: string
  organizationId: string
  opens: number
  clicks: number
  machineOpens?: number
  machineClicks?: number
  unsubscribedAt?: number
}

/** Adds to the opens and clicks of deliveries, each at most once in `rows`. */
export const addEngagement = insertInto<Engaged>(
  'engagement as present',
  {
    delivery_id: ['text', ({ deliveryId }) => deliveryId],
    organization_id: ['text', ({ organizationId }) => organizationId],
    opens: ['int', ({ opens }) => opens],
    clicks: ['int', ({ clicks }) => clicks],
    machine_opens: ['int', ({ machineOpens = 0 }) => machineOpens],
    machine_clicks: ['int', ({ machineClicks = 0 }) => machineClicks],
    unsubscribed_at: ['bigint', ({ unsubscribedAt = null }: { unsubscribedAt?: number | null }) => unsubscribedAt],
  },
  `on conflict (delivery_id) do update set opens = present.opens + excluded.opens,
    clicks = present.clicks + excluded.clicks, machine_opens = present.machine_opens + excluded.machine_opens,
    machine_clicks = present.machine_clicks + excluded.machine_clicks,
    unsubscribed_at = coalesce(excluded.unsubscribed_at, present.unsubscribed_at)`,
)
