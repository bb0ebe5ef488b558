import type { StoredRest } from '../../../model/address-rest.ts'
import { setNewest } from '../../../os/set-newest.ts'
import type { StoredRests } from './stored-rests.ts'

/** An address that a destination blocks, until when mail to it prefers other addresses, and why. */
export interface Rest {
  address: string
  destination: string
  /** Rule of mail/bounce-class.ts. */
  rule: string
  /** Time of the clock given, ms. */
  until: number
}

/** Which addresses rest for which destinations. */
export interface Rests {
  /** The destination blocked the address in an attempt that started at `startedAt`. Attempts that were in progress at
   *  the same time count as one; each further block doubles the rest. */
  blocked(address: string, destination: string, rule: string, startedAt: number): void
  /** The destination accepted mail from the address in an attempt that started at `startedAt`: the next block rests it
   *  for the shortest time again. */
  accepted(address: string, destination: string, startedAt: number): void
  /** Null if the address does not rest. */
  of(address: string, destination: string): Rest | null
  all(): Rest[]
}

const SHORTEST_MS = 15 * 60_000
const LONGEST_MS = 24 * 3_600_000
/** Maximum of stored pairs; the one that was blocked longest ago is dropped first. */
export const REMEMBERED = 50_000

/** Stands for the address that the system chooses. Its rests are not kept: it may be another one after a restart. */
export const SYSTEM_ADDRESS = ''

/** Clock (ms) → Rests: those of `kept`, which gets every change; without it there are none. */
export function createRests(now: () => number, kept?: Omit<StoredRests, 'settled'>): Rests {
  const keyOf = (address: string, destination: string) => `${destination} ${address}`
  const blocks = new Map((kept?.known ?? []).map((rest) => [keyOf(rest.address, rest.destination), rest]))
  return {
    blocked: (address, destination, rule, startedAt) => {
      const key = keyOf(address, destination)
      const before = blocks.get(key)
      if (before !== undefined && startedAt < before.since) return
      const at = now()
      const times = (before?.times ?? 0) + 1
      const until = at + Math.min(SHORTEST_MS * 2 ** (times - 1), LONGEST_MS)
      const block = { address, destination, rule, times, since: at, until }
      setNewest(blocks, key, block, REMEMBERED)
      if (address !== SYSTEM_ADDRESS) kept?.begun(block)
    },
    accepted: (address, destination, startedAt) => {
      if (blocks.size === 0) return
      const key = keyOf(address, destination)
      const block = blocks.get(key)
      if (block === undefined || startedAt < block.since) return
      blocks.delete(key)
      if (address !== SYSTEM_ADDRESS) kept?.ended(block)
    },
    of: (address, destination) => {
      if (blocks.size === 0) return null
      const block = blocks.get(keyOf(address, destination))
      return block !== undefined && block.until > now() ? shown(block) : null
    },
    all: () => {
      const at = now()
      return [...blocks.values()].filter(({ until }) => until > at).map(shown)
    },
  }
}

const shown = ({ address, destination, rule, until }: StoredRest): Rest => ({ address, destination, rule, until })
