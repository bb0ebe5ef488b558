import { clientOf, networkOf } from '../../net/ip.ts'

/** Counts the connections of one listener: total, per address and per network. */
export interface ConnectionCount {
  /** Counts one more connection from `address`, or returns the limit that is reached. Call `close` when the connection
   *  ends; a second call has no effect. */
  tryOpen(address: string): { close: () => void } | { full: 'all' | 'address' | 'network' }
  total(): number
  /** Connections from the network of this address. */
  ofNetwork(address: string): number
}

export interface ConnectionLimits {
  connections: number
  connectionsPerAddress: number
  /** Connections from one /24 (IPv4) or /56 (IPv6). */
  connectionsPerNetwork: number
  /** Addresses that the network limit does not apply to. */
  isUnlimited: (address: string) => boolean
}

/** Limits → a counter at zero. */
export function createConnectionCount(limits: ConnectionLimits): ConnectionCount {
  const byClient = new Map<string, number>()
  const byNetwork = new Map<string, number>()
  let total = 0
  return {
    tryOpen: (address) => {
      const client = clientOf(address)
      const network = networkOf(address)
      if ((byClient.get(client) ?? 0) >= limits.connectionsPerAddress) return { full: 'address' }
      const isNetworkFull = (byNetwork.get(network) ?? 0) >= limits.connectionsPerNetwork
      if (isNetworkFull && !limits.isUnlimited(address)) return { full: 'network' }
      if (total >= limits.connections) return { full: 'all' }
      total++
      change(byClient, client, 1)
      change(byNetwork, network, 1)
      let open = true
      const close = () => {
        if (!open) return
        open = false
        total--
        change(byClient, client, -1)
        change(byNetwork, network, -1)
      }
      return { close }
    },
    total: () => total,
    ofNetwork: (address) => byNetwork.get(networkOf(address)) ?? 0,
  }
}

function change(counts: Map<string, number>, key: string, by: 1 | -1): void {
  const next = (counts.get(key) ?? 0) + by
  if (next === 0) counts.delete(key)
  else counts.set(key, next)
}
