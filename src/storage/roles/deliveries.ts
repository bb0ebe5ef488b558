import type { Attempt, BounceType, Delivery, Outcome } from '../../model/delivery.ts'
import type { DkimKeyRecord, Domain } from '../../model/domain.ts'
import type { Event } from '../../model/event.ts'
import type { DeliveryStatus, Message } from '../../model/message.ts'
import type { Report } from '../../model/report.ts'
import type { Suppression } from '../../model/suppression.ts'
import type { Unsubscribable } from '../../model/unsubscribable.ts'
import type { ClaimQueue, ClaimRequest } from './claims.ts'

/** A delivery whose next attempt is counted and may start. */
export interface ClaimedDelivery {
  delivery: Delivery
  message: Message
  /** Null when the claim asked for smaller ones only: `content` reads it. */
  content: Uint8Array | null
  signingKeys: Pick<DkimKeyRecord, 'selector' | 'algorithm' | 'privateKeyPem'>[]
  domainName: string
  /** Its ownership as it is now; null when the domain is gone. */
  ownership: Pick<Domain, 'status' | 'provedBy'> | null
  returnPathHost: string
  /** As trackingHostOf. */
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
  /** The content of a message with deliveries to be tried; null when the message is gone. */
  content(messageId: string): Promise<Uint8Array | null>
  /** What came of a claim. `lease_lost` when the row is no longer that attempt of that worker: nothing is written. */
  record(record: DeliveryRecord): Promise<'recorded' | 'lease_lost'>
  /** With its message; null when retention has dropped it or it never was. */
  get(id: string): Promise<{ delivery: Delivery; message: Message } | null>
  /** What came to be known after the fact. `duplicate` when that very report (its digest) is already there, `changed`
   *  when the delivery is no longer in `expected`, so that the decision must be made anew: nothing is written then. */
  recordLate(record: LateRecord): Promise<'recorded' | 'duplicate' | 'changed' | 'unknown'>
  /** An open, a click or an unsubscription. Counted on the delivery, people and machines apart, and told: of each kind
   *  of opens and clicks 100 times, so that nobody fills the disk by loading a pixel; of unsubscriptions once, and again
   *  when the suppression had been taken back. A suppression that is there already stays. */
  recordEngagement(record: EngagementRecord): Promise<'recorded' | 'counted' | 'unknown'>
  /** What is kept of a delivery that retention removed while its recipient may still ask to stop; null when nothing is. */
  unsubscribable(id: string): Promise<Unsubscribable | null>
  /** The recipient of such a delivery asked to stop: told once, and again when the suppression had been taken back. */
  recordUnsubscribable(id: string, event: Event, suppression: Suppression): Promise<'recorded' | 'known' | 'unknown'>
  /** Of all recipients of a message, oldest first. */
  reports(messageId: string): Promise<{ email: string; report: Report }[]>
}

export interface EngagementRecord {
  deliveryId: string
  kind: 'opened' | 'clicked' | 'unsubscribed'
  /** By a program that nobody told to (tracking/machines.ts). */
  machine: boolean
  event: Event
  /** Of an unsubscription. */
  suppression: Suppression | null
  now: number
}

export interface LateRecord {
  deliveryId: string
  report: Report
  expected: DeliveryStatus
  /** Null = the report is kept and the delivery stays what it is. An open delivery that becomes final is not tried again. */
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
  /** This record also tells the first soft bounce of a delivery that goes on. */
  isSoftBounceReported: boolean
  /** Opens and clicks that came with it: those of test mail. None when left out. */
  opens?: number
  clicks?: number
  events: Event[]
  suppression: Suppression | null
  now: number
}
