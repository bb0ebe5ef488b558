import type { DMARCResult } from 'mailauth'
import { dmarc } from 'mailauth/lib/dmarc'
import { asciiDomain } from '../mail/address.ts'
import type { Found } from './checks.ts'

/** `p=` of a DMARC record: what is to be done with mail that fails. */
export type Policy = 'none' | 'quarantine' | 'reject'

/** Whose mail it is: one domain on which all readers of the From header agree, or nobody's that could be named. */
export type Author =
  | { isUnclear: false; domain: string; dmarc: DMARCResult }
  | { isUnclear: true; why: string; domains: string[] }

/** What mailauth found, and the address we show → the author. Unclear are: no From or several, addresses of several
 *  domains (a group's too), an address that is none, and a From that we read otherwise than mailauth did: what people
 *  see would not be what was checked. RFC 9989 §5.3.1, §11.5. */
export function authorOf(from: string, found: Found): Author {
  const shown = domainOf(from)
  if (found.dmarc === false) {
    const why = WHY[found.dmarcSkipReason ?? ''] ?? 'no author'
    return { isUnclear: true, why, domains: domainsOf([from, ...addressesOf(found)]) }
  }
  const domain = normal(found.dmarc.status.header?.from ?? '')
  if (domain !== shown) {
    return { isUnclear: true, why: 'From can be read in two ways', domains: domainsOf([from, ...addressesOf(found)]) }
  }
  return { isUnclear: false, domain, dmarc: found.dmarc }
}

/** No author → `fail` when one of the domains named has a policy, with the strictest of them; `temperror` when that cannot
 *  be known now; else `permerror`. Never pass and never none: these are the shapes of forgery. Asks for ten domains at most. */
export async function judgeUnclearAuthor(
  { why, domains }: { why: string; domains: string[] },
  resolver: (name: string, type: string) => Promise<string[][] | string[]>,
) {
  const asked = domains.slice(0, MAX_DOMAINS)
  const found = await Promise.all(asked.map((domain) => dmarc({ headerFrom: `x@${domain}`, resolver, strict: true })))
  const policies = found.flatMap((each) => (each !== false && each.policy !== undefined ? [each.policy as Policy] : []))
  const policy = STRICTEST.find((each) => policies.includes(each)) ?? 'none'
  const isUnknown = found.some((each) => each !== false && each.status.result === 'temperror')
  const domain = asked.length === 1 ? asked[0]! : ''
  if (policies.length > 0) {
    const reason = `the author cannot be told (${why}), and ${asked.length === 1 ? domain : 'a domain named'} asks for ${policy}`
    return { result: 'fail' as const, policy, reason, comment: why, domain }
  }
  if (isUnknown) return { result: 'temperror' as const, policy, reason: null, comment: why, domain }
  const reason = `the author cannot be told (${why})`
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

/** What mailauth read in all From fields. */
function addressesOf(found: Found): string[] {
  return found.dkim.headerFrom
}

/** Of every part behind an @: a malformed address may show any of them. */
function domainsOf(addresses: readonly string[]): string[] {
  const domains = addresses.flatMap((address) => address.split('@').slice(1).map(normal))
  return [...new Set(domains)].filter((domain) => /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/.test(domain))
}

const domainOf = (address: string) => normal(address.slice(address.lastIndexOf('@') + 1))

/** Lower-case A-labels without the dot of the root; what is no domain name stays as it is. */
function normal(domain: string): string {
  const plain = domain.trim().toLowerCase().replace(/\.$/, '')
  return /[^\x00-\x7f]/.test(plain) ? asciiDomain(plain) || plain : plain
}
