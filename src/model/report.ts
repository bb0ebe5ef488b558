import type { Cause } from './delivery.ts'

/** A report about a finished delivery: a DSN, a complaint, an automatic reply or an unsubscribe request. */
export interface Report {
  kind: ReportKind
  receivedAt: number
  /** SHA-256 of the raw mail. A report that arrives twice is stored once. */
  digest: Uint8Array
  /** The reporter: `Reporting-MTA`, the feedback loop's `User-Agent`, or the client's address. */
  reporter: string | null
  /** Enhanced status code of a DSN. */
  status: string | null
  /** The remote server's reply or the report's own words, at most 2,000 characters. */
  diagnostic: string | null
  /** Bounce class and matched rule of a failure. */
  cause: Cause | null
  /** RFC 5965 §3.1 `Feedback-Type`. */
  feedbackType: string | null
}

/** `relayed`, `expanded` and `delivered` as in RFC 3464 §2.3.3; `auto_reply` as in RFC 3834; `other` is
 *  unclassified, with subject and text as its diagnostic. */
export const REPORT_KINDS = [
  'failed',
  'delayed',
  'delivered',
  'relayed',
  'expanded',
  'complaint',
  'unsubscribe',
  'auto_reply',
  'other',
] as const
export type ReportKind = (typeof REPORT_KINDS)[number]
