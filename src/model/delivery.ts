import type { Reply } from '../mail/reply.ts'
import type { DeliveryStatus } from './message.ts'
import type { TlsPolicy } from './tls-policy.ts'

/** One message to one recipient; the thing that is tried, deferred and bounced (RFC 3464). */
export interface Delivery {
  id: string
  messageId: string
  /** Place among the message's recipients, from 0. */
  position: number
  /** As spoken in RCPT TO: local part as given, domain as A-label. */
  email: string
  type: RecipientType
  /** Where it waits to be tried; queueOf. */
  queue: string
  status: DeliveryStatus
  attempts: number
  lastAttemptAt: number | null
  nextAttemptAt: number | null
  deliveredAt: number | null
  smtpResponse: string | null
  bounceType: BounceType | null
  bounceCode: string | null
  mxHost: string | null
  /** `TLSv1.3 TLS_AES_256_GCM_SHA384`, or null when the last attempt was in clear or never connected. */
  tls: string | null
  /** By people, as far as can be told; those of known machines are counted apart. */
  opens: number
  clicks: number
  machineOpens: number
  machineClicks: number
  /** A soft bounce was already reported while the delivery continues; only the first one is. */
  isSoftBounceReported: boolean
}

/** The destination of test mail: no domain can be called so, and DNS is asked nothing. */
export const SANDBOX = '[sandbox]'

/** A destination (the recipient's domain, or SANDBOX) and an organization → the queue in which its mail waits to be tried:
 *  organizations that send to one destination take turns there, however much one of them sends. */
export function queueOf(destination: string, organizationId: string): string {
  return `${destination} ${organizationId.slice(-OWNER_CHARACTERS)}`
}

/** The random end of an id: enough to tell organizations apart. */
const OWNER_CHARACTERS = 8

/** A queue → its destination. */
export function destinationOf(queue: string): string {
  const at = queue.indexOf(' ')
  return at < 0 ? queue : queue.slice(0, at)
}

/** A queue → whose mail waits in it; '' for mail of a store before schema 6. */
export function ownerOf(queue: string): string {
  const at = queue.indexOf(' ')
  return at < 0 ? '' : queue.slice(at + 1)
}

/** What is known of a delivery before its first attempt. */
export const UNTRIED = {
  attempts: 0,
  lastAttemptAt: null,
  deliveredAt: null,
  smtpResponse: null,
  bounceType: null,
  bounceCode: null,
  opens: 0,
  clicks: 0,
}

export type RecipientType = 'to' | 'cc' | 'bcc'
export type BounceType = 'hard' | 'soft'

/** Outcome of one attempt; only outbound/outcome.ts decides it. */
export type Outcome =
  | { kind: 'delivered'; reply: Reply }
  /** To be tried again. `aboutRecipient`: the reply speaks of this mailbox (x.1.z, x.2.z). */
  | { kind: 'deferred'; code: string; message: string; aboutRecipient: boolean; cause: Cause }
  /** Final. `hard`: the address or its domain does not exist or takes no mail. */
  | { kind: 'bounced'; bounceType: BounceType; code: string; message: string; cause: Cause }
  /** The connection was lost after the final dot: perhaps delivered, tried again with the same Message-ID. */
  | { kind: 'unknown'; code: string; message: string; cause: Cause }

/** Why: the bounce class and the rule that matched, so that a surprising verdict can be looked up. */
export interface Cause {
  class: string
  rule: string
}

/** What is kept of one attempt, for support: whom we talked to and every line but the mail itself. */
export interface Attempt {
  number: number
  startedAt: number
  durationMs: number
  outcome: Outcome['kind']
  mxHost: string | null
  mxAddress: string | null
  sourceAddress: string | null
  tlsVersion: string | null
  tlsCipher: string | null
  /** The peer's certificate was checked and proved its name, by a public authority or by its TLSA records. */
  tlsVerified: boolean
  tlsPolicy: TlsPolicy
  reply: string | null
  enhancedCode: string | null
  cause: Cause | null
  /** `C: …` and `S: …` lines with milliseconds since the start; credentials struck out, mail left out. */
  transcript: string
}
