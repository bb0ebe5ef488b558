import { Refusal } from '../../model/refusal.ts'
import { createKeyedSemaphore } from '../../net/limiters/keyed-semaphore.ts'

/** Most requests of an organization that wait for one operation: each holds its body in memory. */
const MOST_WAITING = 20

/** Limits how many requests of one organization for one operation are performed at once (Operation.atOnce). */
export class WaitingLines {
  readonly #semaphore = createKeyedSemaphore()
  readonly #waiting = new Map<string, number>()

  /** Resolves now, or after earlier requests of the same line; call `leave` then. Rejects with `rate_limited` if too many
   *  of them wait. */
  async enter(line: string, atOnce: number): Promise<void> {
    const already = this.#waiting.get(line) ?? 0
    if (already >= MOST_WAITING) throw tooMany(atOnce)
    const turn = this.#semaphore.enter(line, atOnce)
    if (turn === undefined) return
    this.#waiting.set(line, already + 1)
    await turn
    const left = this.#waiting.get(line)! - 1 // counted above
    if (left > 0) this.#waiting.set(line, left)
    else this.#waiting.delete(line)
  }

  leave(line: string): void {
    this.#semaphore.leave(line)
  }
}

const tooMany = (atOnce: number) =>
  new Refusal('rate_limited', `Too many requests at once: ${atOnce} run and ${MOST_WAITING} wait. Retry in a second.`, {
    retryAfterSeconds: 1,
  })
