import type { Config } from '../../config/load.ts'
import type { CheckResult } from '../health/check.ts'

/** Checks of what only a server on the internet has. */
const OF_PUBLIC_SERVERS = new Set([
  'name_servers',
  'delegation',
  'hostname',
  'reverse_dns_ipv4',
  'reverse_dns_ipv6',
  'ipv6_listeners',
  'outbound_port_25',
  'blocklists',
  'spf',
  'dmarc',
  'certificate',
])

/** True if only this machine can reach the server and mail may stay on it, as in a try-out. */
export function isLocalOnly({
  http,
  smtp,
  delivery,
  dns,
}: Pick<Config, 'http' | 'smtp' | 'delivery' | 'dns'>): boolean {
  const { inbound, submission } = smtp
  const listeners = [
    http.listen,
    http.listenTls,
    http.listenRedirect,
    inbound.listen,
    submission.listen,
    submission.listenTls,
    ...dns.listen,
  ]
  return delivery.allowPrivateDestinations && listeners.every((at) => at === null || LOOPBACK.test(at.host))
}

const LOOPBACK = /^(?:127\.|::1$|localhost$)/

/** Results on a server that only this machine can reach → the same with the faults skipped that such a server always
 *  has. */
export function withoutPublicFaults(results: readonly CheckResult[]): CheckResult[] {
  return results.map((result) => {
    const isFault = result.status === 'fail' || result.status === 'warn'
    if (!isFault || !OF_PUBLIC_SERVERS.has(result.name)) return result
    return { ...result, status: 'skip', message: 'only this machine can reach the server', advice: null }
  })
}
