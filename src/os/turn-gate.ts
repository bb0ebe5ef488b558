import { Fifo } from '../net/limiters/fifo.ts'

/** What comes in within one turn of the event loop is begun only as long as that turn is short.
 *
 *  Bun takes every connection that waits, reads it and calls its handler, before it looks at anything else (1.4.5). As long
 *  as each answer brings the next connection, which four clients manage where a handler takes some milliseconds, that
 *  never ends: no timer and no setImmediate runs, so nothing is committed and nobody's mail is accepted. Whoever has to
 *  wait for an answer brings no next connection. */
export interface TurnGate {
  /** Runs `begin` now, or where this turn has been long already, in a later one, in the order of coming → what it gives. */
  enter<T>(begin: () => T | Promise<T>): T | Promise<T>
}

/** Longest that handlers begin one after the other before timers and commits have their turn. */
const TURN_MS = 5

/** Monotonic milliseconds → a gate with nobody waiting. */
export function createTurnGate(now: () => number = () => performance.now()): TurnGate {
  const waiting = new Fifo<() => void>()
  /** When the first request of this turn came; null = none has. */
  let beganAt: number | null = null

  const turn = () => {
    beganAt = null
    if (waiting.size === 0) return
    begin()
    while (waiting.size > 0 && !isLong()) waiting.take()!()
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
