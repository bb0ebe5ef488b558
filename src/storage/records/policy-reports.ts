import { FIXED_LIMITS } from '../../model/limits.ts'
import {
  type DmarcSource,
  type DmarcTotals,
  dayStart,
  MAX_REPORTERS,
  type ReceivedReport,
  type TlsResultSum,
  type UnknownReporter,
} from '../../model/policy-report.ts'
import { HISTORY_MS, type ReportsOfDay } from '../../model/reporter.ts'
import { DAY_MS } from '../mail-counts.ts'
import { byStanding, countedOf, messagesOf, resultsWithinDay, withinDay } from '../report-rows.ts'
import { createSourceSums, type SourceOfDay } from '../source-sums.ts'
import { type Database, row, rows, run, sql, type Work } from '../sql.ts'

/** Days of the reports, by their start in ms UTC: from the first to the last, both included. */
export interface ReportPeriod {
  from: number
  to: number
}

// One report of a domain after the other, whichever nodes received them: limits hold, and no two wait for each other in a
// circle. SQLite has one writer.
const LOCK = sql<{ locked: unknown }>(
  `select pg_advisory_xact_lock(hashtextextended('policy reports ' || $1, 0)) as locked`,
  'select $1 as locked',
)
const REPORT = 'domain_id = $1 and kind = $2 and reporter = $3 and report_id = $4'
const IS_KNOWN = sql<{ known: number }>(`select 1 as known from policy_reports where ${REPORT}`)
const PLAUSIBLE = `messages between 1 and ${FIXED_LIMITS.reportedMessages}`
// `messages` and `ofKind` are those of reports of the kind $2; `reports` of all kinds.
const REPORTS_OF_DAYS = sql<ReportsOfDay & { day: number; ofKind: number; plausible: number }>(`select
    received_day as day, reporter, count(*) as reports, count(*) filter (where kind = $2) as "ofKind",
    coalesce(sum(messages) filter (where kind = $2), 0)::float8 as messages,
    count(*) filter (where ${PLAUSIBLE}) as plausible
  from policy_reports where domain_id = $1 and received_day >= $3 and received_day < $4 group by received_day, reporter`)
const FIRST_DAY = sql<{ day: number | null }>(
  'select min(received_day) as day from policy_reports where domain_id = $1',
)
const LAST_DAY = sql<{ day: number | null }>('select max(received_day) as day from policy_reports where domain_id = $1')
// The plus keeps SQLite from using the index of days, which has the reports of all reporters.
const OWN_DAYS = sql<{ days: number }>(`select count(distinct +received_day) as days from policy_reports
  where domain_id = $1 and kind in ('dmarc', 'tls') and reporter = $2 and +received_day >= $3 and +received_day < $4
    and ${PLAUSIBLE}`)
const ADD = sql(`insert into policy_reports
    (domain_id, kind, reporter, report_id, organization_id, received_at, received_day, messages)
  values ($1, $2, $3, $4, $5, $6, $7, $8)`)
const SOURCE_COUNT = sql<{ count: number }>(
  'select count(*) as count from dmarc_sources where domain_id = $1 and day = $2',
)
const RESULT_COUNT = sql<{ count: number }>(
  'select count(*) as count from tls_results where domain_id = $1 and day = $2',
)
const given = (name: string) => `(given.value->>'${name}')::bigint`
const ADD_SOURCES = sql(`insert into dmarc_sources as present (domain_id, day, reporter, organization_id, begins_at,
    ends_at, source_ip, messages, spf_aligned, dkim_aligned, passed, quarantined, rejected)
  select $1, $2, $3, $4, $5, $6, given.value->>'sourceIp', ${given('messages')}, ${given('spfAligned')},
    ${given('dkimAligned')}, ${given('passed')}, ${given('quarantined')}, ${given('rejected')}
  from json_array_elements($7::text::json) given where true
  on conflict (domain_id, day, source_ip, reporter) do update set messages = present.messages + excluded.messages,
    spf_aligned = present.spf_aligned + excluded.spf_aligned,
    dkim_aligned = present.dkim_aligned + excluded.dkim_aligned, passed = present.passed + excluded.passed,
    quarantined = present.quarantined + excluded.quarantined, rejected = present.rejected + excluded.rejected,
    begins_at = least(present.begins_at, excluded.begins_at), ends_at = greatest(present.ends_at, excluded.ends_at)`)
const ADD_RESULT = sql(`insert into tls_results as present (domain_id, day, reporter, policy, result, host,
    organization_id, sessions, begins_at, ends_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
  on conflict (domain_id, day, reporter, policy, result, host) do update
    set sessions = present.sessions + excluded.sessions, begins_at = least(present.begins_at, excluded.begins_at),
    ends_at = greatest(present.ends_at, excluded.ends_at)`)
// Of the next day that has any.
const SOURCES = sql<SourceOfDay>(`select day, source_ip as "sourceIp", reporter, messages, spf_aligned as "spfAligned",
    dkim_aligned as "dkimAligned", passed, quarantined, rejected, begins_at as "firstAt", ends_at as "lastAt"
  from dmarc_sources where domain_id = $1
    and day = (select min(day) from dmarc_sources where domain_id = $1 and day >= $2 and day <= $3)`)
const RESULTS = sql<ResultRow>(`select policy, result, host,
    sum(sessions)::float8 as sessions, json_agg(distinct reporter)::text as reporters, min(begins_at) as "firstAt",
    max(ends_at) as "lastAt"
  from tls_results where domain_id = $1 and day between $2 and $3 and reporter = any($4::text[])
  group by policy, result, host order by 4 desc, policy, result, host limit $5`)
// Goes from domain to domain along the key.
const REPORTED = sql<{ id: string }>(`with recursive reported (id) as (
    select min(domain_id) from policy_reports where domain_id > $1
    union all
    select (select min(domain_id) from policy_reports where domain_id > id) from reported where id is not null)
  select id from reported where id is not null
    and (select max(received_day) from policy_reports where domain_id = id) >= $2 limit $3`)

type ResultRow = Omit<TlsResultSum, 'reporters'> & { reporters: string }

/** Reports of other servers about mail that names a domain as its author (DMARC), and about TLS to its hosts. */
export function policyReportRecords(database: Database) {
  return {
    /** Stores a report. `repeated`: one of this kind with the same domain, reporter and ID is stored. `limit`: the domain or
     *  the reporter has as many reports of that UTC day as its standing allows (model/reporter.ts). Both change nothing. A report
     *  with more messages than count is stored in proportion. Sources beyond the limit of a day are stored as one sum, TLS
     *  results as one of successes and one of failures. */
    add: (report: ReceivedReport): Promise<'stored' | 'repeated' | 'limit'> =>
      database.write(function* () {
        const { organizationId, domainId, reporter, reportId, receivedAt, content } = report
        const key = [domainId, content.kind, reporter, reportId] as const
        yield* row(LOCK, domainId)
        if ((yield* row(IS_KNOWN, ...key)) !== null) return 'repeated'
        const day = dayStart(receivedAt)
        const own = yield* row(OWN_DAYS, domainId, reporter, day - HISTORY_MS, day)
        const today = yield* rows(REPORTS_OF_DAYS, domainId, content.kind, day, day + DAY_MS)
        const counted = countedOf(report, today, own?.days ?? 0)
        if (counted === null) return 'limit'
        yield* run(ADD, ...key, organizationId, receivedAt, day, messagesOf(report))
        yield* addContent({ ...report, content: counted.content }, counted.isKnown)
        return 'stored'
      }),
    /** The sources with the most messages, at most `limit`, and the totals of all. Unknown reporters count in neither;
     *  `unknown` has those with the most messages, at most MAX_REPORTERS. Who is known follows from
     *  the reports since 31 days before the end of the period. */
    dmarc: (
      domainId: string,
      { from, to }: ReportPeriod,
      limit: number,
    ): Promise<{ sources: DmarcSource[]; totals: DmarcTotals; unknown: UnknownReporter[] }> =>
      database.read(function* () {
        const { known, reports, claimed, unknown } = yield* reportersOf(domainId, 'dmarc', { from, to })
        const names = new Set(known)
        const sums = createSourceSums()
        // Day by day: those of a month together may be tens of thousands.
        for (let next = yield* rows(SOURCES, domainId, from, to); next[0] !== undefined; ) {
          sums.addDay(next.filter(({ reporter }) => names.has(reporter)))
          next = yield* rows(SOURCES, domainId, next[0].day + 1, to)
        }
        return { sources: sums.largest(limit), totals: { ...sums.totals(), reports, claimed }, unknown }
      }),
    /** Domains with a report received on that UTC day or later, in order, at most `limit`, after `after`. */
    reportedDomains: async (since: number, after: string, limit: number): Promise<string[]> =>
      (await database.rows(REPORTED, after, since, limit)).map(({ id }) => id),
    /** TLS results, most sessions first, at most `limit`, and the number of reports received, both without unknown
     *  reporters. */
    tls: (
      domainId: string,
      { from, to }: ReportPeriod,
      limit: number,
    ): Promise<{ results: TlsResultSum[]; reports: number }> =>
      database.read(function* () {
        const { known, reports } = yield* reportersOf(domainId, 'tls', { from, to })
        const sums = yield* rows(RESULTS, domainId, from, to, known, limit)
        return { results: sums.map(toResult), reports }
      }),
  }
}

function* addContent(report: ReceivedReport, isKnown: boolean): Work<void> {
  const { organizationId, domainId, reporter, beginsAt, endsAt, content } = report
  const day = dayStart(beginsAt)
  if (content.kind === 'dmarc') {
    const stored = (yield* row(SOURCE_COUNT, domainId, day))?.count ?? 0
    const sources = JSON.stringify(withinDay(content.sources, { isKnown, stored }))
    yield* run(ADD_SOURCES, domainId, day, reporter, organizationId, beginsAt, endsAt, sources)
    return
  }
  const stored = (yield* row(RESULT_COUNT, domainId, day))?.count ?? 0
  for (const { policy, result, host, sessions } of resultsWithinDay(content.results, { isKnown, stored })) {
    const key = [domainId, day, reporter, policy, result, host] as const
    yield* run(ADD_RESULT, ...key, organizationId, sessions, beginsAt, endsAt)
  }
}

/** Days of reports that are read at once, each with at most some hundred. */
const TOGETHER_MS = 7 * DAY_MS

/** What known reporters sent in a period, and the unknown ones. Who is known follows from the days since HISTORY_MS before
 *  its end, or before the last report. */
function* reportersOf(
  domainId: string,
  kind: 'dmarc' | 'tls',
  { from, to }: ReportPeriod,
): Work<ReturnType<typeof byStanding>> {
  const first = (yield* row(FIRST_DAY, domainId))?.day ?? null
  const last = (yield* row(LAST_DAY, domainId))?.day ?? null
  if (first === null || last === null) return byStanding([], [])
  const seenFrom = Math.min(to, last) - HISTORY_MS + DAY_MS
  const inPeriod = new Map<string, ReportsOfDay>()
  const daysOf = new Map<string, number>()
  for (let start = Math.max(first, Math.min(from, seenFrom)); start <= last; start += TOGETHER_MS) {
    for (const each of yield* rows(REPORTS_OF_DAYS, domainId, kind, start, start + TOGETHER_MS)) {
      const { day, reporter, ofKind, plausible } = each
      if (day >= seenFrom && plausible > 0) daysOf.set(reporter, (daysOf.get(reporter) ?? 0) + 1)
      if (day < from || day > to || ofKind === 0) continue
      const { reports, messages } = inPeriod.get(reporter) ?? { reports: 0, messages: 0 }
      inPeriod.set(reporter, { reporter, reports: reports + ofKind, messages: messages + each.messages })
    }
  }
  const history = [...daysOf].map(([reporter, days]) => ({ reporter, days }))
  return byStanding([...inPeriod.values()], history)
}

function toResult({ reporters, ...rest }: ResultRow): TlsResultSum {
  return { ...rest, reporters: JSON.parse(reporters).toSorted().slice(0, MAX_REPORTERS) }
}
