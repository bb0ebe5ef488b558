import { getDomain } from 'tldts'
import type { Lookup, MxRecord } from '../../../net/dns/resolver.ts'
import { isIpLiteral } from '../../../net/ip.ts'

/** Mail domain (A-label, or an address literal in brackets) and its MX lookup → the destination whose limits apply:
 *  the registrable domain of the best MX host, so that all domains of one provider share it. Of equally preferred
 *  hosts the first by name counts, so that every lookup gives the same result. Without MX it is that of the domain,
 *  and while DNS fails the domain itself. Never throws. */
export function destinationFor(domain: string, mx: Lookup<MxRecord> | null): string {
  if (mx?.kind === 'temporary') return domain
  if (mx?.kind !== 'records') return destinationOfHost(domain)
  const [best] = mx.records
    .map(({ preference, exchange }) => ({ preference, host: exchange.replace(/\.$/, '') }))
    .filter(({ host }) => host !== '')
    .sort((a, b) => a.preference - b.preference || (a.host < b.host ? -1 : 1))
  return destinationOfHost(best?.host ?? domain)
}

/** Host → its registrable domain by the public suffix list, including its private part (each shop on a shared host
 *  is its own destination); an address, a single label or a suffix is returned as is. */
export function destinationOfHost(host: string): string {
  const bare = host.replace(/\.$/, '').toLowerCase()
  if (bare.startsWith('[') || isIpLiteral(bare)) return bare
  const registrable = getDomain(bare, { allowPrivateDomains: true, validateHostname: false }) ?? bare
  return SAME_PROVIDER[registrable] ?? registrable
}

/** Other domains of a provider's hosts → its main domain. */
const SAME_PROVIDER: Record<string, string> = {
  'googlemail.com': 'google.com', // aspmx2.googlemail.com, beside aspmx.l.google.com
  'mx.microsoft': 'outlook.com', // DNSSEC-signed names of Exchange Online
}
