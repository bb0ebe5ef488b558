import { Fifo } from '../net/limiters/fifo.ts'

/** Limits how long one turn of the event loop may start new requests.
 *
 *  Bun accepts, reads and handles every waiting connection before it does anything else (1.4.5). If each response brings
 *  the next connection, the turn never ends; four clients suffice where a handler takes some milliseconds. No timer and
 *  no setImmediate runs then, so nothing is committed and no mail is accepted. A client that waits for its response opens
 *  no next connection. */
export interface TurnLimiter {
  /** Runs `begin` now, or in a later turn if this one is already long. Keeps the order and returns its result. */
  enter<T>(begin: () => T | Promise<T>): T | Promise<T>
}

/** Longest time that requests start in one turn before timers and commits run. */
const TURN_MS = 5

/** Creates a TurnLimiter. `now` is monotonic, in milliseconds. */
export function createTurnLimiter(now: () => number = () => performance.now()): TurnLimiter {
  const waiting = new Fifo<() => void>()
  /** When the first request of this turn arrived; null if none has. */
  let beganAt: number | null = null

  const turn = () => {
    beganAt = null
    if (waiting.size === 0) return
    begin()
    while (!isLong()) {
      const next = waiting.take()
      if (next === undefined) return
      next()
    }
  }
  const begin = () => {
    if (beganAt !== null) return
    beganAt = now()
    setImmediate(turn)
  }
  const isLong = () => beganAt !== null && now() - beganAt >= TURN_MS

  return {
    enter: (work) => {
      begin()
      if (waiting.size === 0 && !isLong()) return work()
      return new Promise((resolve, reject) => {
        waiting.push(() => {
          try {
            resolve(work())
          } catch (error) {
            reject(error)
          }
        })
      })
    },
  }
}
