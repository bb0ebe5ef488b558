import type {
  DmarcSource,
  DmarcTotals,
  ReceivedReport,
  TlsResultSum,
  UnknownReporter,
} from '../../model/policy-report.ts'

/** Reports of other servers about mail that names a domain as its author (DMARC), and about TLS to its hosts. */
export interface PolicyReports {
  /** Stores a report. `repeated`: one of this kind with the same domain, reporter and ID is stored. `limit`: the domain or
   *  the reporter has as many reports of that UTC day as its standing allows (model/reporter.ts). Both change nothing. A report
   *  with more messages than count is stored in proportion. Sources beyond the limit of a day are stored as one sum, TLS
   *  results as one of successes and one of failures. */
  add(report: ReceivedReport): Promise<'stored' | 'repeated' | 'limit'>
  /** The sources with the most messages, at most `limit`, and the totals of all. Unknown reporters count in neither;
   *  `unknown` has those with the most messages, at most MAX_REPORTERS. Who is known follows from
   *  the reports since 31 days before the end of the period. */
  dmarc(
    domainId: string,
    period: ReportPeriod,
    limit: number,
  ): Promise<{ sources: DmarcSource[]; totals: DmarcTotals; unknown: UnknownReporter[] }>
  /** Domains with a report received on that UTC day or later, in order, at most `limit`, after `after`. */
  reportedDomains(since: number, after: string, limit: number): Promise<string[]>
  /** TLS results, most sessions first, at most `limit`, and the number of reports received, both without unknown
   *  reporters. */
  tls(domainId: string, period: ReportPeriod, limit: number): Promise<{ results: TlsResultSum[]; reports: number }>
}

/** Days of the reports, by their start in ms UTC: from the first to the last, both included. */
export interface ReportPeriod {
  from: number
  to: number
}
