import { clientOf, networkOf } from '../net/ip.ts'

/** How many connections a listener has: in all, from one address, and from one network. */
export interface ConnectionCount {
  /** One more from `address`, or which limit is reached. Call `leave` when the connection has ended; twice is harmless. */
  tryOpen(address: string): { close: () => void } | { full: 'all' | 'address' | 'network' }
  total(): number
  /** Connections from the network of this address. */
  ofNetwork(address: string): number
}

export interface ConnectionLimits {
  connections: number
  connectionsPerAddress: number
  /** One /24 or /56 together. */
  connectionsPerNetwork: number
  /** Addresses to which the limit of a network does not apply. */
  isUnlimited: (address: string) => boolean
}

/** Limits → a count of none. */
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
