import { createAsk } from '../../net/dns/client.ts'
import type { Resolver } from '../../net/dns/resolver.ts'
import type { Random } from '../../os/random.ts'
import type { CheckDeps } from '../health/deps.ts'

/** Asks name servers about the delegated zone directly: those of its parent, and its own. */
export function delegationQueries(options: {
  resolver: Resolver
  random: Random
  timeoutMs: number
  /** 53 except in tests. */
  port?: number
}): CheckDeps['delegation'] {
  const { resolver, random, timeoutMs, port = 53 } = options
  const askAt = (address: string, transport: 'udp' | 'tcp') => {
    const servers = [address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`]
    return createAsk({ servers, random, timeoutMs, tries: 2, isTrusted: () => false, transport })
  }
  return {
    namesAtParent: async (zone) => {
      for (const address of await parentServers(zone, resolver)) {
        const reply = await askAt(address, 'udp')(zone, 'NS')
        if (reply.kind === 'temporary') continue
        const records = [...reply.answers, ...reply.authorities]
        return records.flatMap((record) =>
          record.type === 'NS' && record.name.toLowerCase() === zone ? [record.data.toLowerCase()] : [],
        )
      }
      return null
    },
    primaryAt: async (address, zone, transport) => {
      const reply = await askAt(address, transport)(zone, 'SOA')
      if (reply.kind === 'temporary') return null
      const [soa] = reply.answers
      return soa?.type === 'SOA' ? soa.data.mname.toLowerCase() : null
    },
  }
}

/** Addresses of the name servers of the closest zone above; [] if there is no answer. */
async function parentServers(zone: string, resolver: Resolver): Promise<string[]> {
  for (let at = zone.indexOf('.'); at >= 0; at = zone.indexOf('.', at + 1)) {
    const hosts = await resolver.ns(zone.slice(at + 1))
    if (hosts.kind === 'temporary') return []
    if (hosts.kind !== 'records') continue
    const lookups = await Promise.all(hosts.records.slice(0, MOST_SERVERS).map((host) => resolver.a(host)))
    return lookups.flatMap((lookup) => (lookup.kind === 'records' ? lookup.records : [])).slice(0, MOST_SERVERS)
  }
  return []
}

const MOST_SERVERS = 3
