import type { Domain } from './domain.ts'

/** Host names that one domain reserves in addition to its own name. */

/** Domain → the hosts that its mail, links and MTA-STS policy use. No other domain may have one of them as its name
 *  or host. Lower-case A-labels, each once. */
export function derivedHosts(domain: Pick<Domain, 'name' | 'returnPathHost'> & { tracking: { host: string | null } }) {
  const { name, returnPathHost, tracking } = domain
  return [...new Set([returnPathHost, mtaStsHost(name), ...(tracking.host === null ? [] : [tracking.host])])]
}

/** Host from which other servers fetch the domain's policy. RFC 8461 §3.3 */
export function mtaStsHost(name: string): string {
  return `${MTA_STS}${name}`
}

/** Host → the domain whose policy host it would be; null for any other host. */
export function domainOfMtaStsHost(host: string): string | null {
  return host.startsWith(MTA_STS) ? host.slice(MTA_STS.length) : null
}

/** `a.b.example` → itself, `b.example`, `example`: at most 127 names (RFC 1035 §2.3.4). */
export function selfAndParents(name: string): string[] {
  const labels = name.split('.').slice(-MOST_LABELS)
  return labels.map((_, at) => labels.slice(at).join('.'))
}

const MTA_STS = 'mta-sts.'
const MOST_LABELS = 127
