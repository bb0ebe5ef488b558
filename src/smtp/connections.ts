import { clientOf } from '../platform/ip.ts'

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
