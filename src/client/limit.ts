import type { Clock } from './clock.ts'

/** Reason for stopping a timer. Without a reason, the runtime creates an exception each time. */
const DONE = 'done'

/** A signal that is aborted with the caller's signal or after a timeout. */
export interface Limit {
  signal: AbortSignal
  /** True after the timeout has elapsed. */
  isOver(): boolean
  /** Restarts the timeout with this many ms. */
  restart(ms: number): void
  /** Stops the timeout until `restart`. */
  pause(): void
  /** Stops the timeout and no longer listens to the caller's signal. */
  end(): void
}

/** Creates a Limit from a clock, a timeout in ms and the caller's signal. The timeout has started. Call `end` after use. */
export function limited(clock: Clock, ms: number, outer: AbortSignal | undefined): Limit {
  const inner = new AbortController()
  let timer = new AbortController()
  let isOver = false
  const stop = () => inner.abort(outer?.reason)
  outer?.addEventListener('abort', stop)
  const start = async (givenMs: number, { signal }: AbortController) => {
    await clock.sleep(Math.max(0, givenMs), signal)
    if (signal.aborted) return
    isOver = true
    inner.abort()
  }
  void start(ms, timer)
  return {
    signal: inner.signal,
    isOver: () => isOver,
    restart: (again) => {
      timer.abort(DONE)
      timer = new AbortController()
      void start(again, timer)
    },
    pause: () => timer.abort(DONE),
    end: () => {
      timer.abort(DONE)
      outer?.removeEventListener('abort', stop)
    },
  }
}
