import type { WallClock } from '../../../os/clock.ts'
import type { AddressCount, Store } from '../../../storage/store.ts'

/** Writes the attempts from each sending address to the store at intervals: a crash loses at most a minute of counts. */
export interface AddressCounters {
  /** Writes what was counted since the last flush; what the store does not accept is written next time. */
  flush(): Promise<void>
}

const NONE = { attempts: 0, delivered: 0 }

/** Store, and the attempts of this process since its start, → AddressCounters. */
export function createAddressCounters(deps: {
  store: Pick<Store, 'addressUses'>
  clock: Pick<WallClock, 'now'>
  uses: () => readonly AddressCount[]
}): AddressCounters {
  const written = new Map<string, Omit<AddressCount, 'address'>>()
  const add = ({ address, attempts, delivered }: AddressCount, sign: 1 | -1) => {
    const before = written.get(address) ?? NONE
    written.set(address, {
      attempts: before.attempts + sign * attempts,
      delivered: before.delivered + sign * delivered,
    })
  }
  return {
    flush: async () => {
      const counts = deps.uses().flatMap(({ address, attempts, delivered }): AddressCount[] => {
        const before = written.get(address) ?? NONE
        if (attempts === before.attempts) return []
        return [{ address, attempts: attempts - before.attempts, delivered: delivered - before.delivered }]
      })
      if (counts.length === 0) return
      // Before the write, so that another flush meanwhile does not count them again.
      for (const each of counts) add(each, 1)
      try {
        await deps.store.addressUses.add(hourOf(deps.clock.now()), counts)
      } catch (error) {
        for (const each of counts) add(each, -1)
        throw error
      }
    },
  }
}

const HOUR_MS = 3_600_000

/** ms UTC → hours since 1970. */
export const hourOf = (at: number): number => Math.floor(at / HOUR_MS)
