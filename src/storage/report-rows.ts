import { largest, type ReportedSource } from '../mail/aggregate-report.ts'
import { FIXED_LIMITS } from '../model/limits.ts'
import {
  MAX_REPORTERS,
  type ReceivedReport,
  type TlsResult,
  UNSPECIFIED_RESULT,
  type UnknownReporter,
} from '../model/policy-report.ts'
import { LARGE_REPORTERS, messagesLeft, type ReportsOfDay, standingOf } from '../model/reporter.ts'

/** A report's messages; of a TLS report the sessions. */
export function messagesOf({ content }: Pick<ReceivedReport, 'content'>): number {
  const counts =
    content.kind === 'dmarc'
      ? content.sources.map(({ messages }) => messages)
      : content.results.map(({ sessions }) => sessions)
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Judges a report by the reports of its day about the domain, and by the earlier days with plausible ones of its
 *  reporter. Returns the report as it counts, and whether its reporter is more than unknown; null if it does not count
 *  (model/reporter.ts). */
export function countedOf(
  report: ReceivedReport,
  today: readonly ReportsOfDay[],
  days: number,
): { content: ReceivedReport['content']; isKnown: boolean } | null {
  const standing = standingOf(report.reporter, days)
  const left = messagesLeft(report.reporter, standing, today)
  if (left === null) return null
  const part = Math.min(1, left / Math.max(1, messagesOf(report)))
  return { content: part === 1 ? report.content : partOf(report.content, part), isKnown: standing !== 'unknown' }
}

function partOf(content: ReceivedReport['content'], part: number): ReceivedReport['content'] {
  if (content.kind === 'tls') {
    const results = content.results.map((each) => ({ ...each, sessions: Math.floor(each.sessions * part) }))
    return { kind: 'tls', results: results.filter(({ sessions }) => sessions > 0) }
  }
  const sources = content.sources.map(({ sourceIp, ...counts }) => ({
    sourceIp,
    messages: Math.floor(counts.messages * part),
    spfAligned: Math.floor(counts.spfAligned * part),
    dkimAligned: Math.floor(counts.dkimAligned * part),
    passed: Math.floor(counts.passed * part),
    quarantined: Math.floor(counts.quarantined * part),
    rejected: Math.floor(counts.rejected * part),
  }))
  return { kind: 'dmarc', sources: sources.filter(({ messages }) => messages > 0) }
}

/** What a reporter that `isKnown` or not may store, when `stored` rows of the domain and day are stored already. */
export interface RowsOfDay {
  isKnown: boolean
  stored: number
}

/** Sources of a report → those to store. */
export function withinDay(sources: readonly ReportedSource[], { isKnown, stored }: RowsOfDay): ReportedSource[] {
  const { reportedSources, reportedByUnknown } = FIXED_LIMITS
  const free = Math.max(0, (isKnown ? reportedSources : reportedByUnknown) - stored)
  return sources.length <= free ? [...sources] : largest(sources, Math.max(0, free - 1))
}

/** Results of a TLS report → those to store. */
export function resultsWithinDay(results: readonly TlsResult[], { isKnown, stored }: RowsOfDay): TlsResult[] {
  const { reportedTlsResults, reportedByUnknown } = FIXED_LIMITS
  if (stored + results.length <= (isKnown ? reportedTlsResults : reportedByUnknown)) return [...results]
  const sumOf = (isSuccess: boolean) =>
    results.filter(({ result }) => (result === '') === isSuccess).reduce((sum, { sessions }) => sum + sessions, 0)
  const sums = [
    { result: '', sessions: sumOf(true) },
    { result: UNSPECIFIED_RESULT, sessions: sumOf(false) },
  ]
  return sums.filter(({ sessions }) => sessions > 0).map((each) => ({ policy: UNSPECIFIED_RESULT, host: '', ...each }))
}

/** Reporters of a period, and the days of its history with plausible reports of each → what the known ones sent, and the
 *  unknown ones. `known`: all whose rows count. */
export function byStanding(
  period: readonly ReportsOfDay[],
  history: readonly { reporter: string; days: number }[],
): { known: string[]; reports: number; claimed: number; unknown: UnknownReporter[] } {
  const seen = history.filter(({ reporter, days }) => standingOf(reporter, days) !== 'unknown')
  const known = new Set([...LARGE_REPORTERS, ...seen.map(({ reporter }) => reporter)])
  const counted = period.filter(({ reporter }) => known.has(reporter))
  const unknown = period.filter(({ reporter }) => !known.has(reporter))
  return {
    known: [...known],
    reports: counted.reduce((sum, each) => sum + each.reports, 0),
    claimed: counted.reduce((sum, each) => sum + each.messages, 0),
    unknown: unknown
      .toSorted((a, b) => b.messages - a.messages || (a.reporter < b.reporter ? -1 : 1))
      .slice(0, MAX_REPORTERS),
  }
}
