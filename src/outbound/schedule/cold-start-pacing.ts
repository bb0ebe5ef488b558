/** How many attempts at destinations that have not proven themselves may start while others take mail well. A dead destination costs
 *  no time of theirs but the processor's all the same: an attempt is a claim, a signature and a record. */
export interface ColdStartPacing {
  /** A mail went through. */
  good(now: number): void
  /** How many may start now, and when (ms UTC) more may if none. */
  left(now: number): { starts: number; nextAt: number }
  started(count: number, now: number): void
}

const TURN_MS = 100
/** Below so many good mails a second nobody is in the way. */
const BUSY = 20
/** While busy: so many starts a second at least, and a share of the good ones. */
const AT_LEAST = 100
const SHARE = 0.1

/** Nothing known → ColdStartPacing without a limit, until good mails come. */
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
