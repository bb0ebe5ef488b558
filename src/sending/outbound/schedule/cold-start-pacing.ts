const TURN_MS = 100
/** Below this many delivered mails per second there is no limit. */
const BUSY = 20
/** While busy: at least this many starts per second, and a share of the delivered mails. */
const AT_LEAST = 100
const SHARE = 0.1

/** Limits attempts at destinations that are not proven while others accept mail. A dead destination takes no time
 *  from them, but it costs CPU: every attempt needs a claim, a signature and a record. There is no limit until mails are
 *  delivered. Times are of the steady clock, ms. */
export class ColdStartPacing {
  #second = 0
  #deliveredNow = 0
  #deliveredBefore = 0
  #turn = 0
  #startedInTurn = 0

  delivered(now: number): void {
    this.#moveTo(now)
    this.#deliveredNow++
  }

  /** How many attempts may start now, and if none, when more may. */
  left(now: number): { starts: number; nextAt: number } {
    this.#moveTo(now)
    const delivered = Math.max(this.#deliveredBefore, this.#deliveredNow)
    if (delivered < BUSY) return { starts: Number.POSITIVE_INFINITY, nextAt: now }
    const perTurn = Math.ceil((Math.max(AT_LEAST, delivered * SHARE) * TURN_MS) / 1000)
    return { starts: Math.max(0, perTurn - this.#startedInTurn), nextAt: (this.#turn + 1) * TURN_MS }
  }

  started(count: number, now: number): void {
    this.#moveTo(now)
    this.#startedInTurn += count
  }

  #moveTo(now: number): void {
    const second = Math.floor(now / 1000)
    if (second !== this.#second) {
      this.#deliveredBefore = second === this.#second + 1 ? this.#deliveredNow : 0
      this.#deliveredNow = 0
      this.#second = second
    }
    const turn = Math.floor(now / TURN_MS)
    if (turn !== this.#turn) this.#startedInTurn = 0
    this.#turn = turn
  }
}
