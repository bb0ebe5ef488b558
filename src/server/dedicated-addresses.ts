import type { Config } from '../config/load.ts'
import { ownerOf, queueOf } from '../model/delivery.ts'
import { DEDICATED } from '../outbound/senders/pools.ts'
import type { Store } from '../storage/store.ts'

/** Which addresses belong to which organization, as this process last read it. */
export interface OwnAddresses {
  /** Owner in the name of a queue → its addresses. */
  of(owner: string): readonly string[]
  /** Reads them again; another node may have changed them. */
  refresh(): Promise<void>
}

/** Configured addresses of the pool `dedicated`. */
export const dedicatedIn = ({ sending }: Pick<Config, 'sending'>): string[] =>
  sending.addresses.flatMap(({ pool, address }) => (pool === DEDICATED ? [address] : []))

export function createOwnAddresses(store: Pick<Store, 'dedicatedAddresses'>): OwnAddresses {
  let known = new Map<string, string[]>()
  return {
    of: (owner) => known.get(owner) ?? [],
    refresh: async () => {
      const next = new Map<string, string[]>()
      for (const { address, organizationId } of await store.dedicatedAddresses.list()) {
        const owner = ownerOf(queueOf('', organizationId))
        next.set(owner, [...(next.get(owner) ?? []), address])
      }
      known = next
    },
  }
}
