import { largest, type ReportedSource } from '../mail/aggregate-report.ts'
import { FIXED_LIMITS } from '../model/limits.ts'
import {
  type DmarcSource,
  type DmarcTotals,
  MAX_REPORTERS,
  type ReceivedReport,
  type TlsResult,
  UNSPECIFIED_RESULT,
} from '../model/policy-report.ts'

/** A report's messages; of a TLS report the sessions. */
export function messagesOf({ content }: Pick<ReceivedReport, 'content'>): number {
  const counts =
    content.kind === 'dmarc'
      ? content.sources.map(({ messages }) => messages)
      : content.results.map(({ sessions }) => sessions)
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Sources of a report → those to store, when `stored` rows of the domain and day are stored already. */
export function withinDay(sources: readonly ReportedSource[], stored: number): ReportedSource[] {
  const free = Math.max(0, FIXED_LIMITS.reportedSources - stored)
  return sources.length <= free ? [...sources] : largest(sources, Math.max(0, free - 1))
}

/** Results of a TLS report → those to store, when `stored` rows of the domain and day are stored already. */
export function resultsWithinDay(results: readonly TlsResult[], stored: number): TlsResult[] {
  if (stored + results.length <= FIXED_LIMITS.reportedTlsResults) return [...results]
  const sumOf = (isSuccess: boolean) =>
    results.filter(({ result }) => (result === '') === isSuccess).reduce((sum, { sessions }) => sum + sessions, 0)
  const sums = [
    { result: '', sessions: sumOf(true) },
    { result: UNSPECIFIED_RESULT, sessions: sumOf(false) },
  ]
  return sums.filter(({ sessions }) => sessions > 0).map((each) => ({ policy: UNSPECIFIED_RESULT, host: '', ...each }))
}

/** Whether a domain or a reporter has sent enough reports that day. */
export function isEnough({ all, own }: { all: number; own: number }): boolean {
  return all >= FIXED_LIMITS.reportsPerDay || own >= FIXED_LIMITS.reportsOfReporter
}

/** A row with its reporters as one text. */
export type WithReporters<Sum> = Omit<Sum, 'reporters'> & { reporters: string }

export function withReporters<Row extends { reporters: string }>(
  row: Row,
): Omit<Row, 'reporters'> & { reporters: string[] } {
  return { ...row, reporters: row.reporters.split(',').toSorted().slice(0, MAX_REPORTERS) }
}

export type DmarcSourceRow = WithReporters<DmarcSource>
export type TotalsRow = Omit<DmarcTotals, 'reports'>
