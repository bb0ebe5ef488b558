import type { DMARCResult } from 'mailauth'
import { dmarc } from 'mailauth/lib/dmarc'
import { comparableHost } from '../../mail/address.ts'
import type { Found } from './checks.ts'

/** `p=` of a DMARC record: the requested handling of failing mail. */
export type Policy = 'none' | 'quarantine' | 'reject'

/** The author's domain, if all parsers of the From header agree on one. */
export type Author =
  | { isUnclear: false; domain: string; dmarc: DMARCResult }
  | { isUnclear: true; why: string; domains: string[] }

/** mailauth's findings and the displayed address → the author. Unclear: no From or several, addresses of several
 *  domains (also inside a group), an invalid address, or a From that nodemailer parses differently from us, because the
 *  displayed author would not be the verified one. RFC 9989 §5.3.1, §11.5. */
export function authorOf(from: string, found: Found): Author {
  const shown = domainOf(from)
  if (found.dmarc === false) {
    const why = WHY[found.dmarcSkipReason ?? ''] ?? 'no author'
    return { isUnclear: true, why, domains: domainsOf([from, ...found.authors]) }
  }
  const domain = comparableHost(found.dmarc.status.header?.from ?? '')
  if (domain !== shown) {
    return { isUnclear: true, why: 'ambiguous From', domains: domainsOf([from, ...found.authors]) }
  }
  return { isUnclear: false, domain, dmarc: found.dmarc }
}

/** Mail without a clear author → `fail` with the strictest policy if a named domain has one, `temperror` if DNS
 *  gives no answer now, else `permerror`. Never pass or none: such mail looks like forgery. Queries at most ten
 *  domains. */
export async function judgeUnclearAuthor(
  { why, domains }: { why: string; domains: string[] },
  resolver: (name: string, type: string) => Promise<string[][] | string[]>,
) {
  const asked = domains.slice(0, MAX_DOMAINS)
  const found = await Promise.all(asked.map((domain) => dmarc({ headerFrom: `x@${domain}`, resolver, strict: true })))
  const policies = found.flatMap((each) => (each !== false && each.policy !== undefined ? [each.policy as Policy] : []))
  const policy = STRICTEST.find((each) => policies.includes(each)) ?? 'none'
  const isUnknown = found.some((each) => each !== false && each.status.result === 'temperror')
  const domain = asked.length === 1 ? asked.join() : ''
  if (policies.length > 0) {
    const reason = `no clear author domain (${why}), and ${asked.length === 1 ? domain : 'one of the domains'} has DMARC policy ${policy}`
    return { result: 'fail' as const, policy, reason, comment: why, domain }
  }
  if (isUnknown) return { result: 'temperror' as const, policy, reason: null, comment: why, domain }
  const reason = `no clear author domain (${why})`
  return { result: 'permerror' as const, policy, reason, comment: why, domain }
}

const STRICTEST: readonly Policy[] = ['reject', 'quarantine', 'none']
const MAX_DOMAINS = 10
const WHY: Record<string, string> = {
  'no-author-domain': 'no address in From',
  'multiple-author-domains': 'several domains in From',
  'invalid-author-domain': 'malformed From',
  'multiple-from-fields': 'several From fields',
}

/** The domain behind every @: a malformed address may show any of them. */
function domainsOf(addresses: readonly string[]): string[] {
  const domains = addresses.flatMap((address) => address.split('@').slice(1).map(comparableHost))
  return [...new Set(domains)].filter((domain) => /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/.test(domain))
}

const domainOf = (address: string) => comparableHost(address.slice(address.lastIndexOf('@') + 1))
