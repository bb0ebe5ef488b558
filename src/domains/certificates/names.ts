import { isIP } from 'node:net'
import { type Domain, isOwned, trackingHostOf } from '../../model/domain.ts'

/** Names for the operator's certificate: the hostname, the host of links in mail, and configured names; lower case,
 *  each once. */
export function ownNames(settings: { hostname: string; publicUrl: string; names: readonly string[] }): string[] {
  const url = URL.parse(settings.publicUrl)
  const linked = url?.protocol === 'https:' && isIP(url.hostname.replace(/^\[|\]$/g, '')) === 0 ? [url.hostname] : []
  return [...new Set([settings.hostname, ...linked, ...settings.names].map((name) => name.toLowerCase()))]
}

/** Domains → hosts of owned domains whose DNS points here: tracking domains and MTA-STS hosts. */
export async function domainNames(domains: AsyncIterable<Domain>, requireVerified: boolean): Promise<string[]> {
  const names: string[] = []
  for await (const domain of domains) {
    if (!isOwned(domain, requireVerified)) continue
    const tracking = trackingHostOf(domain)
    const policy = domain.findings.find(({ purpose, status }) => purpose === 'mta_sts_host' && status === 'valid')
    for (const name of [tracking, policy?.name]) if (name) names.push(name.toLowerCase())
  }
  return names
}
