import type { MtaSts } from '../mail/mta-sts.ts'
import type { RecipientParts } from '../mail/recipient-parts.ts'
import type { Attempt, Outcome } from '../model/delivery.ts'
import type { TlsSession } from '../model/tls-session.ts'
import type { Lookup, MxRecord } from '../net/dns/resolver.ts'

/** What a delivery worker needs for one attempt; crosses the thread boundary, so plain data only. */
export interface AttemptJob {
  deliveryId: string
  messageId: string
  /** 1 for the first. */
  attempt: number
  /** RCPT TO, domain as A-label. */
  recipient: string
  /** MAIL FROM; empty = the null return path. */
  returnPath: string
  /** As mail/content.ts or mail/mime-content.ts packs it. */
  content: Uint8Array
  signingKeys: SigningKey[]
  /** The date and the signing time of the mail: the same at every attempt, so the bytes are the same. */
  signedAt: number
  /** What only this recipient's mail has. */
  recipientParts: RecipientParts
  requireTls: boolean
  /** What the recipient's domain asks of its senders; null when it asks nothing. */
  mtaSts: MtaSts | null
  route: JobRoute
  /** `test` mail is composed and signed but never leaves (outbound/sandbox.ts decides its outcome). */
  sandbox: boolean
}

/** Where a delivery goes, and in what manner. */
export interface JobRoute {
  /** Whose limits it shares (schedule/destination.ts). */
  destination: string
  /** What DNS said of the domain's MX when it was claimed; null = nothing was asked. */
  mx: Lookup<MxRecord> | null
  /** To the site at once; of all threads, or on its way into a thread that thread's share. */
  connections: number
  /** Over one connection. */
  maxMails: number
}

export interface SigningKey {
  domain: string
  selector: string
  algorithm: 'rsa-sha256' | 'ed25519-sha256'
  privateKeyPem: string
}

/** What came of it. */
export interface AttemptResult {
  deliveryId: string
  outcome: Outcome
  /** `number` is the job's. */
  attempt: Attempt
  /** Sessions that were opened, or that a policy prevented; [] for a smarthost. */
  tlsSessions: TlsSession[]
}

/** What a worker is told once, at start; plain data. */
export interface WorkerSettings {
  /** Our name in EHLO. */
  hostname: string
  dnsServers: string[]
  /** Networks of those that are believed about DNSSEC; none: no DANE. */
  trustedDnsServers: readonly string[]
  deliveryPort: number
  smarthost: { host: string; port: number; implicitTls: boolean; user: string | null; password: string | null } | null
  /** SHA-256 in hex of certificates or public keys of the smarthost, one of which it must show; none: the usual authorities. */
  smarthostPins?: readonly string[]
  allowPrivateDestinations: boolean
  sourceAddress: string | null
  /** Kept open between two mails, at most. */
  idleSessions: number
  /** No step of a dialogue takes longer. */
  longestWaitMs: number
  /** Where it is noted what servers have taken, and by whom. */
  taken: { folder: string; worker: string }
}

/** A job on its way into a thread. */
export interface SentJob extends AttemptJob {
  /** The cell of `sent` that is its own while it is under way; its work is marked by `slot + 1`. */
  slot: number
}

/** What one thread is told at its start. */
export interface ThreadSettings extends WorkerSettings {
  /** A byte per slot: 1 = the end of the mail may have gone out, so that the server may have taken it. Written before. */
  sent: SharedArrayBuffer
  /** Its file of mails that servers have taken. */
  takenPath: string
  /** Priority of the thread, as in lowerThreadPriority; 0 = as others. */
  nice: number
}

export type ToWorker =
  | { kind: 'start'; board: SharedArrayBuffer | null; settings: ThreadSettings }
  | { kind: 'attempt'; jobs: SentJob[] }
  /** What came of these is in the store. */
  | { kind: 'written'; deliveryIds: string[] }
  /** Finish what is under way, QUIT idle connections, then answer `stopped`. */
  | { kind: 'stop' }

export type FromWorker =
  | { kind: 'ready' }
  /** `costs`: of each sending domain since the last message, how long its mails took to prepare. */
  | { kind: 'results'; results: AttemptResult[]; costs: [domain: string, ms: number, mails: number][] }
  /** A bug inside: the job was deferred all the same, main writes the log. */
  | { kind: 'bug'; deliveryId: string; messageId: string; error: string }
  | { kind: 'stopped' }
