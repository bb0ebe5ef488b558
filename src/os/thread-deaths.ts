import type { PoolEvent } from './supervisor.ts'

/** A thread or confined process that ended by itself. */
export interface ThreadDeath {
  pool: string
  /** ms UTC. */
  at: number
  /** Its reason: an exception with its stack, a signal, an exit code. */
  error: string
}

/** Keeps the last deaths, for alerts. `now`: ms UTC. */
export function createThreadDeaths(now: () => number): {
  onEvent(event: PoolEvent): void
  /** The oldest first. */
  recent(): readonly ThreadDeath[]
} {
  const deaths: ThreadDeath[] = []
  return {
    onEvent: (event) => {
      if (event.kind !== 'ended' || event.cause !== 'died') return
      deaths.push({ pool: event.pool, at: now(), error: event.error })
      if (deaths.length > MOST_KEPT) deaths.shift()
    },
    recent: () => deaths,
  }
}

/** Threads that die at once are started again at most twice a minute (supervisor.ts). */
const MOST_KEPT = 200
