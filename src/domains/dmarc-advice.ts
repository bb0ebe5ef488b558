import type { Disposition } from '../mail/aggregate-report.ts'
import type { DmarcSource, DmarcTotals } from '../model/policy-report.ts'

/** A source: the server itself, a known service, or a stranger. */
export type SourceKind = 'ours' | 'known' | 'unknown'

export interface NamedSource extends DmarcSource {
  /** Confirmed name of the server; null if it has none. */
  ptr: string | null
  provider: string | null
  kind: SourceKind
}

export interface AdviceInput {
  domain: string
  /** The policy in DNS at the last check; null without a valid record. */
  current: Disposition | null
  /** Whether the record in DNS asks for reports to this server. */
  isRequested: boolean
  sources: readonly NamedSource[]
  totals: Pick<DmarcTotals, 'reports' | 'days' | 'messages' | 'passed'>
}

/** Our choice: a week has every weekday, and a hundred messages show a failure rate of 2 %. */
const ADVICE_LIMITS = { days: 7, messages: 100, failureRate: 0.02 }

/** Reports → the policy to publish, in the order none, quarantine, reject, and the reason in words. Only mail that is the
 *  domain's own decides: of this server, of known services, and of others that passed. Failed mail of strangers is what
 *  the policy is for. RFC 7489 §6.3, appendix B.2.3 */
export function dmarcAdvice({ domain, current, isRequested, sources, totals }: AdviceInput): {
  policy: Disposition
  text: string
} {
  const policy = current ?? 'none'
  if (totals.reports === 0 || totals.messages === 0) return { policy, text: withoutReports(domain, isRequested) }
  const own = sources.filter(({ kind }) => kind !== 'unknown')
  const failed = sum(own, failedOf)
  const legitimate = totals.passed + failed
  const strangers = totals.messages - totals.passed - failed
  const figures = `${shown(totals.passed)} of ${count(totals.messages, 'message')} passed in ${count(totals.days, 'day')}.`
  const besides = strangers === 0 ? '' : ` ${count(strangers, 'message')} from unknown sources failed.`
  if (legitimate < ADVICE_LIMITS.messages || totals.days < ADVICE_LIMITS.days) {
    const wanted = `Wait for reports of at least ${ADVICE_LIMITS.days} days and ${ADVICE_LIMITS.messages} messages of yours.`
    return { policy, text: `Keep p=${policy}. ${figures}${besides} ${wanted}` }
  }
  if (failed / legitimate > ADVICE_LIMITS.failureRate) {
    const worst = own.toSorted((a, b) => failedOf(b) - failedOf(a))[0]
    const who = worst === undefined ? '' : ` Most failed from ${nameOf(worst)}: fix its SPF or DKIM first.`
    const part = `${share(failed / legitimate)} of your messages failed, more than ${share(ADVICE_LIMITS.failureRate)}.`
    return { policy, text: `Keep p=${policy}. ${part}${who}${besides}` }
  }
  if (policy === 'reject') return { policy, text: `Keep p=reject. ${figures}${besides}` }
  const next = policy === 'none' ? 'quarantine' : 'reject'
  const check = strangers === 0 ? '' : ' Check first that none of them sends for you.'
  return { policy: next, text: `Change p=${policy} to p=${next}. ${figures}${besides}${check}` }
}

function withoutReports(domain: string, isRequested: boolean): string {
  return isRequested
    ? `No reports of ${domain} in this time. Most receivers send one a day.`
    : `No reports of ${domain}. Publish the DMARC record with the rua address shown in the DNS records.`
}

/** Messages with neither an aligned SPF nor an aligned DKIM pass. */
function failedOf({ messages, passed }: DmarcSource): number {
  return messages - passed
}

function nameOf({ ptr, provider, kind, sourceIp }: NamedSource): string {
  if (kind === 'ours') return `this server (${sourceIp})`
  return provider === null ? (ptr ?? sourceIp) : `${provider} (${sourceIp})`
}

const sum = <T>(items: readonly T[], of: (item: T) => number) => items.reduce((total, item) => total + of(item), 0)
const shown = (value: number) => value.toLocaleString('en-US')
const count = (value: number, noun: string) => `${shown(value)} ${noun}${value === 1 ? '' : 's'}`
const share = (value: number) => `${(100 * value).toFixed(1).replace(/\.0$/, '')} %`
