import type { ReportContent } from '../feedback/content.ts'
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
  /** One per forwarding route: in whose name it is sealed. */
  seals: SealName[]
  /** One header field without its line end, to stand in front of what is sent on. */
  forwardHeader: string | null
}

/** RFC 8617: the name of a key that seals. The key itself stays in the main thread. */
export interface SealName {
  domain: string
  selector: string
}

/** The key with its name: who vouches for what was found when the mail came in. */
export interface Seal extends SealName {
  privateKeyPem: string
}

/** A mail as a reader has read it, ready to be judged and stored. */
export interface InboundResult {
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

/** A mail in a file that the reader may read. */
export interface FileToRead {
  fd: number
  byteLength: number
}

/** Of a mail in memory the reader gets a copy, one in a file it reads there. */
export type RawMail = Uint8Array<ArrayBuffer> | FileToRead

/** What a reader is asked to do. `jobId` names it in what it asks back (reader-requests.ts). */
export type ReaderJob =
  | ({ kind: 'mail'; raw: RawMail } & Omit<ReadingJob, 'raw'>)
  /** Mail to a return path of ours. */
  | { kind: 'report'; jobId: number; raw: RawMail; returnPath: string }
  /** Stored raw mail → its attachments. */
  | { kind: 'attachments'; jobId: number; raw: Uint8Array }

/** What it answers. */
export type ReaderAnswer =
  | { kind: 'mail'; result: InboundResult; bugs: string[] }
  /** `digest`: SHA-256 of the raw mail. */
  | { kind: 'report'; content: ReportContent; digest: Uint8Array }
  /** In the order of ParsedMail.attachments. */
  | { kind: 'attachments'; contents: Uint8Array[] }

/** What each reader gets at its start. */
export interface ReaderSettings {
  hostname: string
  /** For SPF, DKIM, DMARC and ARC together. */
  authenticationMs: number
}
