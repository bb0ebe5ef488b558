import type { MtaSts } from '../../../mail/mta-sts.ts'
import type { RelayUse } from '../../../model/delivery.ts'
import type { TlsPolicy } from '../../../model/tls-policy.ts'
import type { Resolver } from '../../../net/dns/resolver.ts'
import type { Random } from '../../../os/random.ts'
import { findAddresses, findHosts, isAddressLiteral, routeOf } from '../mx.ts'
import type { Relay } from '../relays/relay.ts'
import type { Chosen } from '../relays/relay-choice.ts'
import { hostPolicy } from '../tls/host-policy.ts'
import { destinationFor } from './destination.ts'

/** Current route of a queue's mail, for people. */
export type RouteShown = { destination: string } & (
  | { kind: 'relay'; host: string; use: RelayUse }
  /** `rule`: number of the relay rule that applies; `failOver`: the relay that takes over. */
  | { kind: 'hosts'; hosts: string[]; tlsPolicy: TlsPolicy; rule: number | null; failOver: string | null }
  /** `isFinal`: a hard bounce, because the domain does not exist or accepts no mail. */
  | { kind: 'nowhere'; isFinal: boolean; reason: string }
)

/** Mail domain and queue → the current route of its mail and the TLS requirements of the first host, by the same rules as an
 *  attempt but without a connection. Rejects only if `policies` do. */
export async function findRoute(
  { domain, queue: ofQueue }: { domain: string; queue: string },
  deps: {
    resolver: Resolver
    random: Random
    deliveryPort: number
    relays: readonly Relay[]
    /** As DeliveryQueue; destination null: only if the choice does not depend on it. */
    queue: { chosen(queue: string, destination: string | null): Chosen | null }
    policies: { find(domain: string): MtaSts | null | Promise<MtaSts | null> }
  },
): Promise<RouteShown> {
  const { resolver, random, relays, queue, policies } = deps
  const byRule = relayRoute(queue.chosen(ofQueue, null), relays)
  if (byRule !== null) return byRule
  const lookup = isAddressLiteral(domain) ? null : resolver.mx(domain)
  const [mx, mtaSts] = await Promise.all([lookup, policies.find(domain)])
  const destination = destinationFor(domain, mx)
  const choice = queue.chosen(ofQueue, destination)
  const relayed = relayRoute(choice, relays)
  if (relayed !== null) return relayed
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
  const facts = { domain, host, port: deps.deliveryPort, isAuthentic, mtaSts, requireTls: false }
  const { name } = await hostPolicy(facts, resolver)
  const { rule = null, failOver = null } = choice ?? {}
  return { kind: 'hosts', destination, hosts: route.hosts, tlsPolicy: name, rule: rule?.number ?? null, failOver }
}

function relayRoute(choice: Chosen | null, relays: readonly Relay[]): RouteShown | null {
  const use = choice?.use ?? null
  const relay = relays.find(({ name }) => name === use?.name)
  if (use === null || relay === undefined) return null
  return { kind: 'relay', host: relay.host, destination: relay.destination, use }
}
