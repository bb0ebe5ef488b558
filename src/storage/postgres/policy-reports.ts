import { FIXED_LIMITS } from '../../model/limits.ts'
import { dayStart, type ReceivedReport, type TlsResultSum } from '../../model/policy-report.ts'
import { HISTORY_MS, type ReportsOfDay } from '../../model/reporter.ts'
import {
  byStanding,
  countedOf,
  type DmarcSourceRow,
  messagesOf,
  resultsWithinDay,
  type TotalsRow,
  type WithReporters,
  withinDay,
  withReporters,
} from '../report-rows.ts'
import type { PolicyReports, ReportPeriod } from '../store.ts'
import { numberArray, textArray } from './arrays.ts'
import type { Reads } from './reads.ts'
import type { Statements } from './transactions.ts'
import type { Writer } from './writer.ts'

// One report of a domain after the other, whichever nodes received them: limits hold, and no two wait for each other in a
// circle.
const LOCK = `select pg_advisory_xact_lock(hashtextextended('policy reports ' || $1, 0))`
const OF_PERIOD = `select reporter, count(*)::int as reports, sum(messages)::float8 as messages from policy_reports
  where domain_id = $1 and received_day between $2 and $3 and kind = $4 group by reporter`
const REPORTS_OF_DAY = `select reporter, count(*)::int as reports,
    coalesce(sum(messages) filter (where kind = $3), 0)::float8 as messages
  from policy_reports where domain_id = $1 and received_day = $2 group by reporter`
const PLAUSIBLE = `messages between 1 and ${FIXED_LIMITS.reportedMessages}`
const HISTORY = `select reporter, count(distinct received_day)::int as days from policy_reports
  where domain_id = $1 and ${PLAUSIBLE} and received_day > $2::bigint + least($3::bigint, (select max(received_day)
    from policy_reports where domain_id = $1))
  group by reporter`
const OWN_DAYS = `select count(distinct received_day)::int as days from policy_reports
  where domain_id = $1 and kind in ('dmarc', 'tls') and reporter = $2 and received_day >= $3 and received_day < $4
    and ${PLAUSIBLE}`
const ADD = `insert into policy_reports
  (domain_id, kind, reporter, report_id, organization_id, received_at, received_day, messages)
  values ($1, $2, $3, $4, $5, $6, $7, $8)`
const IS_KNOWN = `select 1 from policy_reports
  where domain_id = $1 and kind = $2 and reporter = $3 and report_id = $4`
const SOURCES_OF_DAY = 'select count(*)::int as count from dmarc_sources where domain_id = $1 and day = $2'
const RESULTS_OF_DAY = 'select count(*)::int as count from tls_results where domain_id = $1 and day = $2'
const ADD_SOURCES = `insert into dmarc_sources as present (domain_id, day, reporter, organization_id, begins_at, ends_at,
    source_ip, messages, spf_aligned, dkim_aligned, passed, quarantined, rejected)
  select $1, $2, $3, $4, $5, $6, given.* from unnest($7::text[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[],
    $12::bigint[], $13::bigint[]) as given (source_ip, messages, spf, dkim, passed, quarantined, rejected)
  on conflict (domain_id, day, source_ip, reporter) do update set messages = present.messages + excluded.messages,
    spf_aligned = present.spf_aligned + excluded.spf_aligned,
    dkim_aligned = present.dkim_aligned + excluded.dkim_aligned, passed = present.passed + excluded.passed,
    quarantined = present.quarantined + excluded.quarantined, rejected = present.rejected + excluded.rejected,
    begins_at = least(present.begins_at, excluded.begins_at), ends_at = greatest(present.ends_at, excluded.ends_at)`
const ADD_RESULT = `insert into tls_results as present (domain_id, day, reporter, policy, result, host, organization_id,
    sessions, begins_at, ends_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
  on conflict (domain_id, day, reporter, policy, result, host) do update
    set sessions = present.sessions + excluded.sessions, begins_at = least(present.begins_at, excluded.begins_at),
    ends_at = greatest(present.ends_at, excluded.ends_at)`

const sum = (column: string) => `coalesce(sum(${column}), 0)::float8`
const COUNTS = `${sum('messages')} as messages, ${sum('spf_aligned')} as "spfAligned",
  ${sum('dkim_aligned')} as "dkimAligned", ${sum('passed')} as passed, ${sum('quarantined')} as quarantined,
  ${sum('rejected')} as rejected`
const SEEN = `string_agg(distinct reporter, ',') as reporters, min(begins_at)::float8 as "firstAt",
  max(ends_at)::float8 as "lastAt"`
const SOURCES = `select source_ip as "sourceIp", ${COUNTS}, ${SEEN}
  from dmarc_sources where domain_id = $1 and day between $2 and $3 and reporter = any($4::text[]) and source_ip <> ''
  group by source_ip order by sum(messages) desc, source_ip limit $5`
const TOTALS = `select ${COUNTS}, count(distinct nullif(source_ip, ''))::int as sources,
    count(distinct reporter)::int as reporters, count(distinct day)::int as days, min(begins_at)::float8 as "firstAt",
    max(ends_at)::float8 as "lastAt"
  from dmarc_sources where domain_id = $1 and day between $2 and $3 and reporter = any($4::text[])`
const RESULTS = `select policy, result, host, ${sum('sessions')} as sessions, ${SEEN}
  from tls_results where domain_id = $1 and day between $2 and $3 and reporter = any($4::text[])
  group by policy, result, host order by sum(sessions) desc, policy, result, host limit $5`
// Goes from domain to domain along the key.
const REPORTED = `with recursive reported (id) as (
    select min(domain_id) from policy_reports where domain_id > $1
    union all
    select (select min(domain_id) from policy_reports where domain_id > id) from reported where id is not null)
  select id from reported where id is not null
    and (select max(received_day) from policy_reports where domain_id = id) >= $2 limit $3`

export function postgresPolicyReports(reads: Reads, writer: Writer): PolicyReports {
  const reportersOf = async (domainId: string, kind: 'dmarc' | 'tls', { from, to }: ReportPeriod) => {
    const [period, history] = await Promise.all([
      reads.query<ReportsOfDay>(OF_PERIOD, [domainId, from, to, kind]),
      reads.query<{ reporter: string; days: number }>(HISTORY, [domainId, -HISTORY_MS, to]),
    ])
    return byStanding(period, history)
  }
  return {
    add: (report) =>
      writer.write(async (statements) => {
        const { organizationId, domainId, reporter, reportId, receivedAt, content } = report
        const key = [domainId, content.kind, reporter, reportId]
        await statements.query(LOCK, [domainId])
        if ((await statements.query(IS_KNOWN, key)).length > 0) return 'repeated'
        const day = dayStart(receivedAt)
        const [own] = await statements.query<{ days: number }>(OWN_DAYS, [domainId, reporter, day - HISTORY_MS, day])
        const today = await statements.query<ReportsOfDay>(REPORTS_OF_DAY, [domainId, day, content.kind])
        const counted = countedOf(report, today, own?.days ?? 0)
        if (counted === null) return 'limit'
        await statements.run(ADD, [...key, organizationId, receivedAt, day, messagesOf(report)])
        await addContent(statements, { ...report, content: counted.content }, counted.isKnown)
        return 'stored'
      }),
    dmarc: async (domainId, period, limit) => {
      const { from, to } = period
      const { known, reports, claimed, unknown } = await reportersOf(domainId, 'dmarc', period)
      const of = [domainId, from, to, textArray(known)]
      const [rows, [totals]] = await Promise.all([
        reads.query<DmarcSourceRow>(SOURCES, [...of, limit]),
        reads.query<TotalsRow>(TOTALS, of),
      ])
      if (totals === undefined) throw new Error('a sum without a row')
      return { sources: rows.map(withReporters), totals: { ...totals, reports, claimed }, unknown }
    },
    reportedDomains: async (since, after, limit) =>
      (await reads.query<{ id: string }>(REPORTED, [after, since, limit])).map(({ id }) => id),
    tls: async (domainId, period, limit) => {
      const { from, to } = period
      const { known, reports } = await reportersOf(domainId, 'tls', period)
      const of = [domainId, from, to, textArray(known), limit]
      const rows = await reads.query<WithReporters<TlsResultSum>>(RESULTS, of)
      return { results: rows.map(withReporters), reports }
    },
  }
}

async function addContent({ query, run }: Statements, report: ReceivedReport, isKnown: boolean): Promise<void> {
  const { organizationId, domainId, reporter, beginsAt, endsAt, content } = report
  const day = dayStart(beginsAt)
  if (content.kind === 'tls') {
    const [stored] = await query<{ count: number }>(RESULTS_OF_DAY, [domainId, day])
    for (const { policy, result, host, sessions } of resultsWithinDay(content.results, {
      isKnown,
      stored: stored?.count ?? 0,
    })) {
      const key = [domainId, day, reporter, policy, result, host]
      await run(ADD_RESULT, [...key, organizationId, sessions, beginsAt, endsAt])
    }
    return
  }
  const [stored] = await query<{ count: number }>(SOURCES_OF_DAY, [domainId, day])
  const sources = withinDay(content.sources, { isKnown, stored: stored?.count ?? 0 })
  const of = (name: Exclude<keyof (typeof sources)[number], 'sourceIp'>) =>
    numberArray(sources.map((source) => source[name]))
  await run(ADD_SOURCES, [
    ...[domainId, day, reporter, organizationId, beginsAt, endsAt],
    textArray(sources.map(({ sourceIp }) => sourceIp)),
    ...[of('messages'), of('spfAligned'), of('dkimAligned'), of('passed'), of('quarantined'), of('rejected')],
  ])
}
