import type { Clock } from './clock.ts'

/** Runs `tick` when work is due: sleeps until then, until woken, or at most `idleMs`. */
export interface Loop {
  start(): void
  /** Runs `tick` soon, once for all calls in one turn of the event loop. A call during a tick causes one more tick. */
  wake(): void
  /** How long the current tick has been running, on the system timer; 0 between ticks. */
  turningMs(): number
  /** Starts no further tick and resolves when the current one has ended. */
  stop(): Promise<void>
}

/** Creates a Loop. `tick` does the due work and returns the time (ms UTC) of the next due work, or null. An error goes to
 *  `onError`, and the loop continues after `idleMs`. */
export function createLoop(options: {
  clock: Clock
  idleMs: number
  tick: () => Promise<number | null>
  onError: (error: unknown) => void
}): Loop {
  const { clock, idleMs, tick, onError } = options
  let stopped = false
  let woken = false
  let pause: AbortController | null = null
  let isCalled = false
  let turnedAt: number | null = null
  let running: Promise<void> | null = null

  const turn = async () => {
    while (!stopped) {
      woken = false
      turnedAt = performance.now()
      const nextAt = await tick().catch((error) => {
        onError(error)
        return null
      })
      turnedAt = null
      if (stopped || woken) continue
      pause = new AbortController()
      const waitMs = nextAt === null ? idleMs : Math.min(idleMs, Math.max(0, nextAt - clock.now()))
      await clock.sleep(waitMs, pause.signal)
      pause = null
    }
  }

  return {
    start: () => {
      running ??= turn()
    },
    wake: () => {
      woken = true
      if (pause === null || isCalled) return
      isCalled = true
      setImmediate(() => {
        isCalled = false
        pause?.abort()
      })
    },
    turningMs: () => (turnedAt === null ? 0 : performance.now() - turnedAt),
    stop: async () => {
      stopped = true
      pause?.abort()
      await running
    },
  }
}

/** Longer than any healthy tick: ticks take milliseconds, or seconds while another process holds the store. */
const STUCK_MS = 60_000

/** Describes an engine whose tick hangs; null if all are running. */
export function stuckEngine(engines: Record<string, Pick<Loop, 'turningMs'>>): string | null {
  const stuck = Object.entries(engines).find(([, engine]) => engine.turningMs() > STUCK_MS)
  return stuck === undefined ? null : `the ${stuck[0]} engine does not finish its turn`
}
