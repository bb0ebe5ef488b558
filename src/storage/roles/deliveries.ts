import type { Attempt, BounceType, Delivery, Outcome } from '../../model/delivery.ts'
import type { DkimKeyRecord, Domain } from '../../model/domain.ts'
import type { Event } from '../../model/event.ts'
import type { DeliveryStatus, Message } from '../../model/message.ts'
import type { Report } from '../../model/report.ts'
import type { Suppression } from '../../model/suppression.ts'
import type { Unsubscribable } from '../../model/unsubscribable.ts'
import type { ClaimQueue, ClaimRequest, HeldClaim } from './claims.ts'

/** A claimed delivery: its next attempt is counted and may start. */
export interface ClaimedDelivery {
  delivery: Delivery
  message: Message
  /** Null if the claim excluded content of this size; then `content` reads it. */
  content: Uint8Array | null
  signingKeys: Pick<DkimKeyRecord, 'selector' | 'algorithm' | 'privateKeyPem'>[]
  domainName: string
  /** Current ownership of the sending domain; null if the domain was deleted. */
  ownership: Pick<Domain, 'status' | 'provedBy'> | null
  returnPathHost: string
  /** Result of trackingHostOf. */
  trackingHost: string | null
  worker: string
}

/** Messages larger than `contentBytes` are claimed without their content. */
export interface DeliveryClaimRequest extends ClaimRequest {
  contentBytes?: number
}

/** The keys of this queue are `Delivery.queue`. */
export interface Deliveries extends ClaimQueue<ClaimedDelivery, DeliveryClaimRequest> {
  /** As `claimDue` for messages past their `expiresAt`, without a plan and whatever the limits of destinations; the longest
   *  expired first. No content comes along. */
  claimExpired(request: { now: number; limit: number; worker: string }): Promise<ClaimedDelivery[]>
  /** Content of a message with open deliveries; null if the message was deleted. */
  content(messageId: string): Promise<Uint8Array | null>
  /** Writes the result of a claim. `lease_lost` if the row is no longer at that attempt of that worker: nothing is
   *  written. */
  record(record: DeliveryRecord): Promise<'recorded' | 'lease_lost'>
  /** Ends a claim whose recipient is suppressed by now: without the attempt that the claim counted, and with the event that
   *  says so. Result as of `record`. */
  recordSuppressed(claim: HeldClaim, event: Event): Promise<'recorded' | 'lease_lost'>
  /** Delivery with its message; null if retention removed it, its recipient was erased, or it never existed. */
  get(id: string): Promise<{ delivery: Delivery; message: Message } | null>
  /** Writes a late report. `duplicate` if this report (by digest) is already stored; `changed` if the delivery is no
   *  longer in `expected`, so that the decision must be made again. Nothing is written in either case. */
  recordLate(record: LateRecord): Promise<'recorded' | 'duplicate' | 'changed' | 'unknown'>
  /** Records an open, a click or an unsubscription. Counts it on the delivery, people and machines separately, and
   *  writes an event: at most 100 per kind for opens and clicks, so that loading a pixel cannot fill the disk; one
   *  for an unsubscription, and another one if the suppression was removed in between. An existing suppression
   *  stays. */
  recordEngagement(record: EngagementRecord): Promise<'recorded' | 'counted' | 'unknown'>
  /** What remains of a delivery that retention removed while its recipient can still unsubscribe; null if nothing
   *  does. */
  unsubscribable(id: string): Promise<Unsubscribable | null>
  /** Records an unsubscribe request for such a delivery: one event, and another one if the suppression was removed
   *  in between. */
  recordUnsubscribable(id: string, event: Event, suppression: Suppression): Promise<'recorded' | 'known' | 'unknown'>
  /** Reports of all recipients of a message, oldest first. */
  reports(messageId: string): Promise<{ email: string; report: Report }[]>
}

export interface EngagementRecord {
  deliveryId: string
  kind: 'opened' | 'clicked' | 'unsubscribed'
  /** True for automatic requests (web/tracking/machines.ts). */
  machine: boolean
  event: Event
  /** Suppression of an unsubscription. */
  suppression: Suppression | null
  now: number
}

export interface LateRecord {
  deliveryId: string
  report: Report
  expected: DeliveryStatus
  /** Null = the report is stored and the delivery stays unchanged. An open delivery that becomes final gets no
   *  further attempt. */
  change: {
    status: DeliveryStatus
    smtpResponse: string | null
    bounceType: BounceType | null
    bounceCode: string | null
  } | null
  events: Event[]
  suppression: Suppression | null
  now: number
}

export interface DeliveryRecord {
  deliveryId: string
  messageId: string
  worker: string
  attempt: Attempt
  outcome: Outcome
  status: DeliveryStatus
  nextAttemptAt: number | null
  smtpResponse: string | null
  /** True if this record also reports the first soft bounce of an open delivery. */
  isSoftBounceReported: boolean
  /** Of the message, for its statistics; absent: none. */
  templateId?: string | null
  /** Simulated opens and clicks of test mail; 0 by default. */
  opens?: number
  clicks?: number
  events: Event[]
  suppression: Suppression | null
  now: number
}
