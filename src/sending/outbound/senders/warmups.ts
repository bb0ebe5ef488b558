import { DESTINATION_GROUPS, type DestinationGroup, groupOf } from '../../../model/destination-group.ts'
import {
  dayOf,
  releasedBy,
  type Standing,
  standingOf,
  type Warmup,
  type WarmupCounts,
  type WarmupDay,
  type WarmupKey,
} from '../../../model/warmup.ts'
import { batched } from '../../../os/batched.ts'
import type { WallClock } from '../../../os/clock.ts'
import type { Store } from '../../../storage/store.ts'

/** Keeps sending addresses in warm-up within their plans (model/warmup.ts). Each mail is counted in the store before its
 *  attempt starts, so a crash may count one too many and never one too few. Nodes that share an address share its counts.
 *  Results are stored together, within some seconds; a crash may lose those. All times are in ms UTC. */
export interface WarmupLimits {
  /** How many more mails may start now, and when there may be more; null: no limit. */
  leftFor(address: string, destination: string): { name: string; mails: number; nextAt: number } | null
  /** Mails that are claimed and not counted yet; negative: they will not be. */
  reserve(address: string, destination: string, mails: number): void
  /** Counts one of the reserved mails; null: the allowance is used up, as by another node. Rejects as the store. */
  count(address: string, destination: string): Promise<WarmupKey | null>
  /** Records the result of a counted mail's attempt. In the group `others`, each destination counts against the plan once a
   *  day: a destination in trouble, or one that a sender runs to hold up the address, says nothing about the rest. */
  ended(counted: WarmupKey, destination: string, result: WarmupResult): void
  /** Null: no limit. */
  stateOf(address: string, destination: string): WarmupState | null
  /** Of each address and group. */
  states(): WarmupState[]
  /** Stores results once a second, and reads once a minute what other nodes and complaints changed. Rejects until the first
   *  read succeeded; later failures are reported to `onError`. */
  turn(): Promise<void>
  /** Stores the results so far. */
  flush(): Promise<void>
  /** Blockers that may have ended since the last call. */
  freed(): string[]
}

/** `unused`: nothing was sent from the address. `other`: sent, and no evidence for or against it. */
export type WarmupResult = 'unused' | 'delivered' | 'deferred' | 'blocked' | 'other'

export interface WarmupState extends Pick<Standing, 'state' | 'day' | 'allowance' | 'heldUntil'> {
  address: string
  group: DestinationGroup
  /** Today's mails. */
  sent: number
  /** How many more may start now, and when there may be more. */
  left: number
  nextAt: number
}

/** One group of one address, as this process knows it. */
interface Group {
  key: Omit<WarmupKey, 'day'>
  warmup: Warmup
  days: Map<number, WarmupDay>
  /** Claimed and not counted yet. */
  reserved: number
  /** Of `others`: destinations that counted against `on`. */
  against: Set<string>
  /** Results by day that are not stored yet. */
  results: Map<number, WarmupCounts>
  /** Of `on`; null after a change. */
  standing: Standing | null
  on: number
}

const FLUSH_MS = 1_000
const REFRESH_MS = 60_000
const BATCH = 500
/** Destinations of `others` that are remembered: more than any threshold needs at that volume. */
const DESTINATIONS = 20_000

const nameOf = ({ address, group }: Group['key']) => `warm-up ${address} ${group}`

/** Addresses in warm-up → WarmupLimits that have read nothing yet: until `turn`, nothing may be sent from them. */
export function createWarmupLimits(options: {
  store: Store['warmups']
  clock: WallClock
  addresses: readonly { address: string; warmup: Warmup }[]
  onError: (error: unknown) => void
}): WarmupLimits {
  const { store, clock, addresses, onError } = options
  const groups = new Map<string, Group>()
  for (const { address, warmup } of addresses) {
    for (const group of DESTINATION_GROUPS) {
      const key = { address, group }
      groups.set(nameOf(key), newGroup(key, warmup))
    }
  }
  const warming = new Set(addresses.map(({ address }) => address))
  const freed = new Set<string>()
  let readAt: number | null = null
  let flushedAt = Number.NEGATIVE_INFINITY

  const find = (address: string, destination: string) =>
    warming.has(address) ? groups.get(nameOf({ address, group: groupOf(destination) })) : undefined
  const standing = (group: Group): Standing => {
    const today = dayOf(clock.now())
    if (group.standing === null || group.on !== today) {
      group.standing = standingOf(group.warmup, [...group.days.values()].map(withResults(group)), today)
      if (group.on !== today) group.against.clear()
      group.on = today
    }
    return group.standing
  }
  /** How many mails of the day may have been sent by now. */
  const released = ({ state, allowance }: Standing) =>
    releasedBy(readAt === null || state === 'held' ? 0 : (allowance ?? Number.MAX_SAFE_INTEGER), clock.now())
  const leftOf = (group: Group) => {
    const { today, ...rest } = standing(group)
    const { mails, nextAt } = released({ today, ...rest })
    return { left: Math.max(0, mails - today.sent - group.reserved), nextAt }
  }
  const changed = (group: Group) => {
    group.standing = null
    freed.add(nameOf(group.key))
  }

  const count = batched<Group, WarmupKey | null>(async (wanted) => {
    const day = dayOf(clock.now())
    const requests = [...Map.groupBy(wanted, (group) => group)].map(([group, mails]) => {
      const { mails: most } = released(standing(group))
      return { group, request: { ...group.key, day, count: mails.length, most } }
    })
    try {
      const answers = await store.take(requests.map(({ request }) => request))
      const left = new Map(requests.map(({ group }, at) => [group, answers[at]!.taken]))
      for (const [at, { group, request }] of requests.entries()) setSent(group, request, answers[at]!.sent)
      return wanted.map((group) => {
        const taken = left.get(group)!
        left.set(group, taken - 1)
        return taken > 0 ? { ...group.key, day } : null
      })
    } finally {
      for (const group of wanted) group.reserved--
      for (const { group } of requests) changed(group)
    }
  }, BATCH)

  const flush = async () => {
    const taken = [...groups.values()].flatMap((group) => {
      const results = [...group.results]
      group.results = new Map()
      return results.map(([day, counts]) => ({ group, day, counts }))
    })
    flushedAt = clock.steady.now()
    if (taken.length === 0) return
    try {
      await store.add(taken.map(({ group, day, counts }) => ({ ...group.key, day, ...counts })))
      for (const { group, day, counts } of taken) group.days.set(day, added(dayIn(group, day), counts))
    } catch (error) {
      // The store may have done it. A result that counts twice is a fault of one mail; a mail that is taken back twice would
      // be one too many.
      for (const { group, day, counts } of taken) {
        group.results.set(day, added(resultsOn(group, day), { ...counts, sent: 0 }))
      }
      throw error
    } finally {
      for (const { group } of taken) changed(group)
    }
  }
  const read = async () => {
    const known = Map.groupBy(await store.days([...warming]), nameOf)
    for (const [name, group] of groups) {
      for (const each of known.get(name) ?? []) group.days.set(each.day, each)
      changed(group)
    }
    readAt = clock.steady.now()
  }
  const stateOf = (group: Group): WarmupState => {
    const { state, day, allowance, heldUntil, today } = standing(group)
    return { ...group.key, state, day, allowance, heldUntil, sent: today.sent, ...leftOf(group) }
  }

  return {
    leftFor: (address, destination) => {
      const group = find(address, destination)
      if (group === undefined || standing(group).state === 'finished') return null
      const { left, nextAt } = leftOf(group)
      return { name: nameOf(group.key), mails: left, nextAt }
    },
    reserve: (address, destination, mails) => {
      const group = find(address, destination)
      if (group === undefined) return
      group.reserved += mails
      if (mails < 0) freed.add(nameOf(group.key))
    },
    count: async (address, destination) => {
      const group = find(address, destination)
      return group === undefined ? null : count(group)
    },
    ended: ({ day, ...key }, destination, result) => {
      const group = groups.get(nameOf(key))
      if (group === undefined || result === 'other') return
      if (key.group === 'others' && (result === 'deferred' || result === 'blocked')) {
        if (group.against.has(destination) || group.against.size >= DESTINATIONS) return
        group.against.add(destination)
      }
      const results = resultsOn(group, day)
      if (result === 'unused') results.sent--
      else results[result]++
      group.results.set(day, results)
      group.standing = null
    },
    stateOf: (address, destination) => {
      const group = find(address, destination)
      return group === undefined || standing(group).state === 'finished' ? null : stateOf(group)
    },
    states: () => [...groups.values()].map(stateOf),
    turn: async () => {
      const at = clock.steady.now()
      if (readAt === null) return read()
      try {
        if (at - flushedAt >= FLUSH_MS) await flush()
        if (at - readAt >= REFRESH_MS) await read()
      } catch (error) {
        onError(error)
      }
    },
    flush,
    freed: () => {
      if (freed.size === 0) return []
      const names = [...freed]
      freed.clear()
      return names
    },
  }
}

const NOTHING: WarmupCounts = { sent: 0, delivered: 0, deferred: 0, blocked: 0, complaints: 0 }

const newGroup = (key: Group['key'], warmup: Warmup): Group => ({
  key,
  warmup,
  days: new Map(),
  reserved: 0,
  against: new Set(),
  results: new Map(),
  standing: null,
  on: Number.NaN,
})

const dayIn = ({ days, key }: Group, day: number): WarmupDay => days.get(day) ?? { ...key, day, ...NOTHING }
const resultsOn = ({ results }: Group, day: number): WarmupCounts => results.get(day) ?? { ...NOTHING }

function setSent(group: Group, { day }: WarmupKey, sent: number): void {
  group.days.set(day, { ...dayIn(group, day), sent })
}

/** Mails that were not sent count until that is stored, since the store decides about the next ones. */
const withResults =
  (group: Group) =>
  (each: WarmupDay): WarmupDay => ({ ...added(each, resultsOn(group, each.day)), sent: each.sent })

function added<Counts extends WarmupCounts>(counts: Counts, more: WarmupCounts): Counts {
  return {
    ...counts,
    sent: counts.sent + more.sent,
    delivered: counts.delivered + more.delivered,
    deferred: counts.deferred + more.deferred,
    blocked: counts.blocked + more.blocked,
    complaints: counts.complaints + more.complaints,
  }
}
