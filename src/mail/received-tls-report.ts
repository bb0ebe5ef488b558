import { shown } from './aggregate-report.ts'
import { DamagedReport } from './unpack-report.ts'

/** A TLS report received. Everything in it is the reporter's claim. RFC 8460 §4 */
export interface TlsReport {
  organization: string
  reportId: string
  /** ms UTC */
  beginsAt: number
  endsAt: number
  policies: ReportedTlsPolicy[]
}

export interface ReportedTlsPolicy {
  /** Lower case. */
  domain: string
  /** `sts`, `tlsa`, `no-policy-found`, or another word of the reporter. */
  type: string
  /** Sessions. */
  successful: number
  failed: number
  failures: ReportedTlsFailure[]
}

export interface ReportedTlsFailure {
  /** RFC 8460 §4.3 */
  result: string
  /** Our mail host; '' if missing. */
  host: string
  sessions: number
}

export const TLS_REPORT_LIMITS = {
  policies: 20,
  /** Kept per policy; the totals count all. */
  failures: 50,
  sessions: 1_000_000_000,
}

/** Unpacked JSON → the report. Throws DamagedReport: no JSON, no period, no policies or too many. */
export function readTlsReport(json: Uint8Array): TlsReport {
  const report = parsed(json)
  const policies = report.policies
  const range = fieldsOf(report['date-range'])
  const beginsAt = Date.parse(textOf(range['start-datetime']))
  const endsAt = Date.parse(textOf(range['end-datetime']))
  if (!(beginsAt >= 0 && endsAt >= beginsAt)) throw new DamagedReport('the TLS report has no valid period')
  if (!Array.isArray(policies) || policies.length === 0 || policies.length > TLS_REPORT_LIMITS.policies) {
    throw new DamagedReport(`a TLS report has 1 to ${TLS_REPORT_LIMITS.policies} policies`)
  }
  return {
    organization: textOf(report['organization-name']),
    reportId: textOf(report['report-id']),
    beginsAt,
    endsAt,
    policies: policies.map(policyOf),
  }
}

function parsed(json: Uint8Array): Record<string, unknown> {
  try {
    return fieldsOf(JSON.parse(new TextDecoder().decode(json)))
  } catch {
    throw new DamagedReport('the JSON is damaged or truncated')
  }
}

function policyOf(value: unknown): ReportedTlsPolicy {
  const each = fieldsOf(value)
  const policy = fieldsOf(each.policy)
  const summary = fieldsOf(each.summary)
  const details = each['failure-details']
  const failures = Array.isArray(details) ? details.slice(0, TLS_REPORT_LIMITS.failures).map(failureOf) : []
  return {
    domain: textOf(policy['policy-domain']).toLowerCase().replace(/\.$/, ''),
    type: textOf(policy['policy-type']),
    successful: countOf(summary['total-successful-session-count']),
    failed: countOf(summary['total-failure-session-count']),
    failures: failures.filter(({ sessions }) => sessions > 0),
  }
}

function failureOf(value: unknown): ReportedTlsFailure {
  const failure = fieldsOf(value)
  return {
    result: textOf(failure['result-type']),
    host: textOf(failure['receiving-mx-hostname']).toLowerCase(),
    sessions: countOf(failure['failed-session-count']),
  }
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? shown(value.slice(0, 1_000)) : ''
}

function countOf(value: unknown): number {
  return Number.isSafeInteger(value) ? Math.min(Math.max(value as number, 0), TLS_REPORT_LIMITS.sessions) : 0
}
