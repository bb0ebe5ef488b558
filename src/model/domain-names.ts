import type { Domain } from './domain.ts'

/** The host names that one domain takes, beside its own. */

/** Domain → the hosts that its mail, its links and its MTA-STS policy use; no other domain may have one of them as its
 *  name, or as a host of its own. Lower-case A-labels, each once. */
export function derivedHosts(domain: Pick<Domain, 'name' | 'returnPathHost'> & { tracking: { host: string | null } }) {
  const { name, returnPathHost, tracking } = domain
  return [...new Set([returnPathHost, mtaStsHost(name), ...(tracking.host === null ? [] : [tracking.host])])]
}

/** Where other servers fetch the domain's policy. RFC 8461 §3.3 */
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
