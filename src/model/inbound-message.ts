import type { RouteAction } from './inbound-route.ts'
import type { PostAttempt } from './post-attempt.ts'

/** A mail from the world as one route took it. Several routes of one transaction share the stored raw mail. */
export interface InboundMessage {
  id: string
  organizationId: string
  domainId: string
  /** Null = no route took it: mail for postmaster or abuse, which is stored. */
  routeId: string | null
  /** Of the route when the mail came; decides what is owed to it. */
  action: RouteAction['type']
  receivedAt: number
  /** MAIL FROM; empty = the null return path. */
  returnPath: string
  /** Address of the From header; empty when there is none that can be read. */
  from: string
  /** Envelope recipients that the route matched, as they were spoken. */
  to: string[]
  subject: string
  /** With its angle brackets; empty when the mail has none. */
  messageIdHeader: string
  /** As it came over the wire, before trace headers. */
  sizeBytes: number
  senderIp: string
  /** What the client called itself. */
  helo: string
  /** `TLSv1.3 TLS_AES_256_GCM_SHA384`, null in clear. */
  tls: string | null
  verdicts: Verdicts
  /** Why the mail could not be read whole; null = it could. */
  parseError: string | null
  /** The outbound message it became, when forwarded. */
  forwardedAs: string | null
  /** Targets of the route that it was not sent on to, and why; empty for other actions. */
  notForwarded: NotForwarded[]
}

/** A target that gets nothing. `pending_confirmation`: its owner has not confirmed the route yet; `stopped`: its owner ended
 *  it; `domain_not_verified`: the organization has not proved that the route's domain is its own. */
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

/** One inbound message on its way to its route's endpoint. */
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
