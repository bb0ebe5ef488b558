import type { MtaSts } from '../../mail/mta-sts.ts'
import type { TlsPolicy } from '../../model/tls-policy.ts'
import type { Resolver } from '../../net/dns/resolver.ts'
import type { Random } from '../../os/random.ts'
import type { WorkerSettings } from '../job.ts'
import { findAddresses, findHosts, isAddressLiteral, routeOf } from '../mx.ts'
import { hostPolicy } from '../tls/host-policy.ts'
import { destinationFor, destinationOfHost } from './destination.ts'

/** Current route of a domain's mail, for people. */
export type RouteShown = { destination: string } & (
  | { kind: 'smarthost'; host: string }
  | { kind: 'hosts'; hosts: string[]; tlsPolicy: TlsPolicy }
  /** `isFinal`: a hard bounce, because the domain does not exist or accepts no mail. */
  | { kind: 'nowhere'; isFinal: boolean; reason: string }
)

/** Mail domain → the current route of its mail and the TLS requirements of the first host, by the same rules as an
 *  attempt but without a connection. Rejects only if `mtaStsOf` does. */
export async function findRoute(
  domain: string,
  deps: {
    resolver: Resolver
    random: Random
    settings: Pick<WorkerSettings, 'smarthost' | 'deliveryPort'>
    mtaStsOf: (domain: string) => MtaSts | null | Promise<MtaSts | null>
  },
): Promise<RouteShown> {
  const { resolver, random, settings } = deps
  if (settings.smarthost !== null) {
    const { host } = settings.smarthost
    return { kind: 'smarthost', host, destination: destinationOfHost(host) }
  }
  const asked = isAddressLiteral(domain) ? null : resolver.mx(domain)
  const [mx, mtaSts] = await Promise.all([asked, deps.mtaStsOf(domain)])
  const destination = destinationFor(domain, mx)
  const route = mx === null ? await findHosts(domain, resolver, random) : routeOf(domain, mx, random)
  if (route.kind === 'nowhere') {
    const { outcome } = route
    return {
      kind: 'nowhere',
      destination,
      isFinal: outcome.kind === 'bounced',
      reason: outcome.kind === 'delivered' ? '' : outcome.message,
    }
  }
  const host = route.hosts[0]!
  const isAuthentic = route.authentic && (await findAddresses(host, resolver, () => true)).authentic
  const facts = { domain, host, port: settings.deliveryPort, isAuthentic, mtaSts, requireTls: false }
  const { name } = await hostPolicy(facts, resolver)
  return { kind: 'hosts', destination, hosts: route.hosts, tlsPolicy: name }
}
