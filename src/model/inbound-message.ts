import type { RouteAction } from './inbound-route.ts'
import type { Message } from './message.ts'
import type { PostAttempt } from './post-attempt.ts'

/** An inbound mail as one route received it. Several routes of one SMTP transaction share the stored raw mail. */
export interface InboundMessage {
  id: string
  organizationId: string
  domainId: string
  /** Null = no route matched: mail for postmaster or abuse, which is stored. */
  routeId: string | null
  /** Action of the route when the mail arrived. It decides whether a webhook delivery or a forward follows. */
  action: RouteAction['type']
  receivedAt: number
  /** MAIL FROM; empty = the null return path. */
  returnPath: string
  /** Address of the From header; empty if the mail has no readable one. */
  from: string
  /** Envelope recipients that the route matched, as given in RCPT TO. */
  to: string[]
  /** At most KEPT_CHARACTERS. */
  subject: string
  /** Message-ID with its angle brackets, at most KEPT_CHARACTERS; empty if the mail has none. */
  messageIdHeader: string
  /** Size of the received mail in bytes, without our trace headers. */
  sizeBytes: number
  senderIp: string
  /** The client's HELO or EHLO name. */
  helo: string
  /** For example `TLSv1.3 TLS_AES_256_GCM_SHA384`; null without TLS. */
  tls: string | null
  verdicts: Verdicts
  /** Why the mail could not be parsed completely; null = it could. */
  parseError: string | null
  /** ID of the outbound message that forwards it; null if none does. */
  forwardedAs: string | null
  /** Forward targets that did not receive it, with the reason; empty for other actions. */
  notForwarded: NotForwarded[]
  /** ID of the delivery that it answers; null = none of this organization. It stays when the message goes. */
  inReplyTo: string | null
  /** A program sent it: an auto-reply, a bounce, or mail of a list. */
  autoSubmitted: boolean
}

/** A message of the organization, and the recipient to whom an inbound mail is the answer. */
export interface AnsweredMessage
  extends Pick<
    Message,
    'id' | 'organizationId' | 'domainId' | 'mode' | 'from' | 'subject' | 'metadata' | 'tags' | 'stream' | 'templateId'
  > {
  deliveryId: string
  to: string
  sentAt: number
}

/** Message-IDs of a mail that are looked up: threads name all that came before. */
export const MOST_ANSWERED = 20

/** Characters of a header field in a record: a page of a list has a hundred, and each event of a forward one. A header may
 *  have 256 KiB; real ones have fewer than a thousand. The stored mail has it whole. */
export const KEPT_CHARACTERS = 2_000

/** The attachments of an inbound mail as its event lists them. */
export interface InboundAttachments {
  /** At most LISTED_ATTACHMENTS. */
  first: { filename: string; contentType: string; sizeBytes: number; contentId: string | null }[]
  /** Of all. */
  count: number
}

/** Attachments that an event lists, with names of at most LISTED_CHARACTERS: a body has at most some 200 kB. */
export const LISTED_ATTACHMENTS = 50
export const LISTED_CHARACTERS = 255

/** A forward target that receives nothing. `pending_confirmation`: its owner has not confirmed the route yet.
 *  `stopped`: its owner ended forwarding. `domain_not_verified`: the organization has not proved that it owns the
 *  route's domain. */
export interface NotForwarded {
  email: string
  reason: 'pending_confirmation' | 'stopped' | 'domain_not_verified'
}

/** RFC 8601 §2.7 result words, lower-case. */
export interface Verdicts {
  spf: SpfResult
  dkim: DkimResult
  dmarc: DmarcResult
  arc: ArcResult
}
export type SpfResult = 'none' | 'neutral' | 'pass' | 'fail' | 'softfail' | 'temperror' | 'permerror' | 'policy'
export type DkimResult = 'none' | 'pass' | 'fail' | 'policy' | 'neutral' | 'temperror' | 'permerror'
export type DmarcResult = 'none' | 'pass' | 'fail' | 'temperror' | 'permerror'
export type ArcResult = 'none' | 'pass' | 'fail'

/** Delivery of one inbound message to the endpoint of its route. */
export interface InboundDelivery {
  id: string
  inboundMessageId: string
  routeId: string
  status: InboundDeliveryStatus
  attempts: PostAttempt[]
  nextAttemptAt: number | null
  createdAt: number
}
export type InboundDeliveryStatus = 'pending' | 'delivered' | 'failed'
