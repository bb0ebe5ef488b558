import type { Reply } from '../mail/reply.ts'
import { type DeliveryStatus, TRANSACTIONAL } from './message.ts'
import type { TlsPolicy } from './tls-policy.ts'

/** Delivery of one message to one recipient. Attempts, deferrals and bounces belong to it (RFC 3464). */
export interface Delivery {
  id: string
  messageId: string
  /** Index among the message's recipients, from 0. */
  position: number
  /** Address for RCPT TO: local part as given, domain as A-label. */
  email: string
  type: RecipientType
  /** Queue in which it waits for its next attempt; see queueOf. */
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
  /** For example `TLSv1.3 TLS_AES_256_GCM_SHA384`; null if the last attempt used no TLS or never connected. */
  tls: string | null
  /** Opens and clicks by people, as far as Postrider can detect. Those of known machines are counted separately. */
  opens: number
  clicks: number
  machineOpens: number
  machineClicks: number
  /** True if a soft bounce was reported while the delivery continues. Only the first one is reported. */
  isSoftBounceReported: boolean
}

/** Destination of test mail. No domain can have this name, and no DNS query is sent for it. */
export const SANDBOX = '[sandbox]'

/** What decides from which addresses and through which relay mail is sent, beside its organization: its stream, the
 *  pool that it was assigned when it was accepted, and its sending domain if a relay rule names it; '' = none. */
export interface QueueSender {
  stream: string
  pool: string
  domain: string
}

/** Destination (the recipient's domain, or SANDBOX) and organization → name of the queue in which the mail waits.
 *  Organizations that send to one destination take turns, however much one of them sends, and so do their streams. */
export function queueOf(
  destination: string,
  organizationId: string,
  { stream = TRANSACTIONAL, pool = '', domain = '' }: Partial<QueueSender> = {},
): string {
  const owner = `${destination} ${ownerKey(organizationId)}`
  if (stream === TRANSACTIONAL && pool === '' && domain === '') return owner
  return `${owner}.${stream}/${pool}${domain === '' ? '' : `@${domain}`}`
}

/** Queue name → the stream, pool and sending domain in it. */
export function senderOf(queue: string): QueueSender {
  const [, stream = TRANSACTIONAL, pool = '', domain = ''] =
    /\.([^./ ]*)\/([^/ @]*)(?:@([^/ @]*))?/.exec(ownerPart(queue)) ?? []
  return { stream, pool, domain }
}

/** Organization → its key in the names of queues. */
export const ownerKey = (organizationId: string) => organizationId.slice(-OWNER_CHARACTERS)

/** The random end of an ID, which is enough to distinguish organizations. */
const OWNER_CHARACTERS = 8

/** Queue name → its destination. */
export function destinationOf(queue: string): string {
  const at = queue.indexOf(' ')
  return at < 0 ? queue : queue.slice(0, at)
}

/** Queue name → the organization key in it; '' if it has none. */
export function ownerOf(queue: string): string {
  const part = ownerPart(queue)
  const at = part.indexOf('.')
  return at < 0 ? part : part.slice(0, at)
}

const ownerPart = (queue: string) => queue.split(' ', 2)[1] ?? ''

/** The fields of a delivery that are known before its first attempt. */
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

/** Outcome of one attempt, decided only by sending/outbound/outcome.ts. */
export type Outcome =
  | { kind: 'delivered'; reply: Reply }
  /** Will be retried. `aboutRecipient`: the reply concerns this mailbox (x.1.z, x.2.z). */
  | { kind: 'deferred'; code: string; message: string; aboutRecipient: boolean; cause: Cause }
  /** Final. `hard`: the address or its domain does not exist or accepts no mail. */
  | { kind: 'bounced'; bounceType: BounceType; code: string; message: string; cause: Cause }
  /** The connection was lost after the final dot. The mail is perhaps delivered; it is retried with the same
   *  Message-ID. */
  | { kind: 'unknown'; code: string; message: string; cause: Cause }

/** The reason: the bounce class and the rule that matched, so that a surprising result can be traced. */
export interface Cause {
  class: string
  rule: string
}

/** Why an attempt uses a relay: a rule says so, or as fail-over: the destination blocks the address, port 25 is
 *  blocked, direct attempts keep failing, the warm-up of every address allows no more now, or an earlier attempt
 *  through this relay may have been accepted. */
export const RELAY_REASONS = [
  'rule',
  'address_blocked',
  'port_25_blocked',
  'direct_failing',
  'warmup_used_up',
  'same_route',
] as const
export type RelayReason = (typeof RELAY_REASONS)[number]

/** The relay of an attempt, and why it was chosen. `rule`: the number of the relay rule, from 1; null without a rule,
 *  as for delivery.smarthost. */
export interface RelayUse {
  name: string
  rule: number | null
  because: RelayReason
}

/** Stored record of one attempt, for support: peer, TLS and every SMTP line except the mail itself. */
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
  /** True if the peer's certificate proved its name, through a public authority or its TLSA records. */
  tlsVerified: boolean
  tlsPolicy: TlsPolicy
  reply: string | null
  enhancedCode: string | null
  cause: Cause | null
  /** Absent: sent to the hosts of the recipient's domain. */
  relay?: RelayUse
  /** `C: …` and `S: …` lines with milliseconds since the start, without credentials and without the mail. */
  transcript: string
}

/** What an attempt records that reached no server. */
export const NO_SERVER = {
  mxHost: null,
  mxAddress: null,
  sourceAddress: null,
  tlsVersion: null,
  tlsCipher: null,
  tlsVerified: false,
  tlsPolicy: 'none',
} as const satisfies Partial<Attempt>
