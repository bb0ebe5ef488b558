import type { Verdicts } from '../model/inbound-message.ts'

/** A mail to be authenticated and read. */
export interface ReadingJob {
  jobId: number
  raw: Uint8Array<ArrayBuffer>
  envelope: {
    remoteAddress: string
    helo: string
    /** Empty = the null return path. */
    returnPath: string
    /** Envelope recipients, for the Received header when there is exactly one. */
    recipients: string[]
    protocol: string
    tls: string | null
  }
  receivedAt: number
  /** One per forwarding route: whose key seals. */
  seals: Seal[]
  /** One header field without its line end, to stand in front of what is sent on. */
  forwardHeader: string | null
}

/** RFC 8617: who vouches for what was found when the mail came in. */
export interface Seal {
  domain: string
  selector: string
  privateKeyPem: string
}

/** A mail as a thread has read it, ready to be judged and stored. */
export interface Reading {
  jobId: number
  verdicts: Verdicts
  /** `p=` of the author's DMARC record: what a failure is to mean. */
  dmarcPolicy: 'none' | 'quarantine' | 'reject'
  /** Why it failed, in words for a refusal; null otherwise. */
  dmarcReason: string | null
  head: MailHead
  /** The raw mail with Return-Path, Authentication-Results and Received in front, as mail/inbound-content.ts packs it. */
  raw: Uint8Array<ArrayBuffer>
  /** What the payload shows of the mail, as mail/inbound-content.ts packs it. */
  parsed: Uint8Array<ArrayBuffer>
  parseError: string | null
  /** In the order of `seals`: the mail to send on, sealed, as mail/mime-content.ts packs it. */
  forwards: Uint8Array<ArrayBuffer>[]
}

/** What the record of a mail needs of its header. */
export interface MailHead {
  /** Address of the From header; empty when there is none that can be read. */
  from: string
  fromHeader: string
  subject: string
  messageId: string
  /** Received headers that came with it. */
  hops: number
  /** Values of the loop headers of all installations that have sent it on, one a line; null = of none. */
  loop: string | null
}

/** As it crosses to a thread, so plain data only: of a mail in memory the thread gets a copy, one in a file it reads there. */
export type SentJob = Omit<ReadingJob, 'raw'> & { raw: Uint8Array<ArrayBuffer> | { fd: number; byteLength: number } }

/** What the thread is told once. */
export interface ReaderSettings {
  hostname: string
  dnsServers: string[]
  /** For SPF, DKIM, DMARC and ARC together. */
  authenticationMs: number
}

/** Main thread → reading thread. */
export type ToReader =
  | { kind: 'start'; settings: ReaderSettings }
  | { kind: 'read'; job: SentJob }
  /** Stored raw mail → its attachments, for `attachments_data`. */
  | { kind: 'attachments'; jobId: number; raw: Uint8Array }

/** Reading thread → main thread. */
export type FromReader =
  /** What keeps the thread busy from now on; several times for one job, which waits for the DNS in between. */
  | { kind: 'at_work'; jobId: number }
  | { kind: 'reading'; reading: Reading }
  /** The file cannot be read. */
  | { kind: 'unreadable'; jobId: number; error: string }
  /** In the order of ParsedMail.attachments, base64. */
  | { kind: 'attachments'; jobId: number; contents: string[] | null; error: string | null }
  /** Something failed inside; the job is answered all the same. */
  | { kind: 'bug'; jobId: number; error: string }
