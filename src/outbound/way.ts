import type { MtaSts } from '../mail/mta-sts.ts'
import type { Random } from '../platform/random.ts'
import type { Resolver } from '../platform/resolver.ts'
import type { Way } from './explain.ts'
import { hostPolicy } from './host-policy.ts'
import type { WorkerSettings } from './job.ts'
import { findAddresses, findHosts } from './mx.ts'

/** Mail domain → where its mail goes at present and what TLS must prove at the first host, for people: by the same rules
 *  as an attempt, without a connection. Rejects only when `mtaStsOf` does. */
export async function findWay(
  domain: string,
  house: {
    resolver: Resolver
    random: Random
    settings: Pick<WorkerSettings, 'smarthost' | 'deliveryPort'>
    mtaStsOf: (domain: string) => MtaSts | null | Promise<MtaSts | null>
  },
): Promise<Way> {
  const { resolver, random, settings } = house
  if (settings.smarthost !== null) return { kind: 'smarthost', host: settings.smarthost.host }
  const [route, mtaSts] = await Promise.all([findHosts(domain, resolver, random), house.mtaStsOf(domain)])
  if (route.kind === 'nowhere') {
    const { outcome } = route
    return {
      kind: 'nowhere',
      isFinal: outcome.kind === 'bounced',
      reason: outcome.kind === 'delivered' ? '' : outcome.message,
    }
  }
  const host = route.hosts[0]!
  const isAuthentic = route.authentic && (await findAddresses(host, resolver, () => true)).authentic
  const facts = { domain, host, port: settings.deliveryPort, isAuthentic, mtaSts, requireTls: false }
  const { name } = await hostPolicy(facts, resolver)
  return { kind: 'hosts', hosts: route.hosts, tlsPolicy: name }
}
