import { getDomain } from 'tldts'
import { isIpLiteral } from './ip.ts'

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
