import { z } from 'zod'
import { type Config, configuredSources } from '../../../config/load.ts'
import { dmarcAdvice, type NamedSource } from '../../../domains/dmarc-advice.ts'
import { senderOf } from '../../../domains/known-senders.ts'
import { requestsReports } from '../../../domains/report-records.ts'
import { createSourceNames } from '../../../domains/source-names.ts'
import type { Disposition } from '../../../mail/aggregate-report.ts'
import type { Domain } from '../../../model/domain.ts'
import { iso } from '../../../model/event.ts'
import { type DmarcSource, dayStart, type ReportedCounts, type TlsResultSum } from '../../../model/policy-report.ts'
import { invalid } from '../../../model/refusal.ts'
import type { Resolver } from '../../../net/dns/resolver.ts'
import { canonicalIp } from '../../../net/ip.ts'
import { pathParameter } from '../../../net/path-parameter.ts'
import type { Clock } from '../../../os/clock.ts'
import type { ReportPeriod, Store } from '../../../storage/store.ts'
import { rule } from '../access.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { isoTime } from '../schema.ts'
import { requireWithin, scopeOf } from '../scope.ts'

const query = z.strictObject({ from: isoTime.optional(), to: isoTime.optional() })

const DAY_MS = 86_400_000
const DEFAULT_DAYS = 30
/** Longer periods take SQLite too long for a domain with the most sources. */
const MOST_DAYS = 31
const MOST_SOURCES = 500
const MOST_RESULTS = 200
/** No domain has it. */
const NO_DOMAIN = ''
const PERIOD =
  'Days are complete and in UTC: `from` is rounded down, `to` (exclusive) up. The default is the last 30 days; at most 31 days.'

/** The operations that show what other servers report about a domain: DMARC sources with their names, and TLS results. */
export function policyReportOperations(deps: {
  store: Pick<Store, 'domains' | 'policyReports'>
  resolver: Resolver
  clock: Clock
  config: Pick<Config, 'hostname' | 'sending' | 'delivery'>
}): Operation[] {
  const { store, config } = deps
  const { hostname } = config
  const sourceNames = createSourceNames(deps)
  const configured = new Set(configuredSources(config).map((address) => canonicalIp(address) ?? address))

  const load = async (call: Call): Promise<Domain> => {
    const domain = await store.domains.get(pathParameter(call, 'domain_id'))
    return requireWithin(domain && { ...domain, domainId: domain.id }, scopeOf(call.key), 'domain')
  }
  /** The ID whose reports the key may see: they are about live mail. */
  const reportsFor = (call: Call, { id }: Domain): string => (scopeOf(call.key).mode === 'test' ? NO_DOMAIN : id)
  const named = async (sources: readonly DmarcSource[]): Promise<NamedSource[]> => {
    const [names, own] = await Promise.all([
      sourceNames.namesOf(sources.map(({ sourceIp }) => sourceIp)),
      sourceNames.addressesOf(hostname),
    ])
    return sources.map((source) => {
      const ptr = names.get(source.sourceIp) ?? null
      const provider = ptr === null ? null : senderOf(ptr)
      const isOurs = own.has(source.sourceIp) || configured.has(source.sourceIp)
      return { ...source, ptr, provider, kind: isOurs ? 'ours' : provider === null ? 'unknown' : 'known' }
    })
  }

  return [
    operation({
      id: 'domains_dmarc',
      method: 'GET',
      path: '/v1/domains/:domain_id/dmarc',
      tag: 'Domains',
      access: rule('read', 'viewer', 'test_records', 'own_domain'),
      summary: 'Retrieve the DMARC sources of a domain',
      description: `Addresses that sent mail in the name of the domain, from the DMARC aggregate reports of receivers, most messages first, at most ${MOST_SOURCES}. \`totals\` count all. Reports of unknown reporters count in neither, and are in \`unknown_reporters\`: all but large receivers and those with reports about the domain on 7 days. \`kind\`: this server, a known mail service, or unknown. A name in \`ptr\` is confirmed by its address record; names that DNS has not answered yet are null. \`advice\` recommends a policy. ${PERIOD}`,
      responses: async () => (await import('../responses/policy-reports.ts')).dmarcResponses,
      query,
      async handle(call) {
        const domain = await load(call)
        const period = requirePeriod(call.query, call.now)
        const { sources, totals, unknown } = await store.policyReports.dmarc(
          reportsFor(call, domain),
          period,
          MOST_SOURCES,
        )
        const known = await named(sources)
        const { current, isRequested } = publishedBy(domain)
        const advice = dmarcAdvice({ domain: domain.name, current, isRequested, sources: known, totals })
        const { reports, claimed, sources: count, reporters, days } = totals
        const body = {
          data: known.map(toWire),
          totals: { ...countsOf(totals), passed: totals.passed, claimed, reports, sources: count, reporters, days },
          unknown_reporters: unknown,
          advice,
        }
        return { status: 200, body }
      },
    }),
    operation({
      id: 'domains_tls_reports',
      method: 'GET',
      path: '/v1/domains/:domain_id/tls-reports',
      tag: 'Domains',
      access: rule('read', 'viewer', 'test_records', 'own_domain'),
      summary: 'Retrieve the TLS results of a domain',
      description: `TLS connections of other mail servers to the hosts of the domain, from their reports (RFC 8460), most sessions first, without those of unknown reporters. \`result\` is \`success\` or the name of the failure. ${PERIOD}`,
      responses: async () => (await import('../responses/policy-reports.ts')).tlsReportResponses,
      query,
      async handle(call) {
        const domain = await load(call)
        const period = requirePeriod(call.query, call.now)
        const { results, reports } = await store.policyReports.tls(reportsFor(call, domain), period, MOST_RESULTS)
        const sum = (some: readonly TlsResultSum[]) => some.reduce((total, { sessions }) => total + sessions, 0)
        const successful = sum(results.filter(({ result }) => result === ''))
        const failed = sum(results) - successful
        return { status: 200, body: { data: results.map(resultToWire), totals: { reports, successful, failed } } }
      },
    }),
  ]
}

/** Query → days. Throws `validation_error` if `to` is not after `from`, or for too many days. */
function requirePeriod(asked: z.infer<typeof query>, now: number): ReportPeriod {
  const before = asked.to ?? Math.max(now, asked.from ?? now) + 1
  const to = dayStart(before - 1)
  const from = dayStart(asked.from ?? to - (DEFAULT_DAYS - 1) * DAY_MS)
  if (from > to || (asked.from !== undefined && asked.from >= before)) {
    throw invalid([{ field: 'to', message: 'to must be later than from' }])
  }
  if (to - from < MOST_DAYS * DAY_MS) return { from, to }
  throw invalid([{ field: 'from', message: `from and to must be at most ${MOST_DAYS} days apart` }])
}

/** The policy that DNS had at the last check. */
function publishedBy(domain: Domain): { current: Disposition | null; isRequested: boolean } {
  const finding = domain.findings.find(({ purpose }) => purpose === 'dmarc')
  const [record = ''] = finding?.status === 'valid' ? finding.found : []
  const policy = /;\s{0,9}p\s{0,9}=\s{0,9}(none|quarantine|reject)\b/i.exec(record)?.[1]?.toLowerCase()
  return { current: (policy as Disposition | undefined) ?? null, isRequested: requestsReports(record, domain) }
}

function countsOf({ messages, spfAligned, dkimAligned, quarantined, rejected }: ReportedCounts) {
  return {
    messages,
    spf_aligned: spfAligned,
    dkim_aligned: dkimAligned,
    disposition: { none: messages - quarantined - rejected, quarantine: quarantined, reject: rejected },
  }
}

function toWire(source: NamedSource) {
  const { sourceIp, ptr, provider, reporters, firstAt, lastAt, kind } = source
  return {
    source_ip: sourceIp,
    ptr,
    provider,
    ...countsOf(source),
    reporters,
    first_seen: iso(firstAt),
    last_seen: iso(lastAt),
    kind,
  }
}

function resultToWire({ policy, result, host, sessions, reporters, firstAt, lastAt }: TlsResultSum) {
  return {
    policy,
    result: result === '' ? 'success' : result,
    mx_host: host === '' ? null : host,
    sessions,
    reporters,
    first_seen: iso(firstAt),
    last_seen: iso(lastAt),
  }
}
