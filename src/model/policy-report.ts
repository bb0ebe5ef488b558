import type { ReportedSource } from '../mail/aggregate-report.ts'

/** A DMARC or TLS report about a domain, as it is stored. */
export interface ReceivedReport {
  organizationId: string
  domainId: string
  /** Domain that authenticated the mail with the report. */
  reporter: string
  /** The reporter's ID of the report. */
  reportId: string
  receivedAt: number
  /** Its period, ms UTC. */
  beginsAt: number
  endsAt: number
  content: { kind: 'dmarc'; sources: ReportedSource[] } | { kind: 'tls'; results: TlsResult[] }
}

/** Sessions of other servers with a host of the domain. */
export interface TlsResult {
  /** `sts`, `tlsa`, `no-policy-found`, or another word of the reporter. */
  policy: string
  /** The failure by its name in RFC 8460 §4.3; '' = successful. */
  result: string
  /** '' if the report names none. */
  host: string
  sessions: number
}

/** Reports of one unknown reporter over a time (reporter.ts). */
export interface UnknownReporter {
  reporter: string
  reports: number
  /** As they claim; of TLS reports sessions. */
  messages: number
}

/** What several reports say about a source, or about all of them. */
export type ReportedCounts = Omit<ReportedSource, 'sourceIp'>

/** A source over all reports of a time. */
export interface DmarcSource extends ReportedSource {
  /** At most MAX_REPORTERS, in alphabetical order. */
  reporters: string[]
  /** Start of its first and end of its last period, ms UTC. */
  firstAt: number
  lastAt: number
}

export const MAX_REPORTERS = 20

/** Result of TLS sessions that failed without a stated reason. */
export const UNSPECIFIED_RESULT = 'unspecified'

/** Totals of a domain over all reports of a period, including the sources beyond the limits. */
export interface DmarcTotals extends ReportedCounts {
  /** Reports received. */
  reports: number
  /** Messages that the reports claim. `messages` is the number that counts. */
  claimed: number
  sources: number
  reporters: number
  /** Days with messages. */
  days: number
  /** Null without messages. */
  firstAt: number | null
  lastAt: number | null
}

/** One result over all reports of a time. */
export interface TlsResultSum extends TlsResult {
  reporters: string[]
  firstAt: number
  lastAt: number
}

/** Time → the start of its UTC day. */
export function dayStart(at: number): number {
  return at - (at % DAY_MS)
}

const DAY_MS = 86_400_000
