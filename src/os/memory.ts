import { createMemoryBudget, type Release } from '../net/limiters/memory-budget.ts'
import { type Clock, systemClock } from './clock.ts'

/** What large bytes are for. */
export type Use = keyof typeof COSTS

/** One account of all that is large in memory: whoever is about to hold large bytes asks first, and what the process may have
 *  is never promised twice. */
export interface Memory {
  /** What may be resident; Infinity: nobody told. */
  readonly limitBytes: number
  /** Waits until what `use` makes of `sizeBytes` has its place → what gives it back, to be called once. Null when there was none
   *  within `withinMs`, when there never is, or when `signal` ended the wait. */
  enter(use: Use, sizeBytes: number, withinMs: number, signal?: AbortSignal): Promise<Release | null>
  /** Whether so much may be begun now: there can be a place for it, and memory is not short. */
  mayHold(use: Use, sizeBytes: number): boolean
  /** Whether nothing new is to be begun at all: nearly all of the limit is resident, however that came. */
  isShort(): boolean
  reservedBytes(): number
  /** How often there was no place. */
  refusals(): number
}

/** What is resident at the worst moment for each byte, as it was measured with 24 MB of random bytes, over what the process has
 *  anyway. What goes out is made first, which is its worst moment; then it is on its way, for as long as a slow receiver
 *  likes, and keeps less. */
const COSTS = {
  /** A body on its way in: one buffer, and the pieces it came in. */
  upload: { times: 2, keeps: null },
  /** The same in hand: decoded, packed, in the log of the store; 3.5 with attachments, more where HTML is analysed. */
  request: { times: 5, keeps: null },
  /** From its file, in the reading thread, as it is kept; 7.5 with attachments, more in UTF-16 or quoted-printable. */
  mail: { times: 9, keeps: null },
  /** Read, perhaps composed; then written to the client. */
  answer: { times: 7, keeps: 1.5 },
  /** Read, composed, signed; then on the wire. 5.5 with attachments; this is HTML whose every word is a link. */
  delivery: { times: 9, keeps: 3 },
  /** Inbound mail as JSON with its attachments; then on the wire. */
  post: { times: 10, keeps: 3 },
} as const satisfies Record<string, { times: number; keeps: number | null }>
/** Whatever goes out is made by then. */
const MADE_MS = 20_000

/** Resident once everything has been used, with some load of small things. */
const OWN_BYTES = 150_000_000
/** Of the limit: for all that is promised, for what is resident when one more begins, for anything new at all; and from where on
 *  garbage is collected. */
const PROMISED = 0.9
const RESIDENT = 0.97
const SHORT = 0.95
const COLLECT = 0.8
const LOOK_MS = 100
/** A full collection takes 10 to 100 ms of the main thread. */
const COLLECT_AGAIN_MS = 1_000

/** The limit, and the largest mail that is taken → an account of which nothing is promised.
 *
 *  Who came first is served first. Mails and bodies in hand may have all of it; bodies on their way in a third, so that
 *  what is made of them finds a place; what goes out as much as leaves room for the largest mail, at least a third. Something
 *  larger than its share goes alone; but a body or a mail that could never have its place is refused at once.
 *  The figures are of a process that is well. If more is resident than they say, for whatever reason, garbage is collected,
 *  what is large waits, and at last nothing new is begun. */
export function createMemory(options: {
  limitBytes: number
  largestMailBytes: number
  clock: Clock
  residentBytes?: () => number
  collect?: () => void
}): Memory {
  const { limitBytes, clock, residentBytes = process.memoryUsage.rss, collect = () => Bun.gc(true) } = options
  const totalBytes = Math.max(1, limitBytes * PROMISED - OWN_BYTES)
  const outBytes = Math.max(totalBytes / 3, totalBytes - options.largestMailBytes * COSTS.mail.times)
  const budget = createMemoryBudget({
    totalBytes,
    clock,
    arePassing: true,
    shareOf: (owner) => ({ in: Number.POSITIVE_INFINITY, upload: totalBytes / 3, out: outBytes })[owner as Owner],
  })
  let refusals = 0
  let reserved = 0
  let lookedAt = Number.NEGATIVE_INFINITY
  let collectedAt = Number.NEGATIVE_INFINITY
  let wasShort = false

  const tidy = () => {
    if (clock.now() - collectedAt < COLLECT_AGAIN_MS) return
    collectedAt = clock.now()
    collect()
  }

  /** Waits until so much more may be resident; false when that did not come. */
  const settled = async (cost: number, endsAt: number, signal?: AbortSignal): Promise<boolean> => {
    while (residentBytes() + cost > limitBytes * RESIDENT) {
      tidy()
      if (clock.now() >= endsAt || signal?.aborted) return false
      await clock.sleep(LOOK_MS, signal)
    }
    return true
  }

  const costOf = (use: Use, sizeBytes: number) => {
    const cost = sizeBytes * COSTS[use].times
    return isOut(use) ? Math.min(cost, totalBytes) : cost
  }

  /** A body has both its places at the same time: whose second will never be there is not uploaded. */
  const fitsAtTimes = (use: Use, sizeBytes: number) =>
    costOf(use, sizeBytes) + (use === 'upload' ? costOf('request', sizeBytes) : 0) <= totalBytes

  const place = async (use: Use, sizeBytes: number, withinMs: number, signal: AbortSignal = NEVER) => {
    const cost = costOf(use, sizeBytes)
    if (!fitsAtTimes(use, sizeBytes)) return null
    const endsAt = clock.now() + withinMs
    const order = use === 'request' ? 'ahead' : undefined // its upload has a place already
    const leave = await budget.reserve(ownerOf(use), cost, withinMs, signal, order)
    if (leave === null) return null
    let held = cost
    reserved += held
    const over = new AbortController()
    const giveBack = (keepBytes = 0) => {
      reserved -= held - keepBytes
      held = keepBytes
      leave(keepBytes)
      if (keepBytes === 0) over.abort()
    }
    if (!(await settled(cost, endsAt, signal))) {
      giveBack()
      return null
    }
    const { keeps } = COSTS[use]
    if (keeps !== null) void keepLess(Math.min(cost, keeps * sizeBytes), giveBack, over.signal)
    return () => giveBack()
  }

  const keepLess = async (keepBytes: number, giveBack: Release, over: AbortSignal) => {
    await clock.sleep(MADE_MS, over)
    if (!over.aborted) giveBack(keepBytes)
  }

  const isShort = () => {
    const now = clock.now()
    if (now - lookedAt < LOOK_MS) return wasShort
    lookedAt = now
    const share = residentBytes() / limitBytes
    if (share > COLLECT) setImmediate(tidy)
    wasShort = share > SHORT
    return wasShort
  }

  return {
    limitBytes,
    enter: async (use, sizeBytes, withinMs, signal) => {
      const leave = await place(use, sizeBytes, withinMs, signal)
      if (leave === null && !signal?.aborted) refusals++
      return leave
    },
    mayHold: (use, sizeBytes) => fitsAtTimes(use, sizeBytes) && !isShort(),
    isShort,
    reservedBytes: () => reserved,
    refusals: () => refusals,
  }
}

/** Bytes of a limit → the largest mail that there is a place for when nothing else is under way; 0 when there is for none. */
export function largestMailUnder(limitBytes: number): number {
  return Math.max(0, (limitBytes * PROMISED - OWN_BYTES) / COSTS.mail.times)
}

/** The other way round: mail of so many bytes → the least limit for it. */
export function leastLimitFor(mailBytes: number): number {
  return (mailBytes * COSTS.mail.times + OWN_BYTES) / PROMISED
}

type Owner = 'in' | 'upload' | 'out'
const isOut = (use: Use) => COSTS[use].keeps !== null
const ownerOf = (use: Use): Owner => (isOut(use) ? 'out' : use === 'upload' ? 'upload' : 'in')
const NEVER = new AbortController().signal

/** Where nothing is bounded: in tests, and for tools that run for a moment. */
export const ampleMemory: Memory = createMemory({
  limitBytes: Number.POSITIVE_INFINITY,
  largestMailBytes: 0,
  clock: systemClock.steady,
})
