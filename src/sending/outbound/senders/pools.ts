import { ownerOf, senderOf } from '../../../model/delivery.ts'

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

/** What decides about the pool of a mail, beside what its queue says. */
export interface PoolRules {
  streams: Readonly<Record<string, { pool: string } | undefined>>
  /** Owner in the name of a queue → the addresses that belong to it. */
  dedicatedOf: (owner: string) => readonly string[]
}

/** Configured addresses → PoolOf of this node. A pool that has no address here does not count; so mail never waits for an
 *  address. `hostname` is this server's, `node` this node's name. */
export function createPools(
  options: PoolRules & { addresses: readonly ConfiguredAddress[]; hostname: string; node: string },
): PoolOf {
  const { hostname, node } = options
  const here = options.addresses.filter((each) => each.node === null || each.node === node)
  return poolsOf(
    here.map(({ pool, address, hostname: own }) => ({ pool, address, hostname: own ?? hostname })),
    options,
  )
}

/** Addresses → the ones that the mail of a queue uses. In this order: the pool of the message's stream, the pool that was
 *  assigned when the message was accepted, the addresses that belong to its organization, the pool `default`. A pool
 *  without addresses does not count. Addresses of `dedicated` are used only by the organization they belong to. */
export function poolsOf<A extends { pool: string; address: string }>(
  addresses: readonly A[],
  { streams, dedicatedOf }: PoolRules,
): (queue: string) => readonly A[] {
  const pools = Map.groupBy(addresses, ({ pool }) => pool)
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
