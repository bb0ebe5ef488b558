import type { MtaSts } from '../../mail/mta-sts.ts'
import type { RecipientParts } from '../../mail/recipient-parts.ts'
import type { Attempt, Outcome, RelayUse } from '../../model/delivery.ts'
import type { TlsSession } from '../../model/tls-session.ts'
import type { Lookup, MxRecord } from '../../net/dns/resolver.ts'
import type { Relay } from './relays/relay.ts'
import type { SendingAddress } from './senders/pools.ts'

/** Input of one attempt in a delivery thread; plain data, because it crosses the thread boundary. */
export interface AttemptJob {
  deliveryId: string
  messageId: string
  /** 1 for the first attempt. */
  attempt: number
  /** RCPT TO, domain as A-label. */
  recipient: string
  /** MAIL FROM; empty for the null return path. */
  returnPath: string
  /** Packed by mail/content.ts or mail/mime-content.ts. */
  content: Uint8Array
  signingKeys: SigningKey[]
  /** Date and signing time of the mail: the same at every attempt, so the bytes are the same. */
  signedAt: number
  /** The parts of the mail that differ per recipient. */
  recipientParts: RecipientParts
  requireTls: boolean
  /** The recipient domain's MTA-STS policy; null if none. */
  mtaSts: MtaSts | null
  route: JobRoute
  /** `test` mail is composed and signed but never sent (model/sandbox.ts decides its outcome). */
  sandbox: boolean
}

/** Input of a mail: fields or finished MIME. The same five values always give the same bytes, for every attempt and for
 *  the raw view. */
export interface Unprepared {
  content: Uint8Array
  signingKeys: readonly SigningKey[]
  signedAt: number
  /** As in AttemptJob. */
  recipientParts: RecipientParts
  /** In the form for a server without 8BITMIME. */
  isSevenBit?: boolean
}

export interface Prepared {
  /** To be sent one after the other. */
  parts: [signatures: Uint8Array, mail: Uint8Array]
  /** What became of the author's finished mail, for the transcript; null if it is unchanged. */
  changes: string | null
}

/** Route of a delivery, with its destination's limits. */
export interface JobRoute {
  /** The destination whose limits apply (schedule/destination.ts), with the address that mail is sent from if one is
   *  given (schedule/destination.ts). */
  destination: string
  /** Addresses to send from, at most one of each family; absent: the settings decide. */
  sender?: readonly SendingAddress[]
  /** The relay, if the mail is sent through one. */
  relay?: RelayUse
  /** The domain's MX lookup at claim time; null if not looked up. */
  mx: Lookup<MxRecord> | null
  /** Connections to the destination at once: over all threads, or for a job sent to a thread, that thread's share. */
  connections: number
  /** Mails per connection. */
  maxMails: number
}

export interface SigningKey {
  domain: string
  selector: string
  algorithm: 'rsa-sha256' | 'ed25519-sha256'
  privateKeyPem: string
}

/** Result of an attempt. */
export interface AttemptResult {
  deliveryId: string
  outcome: Outcome
  /** `number` equals the job's `attempt`. */
  attempt: Attempt
  /** TLS sessions opened, or prevented by a policy; [] for a relay. */
  tlsSessions: TlsSession[]
  /** The address of `route.sender` that the server blocks by its reply (mail/address-block.ts), or that this machine does
   *  not have; SYSTEM_ADDRESS if the system chose it; absent: none. */
  blockedSource?: string
}

/** Settings of a worker, fixed at start; plain data. */
export interface WorkerSettings {
  /** Our name in EHLO. */
  hostname: string
  dnsServers: string[]
  /** Networks of resolvers trusted for DNSSEC; without any, no DANE. */
  trustedDnsServers: readonly string[]
  deliveryPort: number
  relays: readonly Relay[]
  allowPrivateDestinations: boolean
  sourceAddress: string | null
  /** Maximum of connections kept open between mails. */
  idleSessions: number
  /** Upper bound for each step of a dialogue. */
  longestWaitMs: number
  /** Folder of the delivered journals, and this process's worker name. */
  journal: { folder: string; worker: string }
}

/** A job as sent to a thread. */
export interface SentJob extends AttemptJob {
  /** The job's cell in `sent` while it runs; the work board uses `slot + 1`. */
  slot: number
}

/** Settings of one thread, fixed at start. */
export interface ThreadSettings extends WorkerSettings {
  /** One byte per slot: 1 = the end of the mail may have been sent, so the server may have accepted it. Set before
   *  sending. */
  sent: SharedArrayBuffer
  /** Path of its delivered journal. */
  journalFile: string
  /** Thread priority as in lowerThreadPriority; 0 = normal. */
  nice: number
}

export type ToWorker =
  | { kind: 'start'; board: SharedArrayBuffer | null; settings: ThreadSettings }
  | { kind: 'attempt'; jobs: SentJob[] }
  /** The results of these deliveries are in the store. */
  | { kind: 'written'; deliveryIds: string[] }
  /** Replaces WorkerSettings.relays: a password has changed. */
  | { kind: 'relays'; relays: readonly Relay[] }
  /** Send QUIT on idle connections to the destination. */
  | { kind: 'close_idle'; destination: string }
  /** Finish running jobs, QUIT idle connections, then answer `stopped`. */
  | { kind: 'stop' }

export type FromWorker =
  | { kind: 'ready' }
  /** `costs`: preparation time per sending domain since the last message. */
  | { kind: 'results'; results: AttemptResult[]; costs: [domain: string, ms: number, mails: number][] }
  /** A bug: the job was deferred; the main thread logs it. */
  | { kind: 'bug'; deliveryId: string; messageId: string; error: string }
  | { kind: 'stopped' }
