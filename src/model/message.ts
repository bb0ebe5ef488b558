/** What a sender attaches to its message. It passes from the request to the record unchanged. */
export interface SenderFields {
  /** Name of its message stream. */
  stream: string
  tags: string[]
  metadata: Metadata
  /** Deliver only over verified TLS. */
  requireTls: boolean
}

/** A submitted message: one content, one or more recipients (RFC 5322). */
export interface Message extends SenderFields {
  id: string
  organizationId: string
  domainId: string
  /** Null = an inbound route forwards the message, so no API key submitted it. */
  keyId: string | null
  mode: Mode
  source: MessageSource
  status: MessageStatus
  /** As submitted: `a@d` or `Name <a@d>`. */
  from: string
  to: AsSent
  cc: AsSent
  bcc: AsSent
  replyTo: AsSent
  /** Where answers go instead of `replyTo`; null = nowhere of ours. */
  replies: ReplyRoute | null
  subject: string
  templateId: string | null
  /** The composed mail without its signatures. */
  sizeBytes: number
  /** The Message-ID header with its angle brackets. */
  messageIdHeader: string
  createdAt: number
  scheduledAt: number | null
  /** No attempt starts after this time (ms UTC); null = only the retry schedule decides. */
  expiresAt: number | null
  /** True if each recipient's mail has its own List-Unsubscribe header. */
  unsubscribe: boolean
  /** True if its HTML gets a pixel and rewritten links at delivery (mail/track.ts). */
  trackOpens: boolean
  trackClicks: boolean
}

/** The inbound route that receives the answers to a message, at an address of its own for each recipient. */
export interface ReplyRoute {
  routeId: string
  /** Receives at the time of sending. */
  domain: string
  /** Display name of the address; null for none. */
  name: string | null
}

/** Stream of messages that name none. */
export const TRANSACTIONAL = 'transactional'

/** Those of a message to which nothing is attached. */
export const NO_SENDER_FIELDS: SenderFields = { stream: TRANSACTIONAL, tags: [], metadata: {}, requireTls: false }

/** A request or a message → its SenderFields alone. */
export function senderFieldsOf({ stream, tags, metadata, requireTls }: SenderFields): SenderFields {
  return { stream, tags, metadata, requireTls }
}

/** The form of a stream's name. */
export const STREAM_NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/

/** Names of the configured streams → what to say about another one. */
export function unknownStream(names: readonly string[]): string {
  return `stream must be one of: ${[...names].sort().join(', ')}`
}

/** `live` mail is delivered; `test` mail takes the same path but never connects to another server. */
export type Mode = 'live' | 'test'
export type MessageSource = 'api' | 'smtp'
export type Metadata = Record<string, string | number | boolean>
/** A recipient field as the caller wrote it; null = absent. */
export type AsSent = string | string[] | null

/** True for mail from outside that a route forwards. ARC seals state what we verified. We never add our DKIM
 *  signature: on a mail that forges our own domain, it would make the forgery pass. */
export function isForwarded({ keyId }: Pick<Message, 'keyId'>): boolean {
  return keyId === null
}

/** State of one delivery; `scheduled`, `queued` and `deferred` still have attempts ahead. */
export type DeliveryStatus = 'scheduled' | 'queued' | 'deferred' | 'delivered' | 'bounced' | 'suppressed' | 'cancelled'
export type MessageStatus = DeliveryStatus | 'partial'

export const DELIVERY_STATUSES: readonly DeliveryStatus[] = [
  'scheduled',
  'queued',
  'deferred',
  'delivered',
  'bounced',
  'suppressed',
  'cancelled',
]
export const MESSAGE_STATUSES: readonly MessageStatus[] = [...DELIVERY_STATUSES, 'partial']

/** True if the delivery no longer changes by itself. */
export function isFinal(status: DeliveryStatus): boolean {
  return status !== 'scheduled' && status !== 'queued' && status !== 'deferred'
}

/** States of all deliveries → state of the message. If they agree, that state. While any is open: `deferred` if an
 *  open one is deferred, else `queued` or `scheduled`. If all are final but differ: `partial`. Without deliveries:
 *  `suppressed`. */
export function messageStatus(statuses: readonly DeliveryStatus[]): MessageStatus {
  const first = statuses[0]
  if (first === undefined) return 'suppressed'
  if (statuses.every((status) => status === first)) return first
  const open = statuses.filter((status) => !isFinal(status))
  if (open.includes('deferred')) return 'deferred'
  if (open.includes('queued')) return 'queued'
  return open.length > 0 ? 'scheduled' : 'partial'
}

/** A filter of messages that leaves everything open. */
export const ANY_MESSAGE = {
  createdAfter: null,
  createdBefore: null,
  status: null,
  to: null,
  from: null,
  subject: null,
  tag: null,
  metadata: [],
  templateId: null,
  domainId: null,
  mode: null,
  text: null,
}
