/** What an author submitted: one content, one or more recipients (RFC 5322). */
export interface Message {
  id: string
  organizationId: string
  domainId: string
  /** Null: no author of ours asked for it, an inbound route sends it on. */
  keyId: string | null
  mode: Mode
  source: MessageSource
  status: MessageStatus
  /** As it was sent in: `a@d` or `Name <a@d>`. */
  from: string
  to: AsSent
  cc: AsSent
  bcc: AsSent
  replyTo: AsSent
  subject: string
  tags: string[]
  metadata: Metadata
  templateId: string | null
  /** The composed mail without its signatures. */
  sizeBytes: number
  /** The Message-ID header with its angle brackets. */
  messageIdHeader: string
  createdAt: number
  scheduledAt: number | null
  /** No attempt starts after this time; null = only the schedule decides. */
  expiresAt: number | null
  /** Deliver only over verified TLS. */
  requireTls: boolean
  /** Each recipient's mail says in a List-Unsubscribe field of its own how to stop. */
  unsubscribe: boolean
  /** Its HTML gets a pixel and links of ours when it is delivered (mail/track.ts). */
  trackOpens: boolean
  trackClicks: boolean
}

/** `live` mail goes out; `test` mail takes the same path but for the connection to the outside. */
export type Mode = 'live' | 'test'
export type MessageSource = 'api' | 'smtp'
export type Metadata = Record<string, string | number | boolean>
/** A recipient field in the form the caller used; null = absent. */
export type AsSent = string | string[] | null

/** True for mail of somebody else that a route sends on. We vouch for what we saw of it (ARC), never for its author: our
 *  DKIM signature on a mail that forges our own domain would make the forgery pass. */
export function isForwarded({ keyId }: Pick<Message, 'keyId'>): boolean {
  return keyId === null
}

/** The state of one delivery; `scheduled`, `queued` and `deferred` are still to be tried. */
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

/** True once nothing more will happen to the delivery by itself. */
export function isFinal(status: DeliveryStatus): boolean {
  return status !== 'scheduled' && status !== 'queued' && status !== 'deferred'
}

/** States of all deliveries → state of the message: the common one if they agree; while
 *  any is open, `deferred` if one of the open ones is, else `queued` or `scheduled`; `partial` when all
 *  are final but differ. No delivery at all counts as `suppressed`. */
export function messageStatus(statuses: readonly DeliveryStatus[]): MessageStatus {
  const first = statuses[0]
  if (first === undefined) return 'suppressed'
  if (statuses.every((status) => status === first)) return first
  const open = statuses.filter((status) => !isFinal(status))
  if (open.includes('deferred')) return 'deferred'
  if (open.includes('queued')) return 'queued'
  return open.length > 0 ? 'scheduled' : 'partial'
}
