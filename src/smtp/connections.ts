import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** How many connections there are, in all and from one address. */
export interface ConnectionCount {
  /** One more from `address`, or null when there are too many. Call what it returns when it has ended; twice is harmless. */
  enter(address: string): (() => void) | null
  total(): number
}

/** Limits → a count of none. */
export function createConnectionCount(limits: { connections: number; connectionsPerAddress: number }): ConnectionCount {
  const byClient = new Map<string, number>()
  let total = 0
  return {
    enter: (address) => {
      const client = clientOf(address)
      const here = byClient.get(client) ?? 0
      if (total >= limits.connections || here >= limits.connectionsPerAddress) return null
      total++
      byClient.set(client, here + 1)
      let open = true
      return () => {
        if (!open) return
        open = false
        total--
        const left = byClient.get(client)! - 1
        if (left === 0) byClient.delete(client)
        else byClient.set(client, left)
      }
    },
    total: () => total,
  }
}

/** Remote address → whom we take to be behind it: an IPv4 address itself, also when it is written as IPv6 (::ffff:…); of
 *  other IPv6 addresses the /64, for one customer has at least that. What is no address stays as it is. RFC 6177 §2. */
export function clientOf(address: string): string {
  const plain = address.replace(/%.*$/, '') // zone of a link-local address
  if (!isIPv6(plain)) return address
  const parsed = ipaddr.IPv6.parse(plain)
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString()
  return parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')
}
