import type { ReportedSource } from '../mail/aggregate-report.ts'
import { type DmarcSource, type DmarcTotals, MAX_REPORTERS, type ReportedCounts } from '../model/policy-report.ts'

/** What one reporter says about a source in a day. */
export interface SourceOfDay extends ReportedSource {
  day: number
  reporter: string
  firstAt: number
  lastAt: number
}

/** Adds up the sources of several days. */
export function createSourceSums() {
  const bySource = new Map<string, SourceOfDay & { reporters: Set<string> }>()
  const reporters = new Set<string>()
  const counts: ReportedCounts = { messages: 0, spfAligned: 0, dkimAligned: 0, passed: 0, quarantined: 0, rejected: 0 }
  let days = 0
  let firstAt: number | null = null
  let lastAt: number | null = null

  const addSource = (row: SourceOfDay) => {
    const known = bySource.get(row.sourceIp)
    if (known === undefined) {
      bySource.set(row.sourceIp, { ...row, reporters: new Set([row.reporter]) })
      return
    }
    addCounts(known, row)
    known.reporters.add(row.reporter)
    known.firstAt = Math.min(known.firstAt, row.firstAt)
    known.lastAt = Math.max(known.lastAt, row.lastAt)
  }
  return {
    /** Rows of a day that was not added before. */
    addDay: (rows: readonly SourceOfDay[]) => {
      if (rows.length > 0) days++
      for (const row of rows) {
        addCounts(counts, row)
        reporters.add(row.reporter)
        firstAt = Math.min(firstAt ?? row.firstAt, row.firstAt)
        lastAt = Math.max(lastAt ?? row.lastAt, row.lastAt)
        if (row.sourceIp !== '') addSource(row)
      }
    },
    largest: (most: number): DmarcSource[] =>
      [...bySource.values()]
        .sort((a, b) => b.messages - a.messages || (a.sourceIp < b.sourceIp ? -1 : 1))
        .slice(0, most)
        .map(({ day: _day, reporter: _reporter, reporters: all, ...sum }) => ({
          ...sum,
          reporters: [...all].sort().slice(0, MAX_REPORTERS),
        })),
    totals: (): Omit<DmarcTotals, 'reports' | 'claimed'> => ({
      ...counts,
      sources: bySource.size,
      reporters: reporters.size,
      days,
      firstAt,
      lastAt,
    }),
  }
}

function addCounts(sum: ReportedCounts, more: ReportedCounts): void {
  sum.messages += more.messages
  sum.spfAligned += more.spfAligned
  sum.dkimAligned += more.dkimAligned
  sum.passed += more.passed
  sum.quarantined += more.quarantined
  sum.rejected += more.rejected
}
