import { FIXED_LIMITS } from '../../model/limits.ts'
import { dayStart, type ReceivedReport, type TlsResultSum } from '../../model/policy-report.ts'
import { HISTORY_MS, type ReportsOfDay } from '../../model/reporter.ts'
import {
  byStanding,
  countedOf,
  messagesOf,
  resultsWithinDay,
  type WithReporters,
  withinDay,
  withReporters,
} from '../report-rows.ts'
import { createSourceSums, type SourceOfDay } from '../source-sums.ts'
import type { PolicyReports, ReportPeriod } from '../store.ts'
import { type Connection, one } from './driver.ts'
import { nextTurn } from './page.ts'
import type { Writer } from './writer.ts'

const IS_KNOWN = `select 1 from policy_reports
  where domain_id = ? and kind = ? and reporter = ? and report_id = ?`
const PLAUSIBLE = `messages between 1 and ${FIXED_LIMITS.reportedMessages}`
const REPORTS_OF_DAY = `select reporter, count(*) as reports, total(iif(kind = ?, messages, 0)) as messages,
    total(kind = ?) as ofKind, max(${PLAUSIBLE}) as isPlausible
  from policy_reports where domain_id = ? and received_day = ? group by reporter`
const LAST_DAY = 'select max(received_day) from policy_reports where domain_id = ?'
const NEXT_REPORT_DAY = 'select min(received_day) from policy_reports where domain_id = ? and received_day > ?'
const OWN_DAYS = `select count(distinct received_day) from policy_reports indexed by sqlite_autoindex_policy_reports_1
  where domain_id = ? and kind in ('dmarc', 'tls') and reporter = ? and received_day >= ? and received_day < ?
    and ${PLAUSIBLE}`
const ADD = `insert into policy_reports
  (domain_id, kind, reporter, report_id, organization_id, received_at, received_day, messages)
  values (?, ?, ?, ?, ?, ?, ?, ?)`
const SOURCES_OF_DAY = 'select count(*) from dmarc_sources where domain_id = ? and day = ?'
const RESULTS_OF_DAY = 'select count(*) from tls_results where domain_id = ? and day = ?'
const ADD_SOURCE = `insert into dmarc_sources (domain_id, day, source_ip, reporter, organization_id, messages, spf_aligned,
    dkim_aligned, passed, quarantined, rejected, begins_at, ends_at)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict do update set messages = messages + excluded.messages, spf_aligned = spf_aligned + excluded.spf_aligned,
    dkim_aligned = dkim_aligned + excluded.dkim_aligned, passed = passed + excluded.passed,
    quarantined = quarantined + excluded.quarantined, rejected = rejected + excluded.rejected,
    begins_at = min(begins_at, excluded.begins_at), ends_at = max(ends_at, excluded.ends_at)`
const ADD_RESULT = `insert into tls_results (domain_id, day, reporter, policy, result, host, organization_id, sessions,
    begins_at, ends_at)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict do update set sessions = sessions + excluded.sessions, begins_at = min(begins_at, excluded.begins_at),
    ends_at = max(ends_at, excluded.ends_at)`

// Day by day, so that the thread is free in between.
const NEXT_DAY = `select day from dmarc_sources where domain_id = ? and day > ? and day <= ? order by day limit 1`
const SOURCES = `select source_ip as sourceIp, reporter, messages, spf_aligned as spfAligned, dkim_aligned as dkimAligned,
    passed, quarantined, rejected, begins_at as firstAt, ends_at as lastAt
  from dmarc_sources where domain_id = ? and day = ?`
const RESULTS = `select policy, result, host, sum(sessions) as sessions, group_concat(distinct reporter) as reporters,
    min(begins_at) as firstAt, max(ends_at) as lastAt
  from tls_results where domain_id = ? and day between ? and ? and reporter in (select value from json_each(?))
  group by policy, result, host order by sessions desc, policy, result, host limit ?`
// Goes from domain to domain along the key.
const REPORTED = `with recursive reported (id) as (
    select min(domain_id) from policy_reports where domain_id > ?
    union all
    select (select min(domain_id) from policy_reports where domain_id > id) from reported where id is not null)
  select id from reported where id is not null
    and (select max(received_day) from policy_reports indexed by policy_reports_by_day where domain_id = id) >= ? limit ?`

export function sqlitePolicyReports(db: Connection, writer: Writer): PolicyReports {
  const isKnown = db.prepare(IS_KNOWN)
  const reportsOfDay = db.prepare<unknown[], ReportsOfDay & { ofKind: number; isPlausible: number }>(REPORTS_OF_DAY)
  const lastDay = db.prepare<unknown[], number | null>(LAST_DAY).pluck()
  const nextReportDay = db.prepare<unknown[], number | null>(NEXT_REPORT_DAY).pluck()
  const ownDays = db.prepare<unknown[], number>(OWN_DAYS).pluck()
  const add = db.prepare(ADD)
  const sourcesOfDay = db.prepare<unknown[], number>(SOURCES_OF_DAY).pluck()
  const resultsOfDay = db.prepare<unknown[], number>(RESULTS_OF_DAY).pluck()
  const addSource = db.prepare(ADD_SOURCE)
  const addResult = db.prepare(ADD_RESULT)
  const nextDay = db.prepare<unknown[], number>(NEXT_DAY).pluck()
  const sources = db.prepare<unknown[], SourceOfDay>(SOURCES)
  const results = db.prepare<unknown[], WithReporters<TlsResultSum>>(RESULTS)
  const reported = db.prepare<unknown[], string>(REPORTED).pluck()

  const addContent = (report: ReceivedReport, isKnown: boolean) => {
    const { organizationId, domainId, reporter, beginsAt, endsAt, content } = report
    const day = dayStart(beginsAt)
    if (content.kind === 'tls') {
      const results = resultsWithinDay(content.results, { isKnown, stored: one(resultsOfDay, domainId, day) })
      for (const { policy, result, host, sessions } of results) {
        addResult.run(domainId, day, reporter, policy, result, host, organizationId, sessions, beginsAt, endsAt)
      }
      return
    }
    for (const each of withinDay(content.sources, { isKnown, stored: one(sourcesOfDay, domainId, day) })) {
      const { sourceIp, messages, spfAligned, dkimAligned, passed, quarantined, rejected } = each
      const counts = [messages, spfAligned, dkimAligned, passed, quarantined, rejected]
      addSource.run(domainId, day, sourceIp, reporter, organizationId, ...counts, beginsAt, endsAt)
    }
  }
  const reportersOf = async (domainId: string, kind: 'dmarc' | 'tls', { from, to }: ReportPeriod) => {
    const seenAfter = Math.min(to, lastDay.get(domainId) ?? 0) - HISTORY_MS
    const inPeriod = new Map<string, ReportsOfDay>()
    const daysOf = new Map<string, number>()
    for (let day = nextReportDay.get(domainId, Math.min(from - 1, seenAfter)); day != null; ) {
      for (const { reporter, messages, ofKind, isPlausible } of reportsOfDay.all(kind, kind, domainId, day)) {
        if (day > seenAfter) daysOf.set(reporter, (daysOf.get(reporter) ?? 0) + isPlausible)
        if (day < from || day > to || ofKind === 0) continue
        const before = inPeriod.get(reporter) ?? { reports: 0, messages: 0 }
        const sums = { reports: before.reports + ofKind, messages: before.messages + messages }
        inPeriod.set(reporter, { reporter, ...sums })
      }
      await nextTurn()
      day = nextReportDay.get(domainId, day)
    }
    const history = [...daysOf].map(([reporter, days]) => ({ reporter, days }))
    return byStanding([...inPeriod.values()], history)
  }

  return {
    add: (report) =>
      writer.write(() => {
        const { organizationId, domainId, reporter, reportId, receivedAt, content } = report
        const key = [domainId, content.kind, reporter, reportId]
        if (isKnown.get(...key) !== undefined) return 'repeated'
        const day = dayStart(receivedAt)
        const days = one(ownDays, domainId, reporter, day - HISTORY_MS, day)
        const counted = countedOf(report, reportsOfDay.all(content.kind, content.kind, domainId, day), days)
        if (counted === null) return 'limit'
        add.run(...key, organizationId, receivedAt, day, messagesOf(report))
        addContent({ ...report, content: counted.content }, counted.isKnown)
        return 'stored'
      }),
    dmarc: async (domainId, period, limit) => {
      const { known, reports, claimed, unknown } = await reportersOf(domainId, 'dmarc', period)
      const names = new Set(known)
      const sums = createSourceSums()
      for (let day = nextDay.get(domainId, period.from - 1, period.to); day !== undefined; ) {
        sums.addDay(sources.all(domainId, day).filter(({ reporter }) => names.has(reporter)))
        await nextTurn()
        day = nextDay.get(domainId, day, period.to)
      }
      return {
        sources: sums.largest(limit),
        totals: { ...sums.totals(), reports, claimed },
        unknown,
      }
    },
    reportedDomains: async (since, after, limit) => reported.all(after, since, limit),
    tls: async (domainId, period, limit) => {
      const { known, reports } = await reportersOf(domainId, 'tls', period)
      const rows = results.all(domainId, period.from, period.to, JSON.stringify(known), limit)
      return { results: rows.map(withReporters), reports }
    },
  }
}
