import { ownerOf, senderOf } from '../../model/delivery.ts'

/** An IP address of this machine that mail is sent from, and its name in EHLO. */
export interface SendingAddress {
  address: string
  hostname: string
}

/** A configured address; `node` null: of every node. */
export interface ConfiguredAddress {
  address: string
  hostname: string | null
  pool: string
  node: string | null
}

/** Pool for mail that nothing else decides about, and pool whose addresses belong to one organization each. */
const DEFAULT = 'default'
export const DEDICATED = 'dedicated'

/** Delivery.queue → the addresses its mail may be sent from; [] = the system chooses. */
export type PoolOf = (queue: string) => readonly SendingAddress[]

/** Configured addresses → PoolOf. In this order: the pool of the message's stream, the pool that was assigned when the
 *  message was accepted, the addresses that belong to its organization (`dedicatedOf` its key in the queue), the pool
 *  `default`. A pool that is no longer configured, or that has no address on this node, does not count; so mail never
 *  waits for an address. Addresses of `dedicated` are used only by the organization they belong to. */
export function createPools(options: {
  addresses: readonly ConfiguredAddress[]
  /** This server's host name. */
  hostname: string
  /** This node's name. */
  node: string
  streams: Readonly<Record<string, { pool: string } | undefined>>
  dedicatedOf: (owner: string) => readonly string[]
}): PoolOf {
  const { hostname, node, streams, dedicatedOf } = options
  const here = options.addresses.filter((each) => each.node === null || each.node === node)
  const pools = new Map<string, SendingAddress[]>()
  for (const { pool, address, hostname: own } of here) {
    const known = pools.get(pool) ?? []
    pools.set(pool, [...known, { address, hostname: own ?? hostname }])
  }
  const dedicated = new Map((pools.get(DEDICATED) ?? []).map((each) => [each.address, each]))
  pools.delete(DEDICATED)
  const everyone = pools.get(DEFAULT) ?? []
  return (queue) => {
    const { stream, pool } = senderOf(queue)
    const ofStream = Object.hasOwn(streams, stream) ? pools.get(streams[stream]?.pool ?? '') : undefined
    const named = ofStream ?? pools.get(pool)
    if (named !== undefined) return named
    const own = dedicated.size === 0 ? [] : dedicatedOf(ownerOf(queue)).flatMap((each) => dedicated.get(each) ?? [])
    return own.length > 0 ? own : everyone
  }
}
