import { isIPv6 } from 'node:net'
import { ownerOf } from '../../../model/delivery.ts'
import type { PoolOf, SendingAddress } from './pools.ts'
import { createRests, type Rest, type Rests, SYSTEM_ADDRESS } from './rests.ts'
import type { StoredRests } from './stored-rests.ts'
import type { WarmupLimits, WarmupState } from './warmups.ts'

/** What one attempt is sent from: one address of each family that the pool has, IPv4 first. The first one names the
 *  limits that count (schedule/destination.ts). */
export type Sender = readonly [SendingAddress, ...SendingAddress[]]

/** Chooses the address for each attempt, once, before its delivery is claimed. */
export interface Senders {
  /** What mail of a queue to a destination may be sent from, best first; [null]: the system chooses. The mail of an
   *  organization to a destination stays with one address of the pool; the others follow when it has no free
   *  connection. Addresses at rest are left out while another one is not. An address in warm-up comes first while its
   *  allowance lasts, and then last. */
  of(queue: string, destination: string): readonly (Sender | null)[]
  /** Records what an attempt showed about the address it was sent from. `blockedBy`: the rule of the reply that blocks
   *  the address; null if the destination accepted mail. */
  learn(address: string, destination: string, blockedBy: string | null, startedAt: number): void
  /** Whether another address of the queue's pool, of the same family, does not rest for the destination and has mails of
   *  its warm-up left. */
  hasOther(queue: string, destination: string, address: string): boolean
  /** The rest of an address at the destination; `sender` null: the one that the system chooses. */
  restOf(sender: Sender | null, destination: string): Rest | null
  /** The addresses of a queue's pool with their rests and warm-ups at the destination. */
  stateOf(queue: string, destination: string): { address: string; rest: Rest | null; warmup: WarmupState | null }[]
  /** Limits of addresses in warm-up; absent: there are none. */
  warmups?: WarmupLimits
  /** Counts an attempt from the address. */
  count(address: string, isDelivered: boolean): void
  /** Each address that was used, with its attempts since the start and its rests. */
  uses(): AddressUse[]
}

/** What was sent from an address, and where it rests (times of the clock given, ms). */
export interface AddressUse {
  address: string
  attempts: number
  delivered: number
  rests: Rest[]
}

const SYSTEM: readonly [null] = [null]

/** Creates Senders from the addresses of each queue, a clock in ms, the rests of an earlier process, and the limits of
 *  addresses in warm-up, if there are any. */
export function createSenders(
  poolOf: PoolOf,
  now: () => number,
  { kept, warmups }: { kept?: StoredRests; warmups?: WarmupLimits } = {},
): Senders {
  const rests = createRests(now, kept)
  /** One entry for each configured address at most. */
  const counts = new Map<string, { attempts: number; delivered: number }>()
  return {
    of: (queue, destination) => {
      const pool = poolOf(queue)
      if (pool.length === 0) return SYSTEM
      const ranked = pool.length === 1 ? pool : rankedFor(pool, `${destination} ${ownerOf(queue)}`)
      const v4 = byAllowance(usable(ranked, 4, destination, rests), destination, warmups)
      const v6 = byAllowance(usable(ranked, 6, destination, rests), destination, warmups)
      const [companion] = v6
      if (v4.length === 0) return v6.map((each): Sender => [each])
      return v4.map((each): Sender => (companion === undefined ? [each] : [each, companion]))
    },
    learn: (address, destination, blockedBy, startedAt) => {
      if (blockedBy === null) rests.accepted(address, destination, startedAt)
      else rests.blocked(address, destination, blockedBy, startedAt)
    },
    hasOther: (queue, destination, address) =>
      poolOf(queue).some(
        (each) =>
          each.address !== address &&
          isIPv6(each.address) === isIPv6(address) &&
          rests.of(each.address, destination) === null &&
          warmups?.leftFor(each.address, destination)?.mails !== 0,
      ),
    restOf: (sender, destination) => rests.of(sender?.[0].address ?? SYSTEM_ADDRESS, destination),
    stateOf: (queue, destination) =>
      poolOf(queue).map(({ address }) => ({
        address,
        rest: rests.of(address, destination),
        warmup: warmups?.stateOf(address, destination) ?? null,
      })),
    warmups,
    count: (address, isDelivered) => {
      const known = counts.get(address) ?? { attempts: 0, delivered: 0 }
      counts.set(address, { attempts: known.attempts + 1, delivered: known.delivered + Number(isDelivered) })
    },
    uses: () => {
      const all = rests.all().filter(({ address }) => address !== SYSTEM_ADDRESS)
      const used = new Set([...counts.keys(), ...all.map(({ address }) => address)])
      return [...used].map((address) => ({
        address,
        attempts: 0,
        delivered: 0,
        ...counts.get(address),
        rests: all.filter((rest) => rest.address === address),
      }))
    },
  }
}

/** Addresses of a family that do not rest; if all do, the one whose rest ends first. */
function usable(ranked: readonly SendingAddress[], family: 4 | 6, destination: string, rests: Rests): SendingAddress[] {
  const ofFamily = ranked.filter(({ address }) => isIPv6(address) === (family === 6))
  const awake = ofFamily.filter(({ address }) => rests.of(address, destination) === null)
  if (awake.length > 0 || ofFamily.length === 0) return awake
  const untilOf = ({ address }: SendingAddress) => rests.of(address, destination)?.until ?? 0
  return [ofFamily.reduce((first, each) => (untilOf(each) < untilOf(first) ? each : first))]
}

/** Sorts addresses by what their warm-up allows today: first those that may still send, last those that have sent all.
 *  Addresses without a warm-up stay in between, in their order. */
function byAllowance(
  addresses: SendingAddress[],
  destination: string,
  warmups: WarmupLimits | undefined,
): SendingAddress[] {
  if (warmups === undefined || addresses.length < 2) return addresses
  const left = new Map(addresses.map((each) => [each, warmups.leftFor(each.address, destination)?.mails]))
  const placeOf = (each: SendingAddress) => {
    const mails = left.get(each)
    return mails === undefined ? 1 : mails > 0 ? 0 : 2
  }
  return addresses.toSorted((a, b) => placeOf(a) - placeOf(b))
}

/** The same order for the same mail, whatever other addresses come or go (rendezvous hashing). */
function rankedFor(pool: readonly SendingAddress[], key: string): SendingAddress[] {
  const weighed = pool.map((each) => ({ each, weight: Bun.hash.xxHash32(`${key} ${each.address}`) }))
  return weighed.sort((a, b) => b.weight - a.weight).map(({ each }) => each)
}
