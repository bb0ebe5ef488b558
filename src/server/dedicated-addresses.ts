import type { Config } from '../config/load.ts'
import { ownerOf, queueOf } from '../model/delivery.ts'
import { DEDICATED } from '../sending/outbound/senders/pools.ts'
import type { Store } from '../storage/store.ts'

/** Which addresses belong to which organization, as this process last read it. */
export interface OwnAddresses {
  /** Owner in the name of a queue → its addresses. */
  of(owner: string): readonly string[]
  /** Reads them again; another node may have changed them. */
  refresh(store: Pick<Store, 'dedicatedAddresses' | 'nodes'>): Promise<void>
}

/** Configured addresses of the pool `dedicated`. */
export const dedicatedIn = ({ sending }: Pick<Config, 'sending'>): string[] =>
  sending.addresses.flatMap(({ pool, address }) => (pool === DEDICATED ? [address] : []))

/** Nothing is known before the first `refresh`. */
export function createOwnAddresses(): OwnAddresses {
  let known = new Map<string, string[]>()
  let text = ''
  return {
    of: (owner) => known.get(owner) ?? [],
    refresh: async ({ dedicatedAddresses, nodes }) => {
      const next = new Map<string, string[]>()
      for (const { address, organizationId } of await dedicatedAddresses.list()) {
        const owner = ownerOf(queueOf('', organizationId))
        next.set(owner, [...(next.get(owner) ?? []), address])
      }
      known = next
      const before = text
      text = JSON.stringify([...next])
      // Another node may have the address.
      if (text !== before) nodes.placementChanged()
    },
  }
}
