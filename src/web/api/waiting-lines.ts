import { Refusal } from '../../model/refusal.ts'
import { createKeyedSemaphore } from '../../net/limiters/keyed-semaphore.ts'

/** Limits how many requests of one organization for one operation are performed at once (Operation.atOnce). */
export interface WaitingLines {
  /** Performs `work` now, or after earlier requests of the same line. Rejects with `rate_limited` if too many of them
   *  wait. Settles as `work` does. */
  run<T>(line: string, atOnce: number, work: () => Promise<T>): Promise<T>
}

/** Most requests of an organization that wait for one operation: each holds its body in memory. */
const MOST_WAITING = 20

/** Creates WaitingLines without requests. */
export function createWaitingLines(): WaitingLines {
  const semaphore = createKeyedSemaphore()
  const waiting = new Map<string, number>()

  const enter = async (line: string, atOnce: number): Promise<void> => {
    const already = waiting.get(line) ?? 0
    if (already >= MOST_WAITING) throw tooMany(atOnce)
    const turn = semaphore.enter(line, atOnce)
    if (turn === undefined) return
    waiting.set(line, already + 1)
    await turn
    const left = waiting.get(line)! - 1 // counted above
    if (left > 0) waiting.set(line, left)
    else waiting.delete(line)
  }

  return {
    run: async (line, atOnce, work) => {
      await enter(line, atOnce)
      try {
        return await work()
      } finally {
        semaphore.leave(line)
      }
    },
  }
}

const tooMany = (atOnce: number) =>
  new Refusal('rate_limited', `Too many requests at once: ${atOnce} run and ${MOST_WAITING} wait. Retry in a second.`, {
    retryAfterSeconds: 1,
  })
