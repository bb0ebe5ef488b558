import type { InboundPost } from '../../events/webhooks/inbound-payload.ts'
import type { InboundAttachments, Verdicts } from '../../model/inbound-message.ts'
import type { ReportContent } from '../feedback/content.ts'
import type { OwnLinks } from './own-links.ts'
import type { ReportRead } from './report-read.ts'

/** A mail to authenticate and parse. */
export interface ReadingJob {
  jobId: number
  raw: Uint8Array<ArrayBuffer>
  envelope: {
    remoteAddress: string
    helo: string
    /** Empty for the null return path. */
    returnPath: string
    /** Envelope recipients, for the Received header when there is exactly one. */
    recipients: string[]
    protocol: string
    tls: string | null
  }
  receivedAt: number
  /** One per forwarding route: the name that seals the forward. */
  seals: SealName[]
  /** One header field without line end, to prepend to forwarded mail. */
  forwardHeader: string | null
}

/** Name of a sealing key (RFC 8617). The key itself stays on the main thread. */
export interface SealName {
  domain: string
  selector: string
}

/** A sealing key with its name. */
export interface Seal extends SealName {
  privateKeyPem: string
}

/** A mail as authenticated and parsed by a reader, ready for policy checks and storage. */
export interface InboundResult {
  verdicts: Verdicts
  /** `p=` of the author's DMARC record. */
  dmarcPolicy: 'none' | 'quarantine' | 'reject'
  /** The DMARC failure reason for a refusal; null without failure. */
  dmarcReason: string | null
  head: MailHead
  /** The raw mail with Return-Path, Authentication-Results and Received prepended, packed by
   *  mail/inbound-content.ts. */
  raw: Uint8Array<ArrayBuffer>
  /** The parsed content for the webhook payload, packed by mail/inbound-content.ts. */
  parsed: Uint8Array<ArrayBuffer>
  attachments: InboundAttachments
  parseError: string | null
  ownLinks: OwnLinks
  /** The sealed forwards in the order of `seals`, packed by mail/mime-content.ts. */
  forwards: Uint8Array<ArrayBuffer>[]
}

/** Header facts for the mail record. */
export interface MailHead {
  /** The From address; empty when none can be parsed. */
  from: string
  fromHeader: string
  subject: string
  messageId: string
  /** Number of Received headers in the incoming mail. */
  hops: number
  /** Message-IDs that it names, with angle brackets: that of In-Reply-To first, then References from the nearest on. */
  answers: string[]
  /** An auto-reply, a report, or mail of a list. */
  autoSubmitted: boolean
  /** Loop headers of all installations that forwarded it, one per line; null if none. */
  loop: string | null
}

/** A mail file that the reader may read. */
export interface FileToRead {
  fd: number
  byteLength: number
}

/** Mail in memory is copied to the reader; mail in a file is read there. */
export type RawMail = Uint8Array<ArrayBuffer> | FileToRead

/** A reader job. `jobId` identifies it in the reader's requests (reader.ts). */
export type ReaderJob =
  | ({ kind: 'mail'; raw: RawMail } & Omit<ReadingJob, 'raw'>)
  /** Mail to one of our return paths. */
  | { kind: 'report'; jobId: number; raw: RawMail; returnPath: string }
  /** Mail to a report address of a domain. */
  | { kind: 'policy_report'; jobId: number; raw: RawMail; envelope: ReadingJob['envelope'] }
  /** Stored raw mail of which one attachment is wanted, by its position from 1. */
  | { kind: 'attachment'; jobId: number; raw: Uint8Array; place: number }
  /** A stored mail to post to its route's endpoint. */
  | ({ kind: 'post'; jobId: number } & InboundPost)

/** Size of the job's mail in bytes. */
export const mailBytesOf = (job: ReaderJob): number =>
  job.kind === 'post' ? job.message.sizeBytes : job.raw.byteLength

/** A reader's answer to a job. */
export type ReaderAnswer =
  | { kind: 'mail'; result: InboundResult; bugs: string[] }
  /** `digest`: SHA-256 of the raw mail. */
  | { kind: 'report'; content: ReportContent; digest: Uint8Array }
  | { kind: 'policy_report'; read: ReportRead; bugs: string[] }
  /** Position in the order of ParsedMail.attachments; null if there is none. */
  | { kind: 'attachment'; content: Uint8Array | null }
  /** `inboundBody` of the mail; null if it has other attachments than the stored content lists. */
  | { kind: 'post'; body: Uint8Array | null }

/** Settings that each reader receives at start. */
export interface ReaderSettings {
  hostname: string
  /** Time limit for SPF, DKIM, DMARC and ARC together. */
  authenticationMs: number
}
