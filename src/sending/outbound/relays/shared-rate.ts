import type { WallClock } from '../../../os/clock.ts'
import type { Rates } from '../../../storage/store.ts'

/** The part of this node in the mails per minute of a relay. All times are of the steady clock, ms. */
export interface SharedRate {
  /** Mails that may start now; if none, when to look again. */
  left(): { mails: number; nextAt: number }
  /** Mails started; negative: they were not. */
  started(mails: number): void
  /** Whether mail waits for `turn`. */
  isWanted(): boolean
  /** Takes mails from the shared rate if some are wanted → whether it got some. Rejects as the store. */
  turn(nodes: number): Promise<boolean>
}

/** A node gives up mails that it took and did not start after this time, so that they do not accumulate. */
const KEPT_MS = 2_000
/** A node that took mails asks again shortly after the next ones are due, so that other nodes come first. */
const TURN = 1.1
/** Interval of questions until the store has answered when the next mail may start. */
const ASK_MS = 20

/** Name of the rate in the store, and mails per minute → SharedRate. A node takes the mails of a second at once. */
export function createSharedRate(
  { name, perMinute }: { name: string; perMinute: number },
  { rates, clock }: { rates: Pick<Rates, 'take'>; clock: WallClock },
): SharedRate {
  const now = clock.steady.now
  const burst = Math.max(1, perMinute / 60)
  const batch = Math.floor(burst)
  const rule = { name, everyMs: (batch * 60_000) / perMinute, burst: burst / batch }
  let mails = 0
  let takenAt = Number.NEGATIVE_INFINITY
  let nextAt = Number.NEGATIVE_INFINITY
  let isWanted = false
  return {
    left: () => {
      const at = now()
      const left = at - takenAt > KEPT_MS ? 0 : Math.max(0, mails)
      isWanted ||= left === 0
      return { mails: left, nextAt: Math.max(nextAt, at + ASK_MS) }
    },
    started: (count) => {
      mails -= count
    },
    isWanted: () => isWanted,
    turn: async (nodes) => {
      const at = now()
      if (!isWanted || at < nextAt) return false
      const waitMs = await rates.take([rule], clock.now())
      nextAt = waitMs > 0 ? at + waitMs : nodes > 1 ? at + rule.everyMs * TURN : at
      if (waitMs > 0) return false
      mails = Math.min(0, mails) + batch
      takenAt = at
      isWanted = false
      return true
    },
  }
}
