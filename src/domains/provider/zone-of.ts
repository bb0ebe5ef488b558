import type { Resolver } from '../../net/dns/resolver.ts'

/** Domain → the zone that contains it, and its name servers: the nearest name above with NS records. Null if DNS has none
 *  or does not answer. */
export async function zoneOf(
  domain: string,
  resolver: Pick<Resolver, 'ns'>,
): Promise<{ zone: string; servers: string[] } | null> {
  const labels = domain.split('.')
  // A top-level domain is never ours.
  for (let at = 0; at < labels.length - 1; at++) {
    const zone = labels.slice(at).join('.')
    const lookup = await resolver.ns(zone)
    if (lookup.kind === 'temporary') return null
    if (lookup.kind === 'records') return { zone, servers: lookup.records }
  }
  return null
}
