import { setNewest } from '../../os/set-newest.ts'

/** An address that a destination blocks, until when mail to it prefers other addresses, and why. */
export interface Rest {
  address: string
  destination: string
  /** Rule of mail/bounce-class.ts. */
  rule: string
  /** Time of the clock given, ms. */
  until: number
}

/** Which addresses rest for which destinations. In memory only, like the reputation of destinations: after a restart a
 *  blocked address is tried once more. */
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
const REMEMBERED = 50_000

interface Block extends Rest {
  times: number
  since: number
}

/** Clock (ms) → Rests without any. */
export function createRests(now: () => number): Rests {
  const blocks = new Map<string, Block>()
  const keyOf = (address: string, destination: string) => `${destination} ${address}`
  return {
    blocked: (address, destination, rule, startedAt) => {
      const key = keyOf(address, destination)
      const before = blocks.get(key)
      if (before !== undefined && startedAt < before.since) return
      const at = now()
      const times = (before?.times ?? 0) + 1
      const until = at + Math.min(SHORTEST_MS * 2 ** (times - 1), LONGEST_MS)
      setNewest(blocks, key, { address, destination, rule, times, since: at, until }, REMEMBERED)
    },
    accepted: (address, destination, startedAt) => {
      if (blocks.size === 0) return
      const key = keyOf(address, destination)
      const block = blocks.get(key)
      if (block !== undefined && startedAt >= block.since) blocks.delete(key)
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

const shown = ({ address, destination, rule, until }: Block): Rest => ({ address, destination, rule, until })
