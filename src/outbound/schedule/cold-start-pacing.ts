/** Limits attempts at destinations that are not proven while others accept mail. A dead destination takes no time
 *  from them, but it costs CPU: every attempt needs a claim, a signature and a record. */
export interface ColdStartPacing {
  /** A mail was delivered. */
  good(now: number): void
  /** How many attempts may start now, and if none, when (steady clock, ms) more may. */
  left(now: number): { starts: number; nextAt: number }
  started(count: number, now: number): void
}

const TURN_MS = 100
/** Below this many delivered mails per second there is no limit. */
const BUSY = 20
/** While busy: at least this many starts per second, and a share of the delivered mails. */
const AT_LEAST = 100
const SHARE = 0.1

/** Creates a ColdStartPacing, without a limit until mails are delivered. */
export function createColdStartPacing(): ColdStartPacing {
  let second = 0
  let goodNow = 0
  let goodBefore = 0
  let turn = 0
  let startedInTurn = 0

  const moveTo = (now: number) => {
    const thisSecond = Math.floor(now / 1000)
    if (thisSecond !== second) {
      goodBefore = thisSecond === second + 1 ? goodNow : 0
      goodNow = 0
      second = thisSecond
    }
    const thisTurn = Math.floor(now / TURN_MS)
    if (thisTurn !== turn) startedInTurn = 0
    turn = thisTurn
  }

  return {
    good: (now) => {
      moveTo(now)
      goodNow++
    },
    left: (now) => {
      moveTo(now)
      const good = Math.max(goodBefore, goodNow)
      if (good < BUSY) return { starts: Number.POSITIVE_INFINITY, nextAt: now }
      const perTurn = Math.ceil((Math.max(AT_LEAST, good * SHARE) * TURN_MS) / 1000)
      return { starts: Math.max(0, perTurn - startedInTurn), nextAt: (turn + 1) * TURN_MS }
    },
    started: (count, now) => {
      moveTo(now)
      startedInTurn += count
    },
  }
}
