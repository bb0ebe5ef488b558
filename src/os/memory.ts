import { createMemoryBudget, type Release } from '../net/limiters/memory-budget.ts'
import { type Clock, systemClock } from './clock.ts'

/** Uses of large buffers. */
export type Use = keyof typeof COSTS

/** Accounts for all large buffers in memory. Callers reserve before they allocate, so memory is never promised twice. */
export interface Memory {
  /** Limit of resident memory; Infinity if unknown. */
  readonly limitBytes: number
  /** Reserves the memory that `use` needs for `sizeBytes` and resolves with a function that releases it, to be called once.
   *  Resolves with null after `withinMs`, if it could never fit, or if `signal` aborted the wait. */
  enter(use: Use, sizeBytes: number, withinMs: number, signal?: AbortSignal): Promise<Release | null>
  /** Reserves memory like `enter`, but without waiting: null if too little is free now. */
  take(use: Use, sizeBytes: number): (() => void) | null
  /** Whether so much could be reserved at all, and memory is not short now. */
  mayHold(use: Use, sizeBytes: number): boolean
  /** Whether no new work should start: nearly the whole limit is resident, for whatever reason. */
  isShort(): boolean
  reservedBytes(): number
  /** Number of reservations that failed. */
  refusals(): number
}

/** Peak resident bytes per byte of content, measured with 24 MB of random bytes above the base use of the process. Outgoing
 *  content peaks while it is made, and holds less while it is sent, which may take as long as a slow receiver needs. */
const COSTS = {
  /** Small bodies that arrive or wait for their response: the pieces, and the parsed values. 1.5 while they arrive. */
  body: { times: 2, keeps: null },
  /** A body being received: one buffer and its chunks. */
  upload: { times: 2, keeps: null },
  /** A received body: decoded, packed, in the log of the store. 3.5 with attachments, more if HTML is analysed. */
  request: { times: 5, keeps: null },
  /** Inbound mail from its file, in the reading thread, as stored; 7.5 with attachments, more in UTF-16 or quoted-printable. */
  mail: { times: 9, keeps: null },
  /** Stored mail that is read, perhaps composed, then written to the client. */
  answer: { times: 7, keeps: 1.5 },
  /** Outbound mail that is read, composed, signed, then sent. 5.5 with attachments; this value is HTML whose every word is a
   *  link. */
  delivery: { times: 9, keeps: 3 },
  /** Inbound mail as JSON with its attachments, then sent. */
  post: { times: 10, keeps: 3 },
} as const satisfies Record<string, { times: number; keeps: number | null }>
/** Time within which any outgoing content has been made. */
const MADE_MS = 20_000

/** Resident memory of a warmed-up process under light load. */
const OWN_BYTES = 150_000_000
/** Fractions of the limit: for all reservations, for resident memory when another one starts, for any new work, and the
 *  point from which garbage is collected. */
const PROMISED = 0.9
const RESIDENT = 0.97
const SHORT = 0.95
const COLLECT = 0.8
const LOOK_MS = 100
/** A full collection blocks the main thread for 10 to 100 ms. */
const COLLECT_AGAIN_MS = 1_000

/** Creates an empty Memory for a limit and the size of the largest accepted message.
 *
 *  Requests are served in order of arrival. Mail and received bodies may use the whole limit. Bodies being received may use
 *  a third, so that processing them finds memory. Outgoing content may use what leaves memory for the largest message, at least
 *  a third. Content larger than its share goes alone; a body or message that could never fit is refused at once.
 *  The factors hold for a healthy process. If more is resident than they predict, garbage is collected, large content
 *  waits, and finally no new work starts. */
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
  const shares: Record<Owner, number> = { in: Number.POSITIVE_INFINITY, upload: totalBytes / 3, out: outBytes }
  const budget = createMemoryBudget<Owner>({
    totalBytes,
    clock,
    arePassing: true,
    shareOf: (owner) => shares[owner],
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

  /** Waits until so much more may be resident; false after the time. */
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

  /** A body holds both reservations at the same time, so it is not received if the second could never fit. */
  const fitsAtTimes = (use: Use, sizeBytes: number) =>
    costOf(use, sizeBytes) + (use === 'upload' ? costOf('request', sizeBytes) : 0) <= totalBytes

  const place = async (use: Use, sizeBytes: number, withinMs: number, signal: AbortSignal = NEVER) => {
    const cost = costOf(use, sizeBytes)
    if (!fitsAtTimes(use, sizeBytes)) return null
    const endsAt = clock.now() + withinMs
    const order = use === 'request' ? 'ahead' : undefined // its upload holds a reservation already
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
    take: (use, sizeBytes) => {
      const cost = costOf(use, sizeBytes)
      const leave = residentBytes() + cost > limitBytes * RESIDENT ? null : budget.takeFree(ownerOf(use), cost)
      if (leave === null) {
        refusals++
        return null
      }
      reserved += cost
      return () => {
        reserved -= cost
        leave()
      }
    },
    mayHold: (use, sizeBytes) => fitsAtTimes(use, sizeBytes) && !isShort(),
    isShort,
    reservedBytes: () => reserved,
    refusals: () => refusals,
  }
}

/** The largest message that fits into a limit when nothing else is in flight; 0 if none fits. */
export function largestMailUnder(limitBytes: number): number {
  return Math.max(0, (limitBytes * PROMISED - OWN_BYTES) / COSTS.mail.times)
}

/** The inverse: the smallest limit for a message of so many bytes. */
export function leastLimitFor(mailBytes: number): number {
  return (mailBytes * COSTS.mail.times + OWN_BYTES) / PROMISED
}

type Owner = 'in' | 'upload' | 'out'
const isOut = (use: Use) => COSTS[use].keeps !== null
const ownerOf = (use: Use): Owner => (isOut(use) ? 'out' : use === 'upload' ? 'upload' : 'in')
const NEVER = new AbortController().signal

/** Without a bound, for tests and short-lived tools. */
export const ampleMemory: Memory = createMemory({
  limitBytes: Number.POSITIVE_INFINITY,
  largestMailBytes: 0,
  clock: systemClock.steady,
})
