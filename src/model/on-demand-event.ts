import { createHash } from 'node:crypto'
import { derivedId, firstId } from '../os/ids.ts'
import type { Domain } from './domain.ts'
import {
  createEvent,
  type Event,
  iso,
  type MessageFacts,
  type OnDemandEventType,
  recipientData,
  WHOLE_ORGANIZATION,
} from './event.ts'
import type { InboundAttachments, InboundMessage } from './inbound-message.ts'
import type { Message } from './message.ts'
import type { Suppression } from './suppression.ts'
import type { Webhook } from './webhook.ts'

/** An event that is written only if an active webhook receives it, so its body is created only then. */
export interface OnDemandEvent extends Omit<Event, 'id' | 'body'> {
  type: OnDemandEventType
  /** With the type, identifies what happened: the event's ID follows from it, so writing it twice is harmless. */
  cause: string
  data(): Record<string, unknown>
}

/** → The event with its ID and body. */
export function eventOf({ cause, data, ...event }: OnDemandEvent): Event {
  const digest = createHash('sha256').update(`${event.type} ${cause}`).digest()
  return createEvent({ ...event, id: derivedId('evt', firstId('evt', event.createdAt), digest) }, data())
}

interface Recipient {
  /** ID of the delivery. */
  id: string
  email: string
}

/** Accepted message and one of its deliveries → the event at the time of acceptance. */
export function acceptedEvent(
  message: MessageFacts & Pick<Message, 'createdAt' | 'scheduledAt'>,
  recipient: Recipient,
): OnDemandEvent {
  const { createdAt, scheduledAt } = message
  return ofRecipient('message.accepted', message, recipient, createdAt, () => ({
    accepted_at: iso(createdAt),
    scheduled_at: scheduledAt === null ? null : iso(scheduledAt),
  }))
}

/** Message and one of its deliveries that was cancelled at `at` (ms UTC) → the event. */
export function cancelledEvent(message: MessageFacts, recipient: Recipient, at: number): OnDemandEvent {
  return ofRecipient('message.cancelled', message, recipient, at, () => ({ cancelled_at: iso(at) }))
}

function ofRecipient(
  type: OnDemandEventType,
  message: MessageFacts,
  { id, email }: Recipient,
  createdAt: number,
  fields: () => Record<string, unknown>,
): OnDemandEvent {
  const { organizationId, domainId, mode } = message
  const data = () => ({ ...recipientData(message, email), ...fields() })
  return { type, cause: id, organizationId, domainId, messageId: message.id, mode, createdAt, data }
}

/** Characters of a header field in an event: beyond them it is cut. */
const FIELD_CHARACTERS = 998 // a line of a mail, RFC 5322 §2.1.1

/** Inbound mail as one route received it → the event: the fields of its record, without bodies. */
export function inboundEvent(
  message: InboundMessage,
  { first, count }: InboundAttachments = { first: [], count: 0 },
): OnDemandEvent {
  const { id, organizationId, domainId, receivedAt, verdicts } = message
  const cut = (text: string) => text.slice(0, FIELD_CHARACTERS).toWellFormed()
  const data = () => ({
    inbound_message_id: id,
    route_id: message.routeId,
    domain_id: domainId,
    from: cut(message.from),
    to: message.to,
    subject: cut(message.subject),
    message_id_header: cut(message.messageIdHeader),
    size_bytes: message.sizeBytes,
    received_at: iso(receivedAt),
    spf_result: verdicts.spf,
    dkim_result: verdicts.dkim,
    dmarc_result: verdicts.dmarc,
    attachments: first.map(({ filename, contentType, sizeBytes, contentId }) => ({
      filename,
      content_type: contentType,
      size: sizeBytes,
      content_id: contentId,
    })),
    attachment_count: count,
  })
  return {
    type: 'inbound.received',
    cause: id,
    organizationId,
    domainId,
    messageId: null,
    mode: 'live',
    createdAt: receivedAt,
    data,
  }
}

/** Change of a domain's status at `at` (ms UTC) → the event; null for a change to another status. */
export function domainEvent(
  { id, organizationId, name }: Pick<Domain, 'id' | 'organizationId' | 'name'>,
  change: { before: Domain['status']; after: Domain['status'] } & Pick<Domain, 'reason' | 'provedBy'>,
  at: number,
): OnDemandEvent | null {
  const { before, after } = change
  if (before === after || after === 'pending') return null
  const general = { domain_id: id, domain: name }
  const data =
    after === 'verified'
      ? () => ({ ...general, verified_at: iso(at), proved_by: change.provedBy })
      : () => ({ ...general, failed_at: iso(at), reason: change.reason })
  return {
    type: `domain.${after}`,
    cause: `${id} ${at}`,
    organizationId,
    domainId: id,
    messageId: null,
    mode: 'live',
    createdAt: at,
    data,
  }
}

/** Webhook that was paused at `at` (ms UTC) → the event. Its own webhook does not receive it, because it is paused. Only
 *  the origin of its URL is shown: path and query may contain a token, and keys that may not read webhooks can read events. */
export function webhookPausedEvent(
  { id, organizationId, domainId, mode, url, disabledReason }: Webhook,
  at: number,
): OnDemandEvent {
  const data = () => ({ webhook_id: id, url: new URL(url).origin, reason: disabledReason, mode, paused_at: iso(at) })
  return {
    type: 'webhook.paused',
    cause: `${id} ${at}`,
    organizationId,
    domainId: domainId ?? WHOLE_ORGANIZATION,
    messageId: null,
    mode,
    createdAt: at,
    data,
  }
}

/** Suppression that was added or removed at `at` (ms UTC) → the event. */
export function suppressionEvent(change: 'added' | 'removed', suppression: Suppression, at: number): OnDemandEvent {
  const { id, organizationId, domainId, stream, email, reason, messageId, mode } = suppression
  const data = () => ({
    suppression_id: id,
    email,
    reason,
    domain_id: domainId,
    stream,
    message_id: messageId,
    mode,
    [`${change}_at`]: iso(at),
  })
  return {
    type: `suppression.${change}`,
    cause: id,
    organizationId,
    domainId,
    messageId: null,
    mode,
    createdAt: at,
    data,
  }
}
