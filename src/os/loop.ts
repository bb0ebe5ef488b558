import type { Clock } from './clock.ts'

/** A loop that turns when something is due: nap until then, until woken, or at most `idleMs`. */
export interface Loop {
  start(): void
  /** Turn soon, once for all wakes of one turn of the event loop; a wake that arrives during a turn causes one more. */
  wake(): void
  /** For how long the turn that runs has been running, by the machine's own timer; 0 between two turns. */
  turningMs(): number
  /** No further turns; resolves when the running one has ended. */
  stop(): Promise<void>
}

/** `tick` → Loop. `tick` does what is due and returns the time (ms UTC) of the next due work, or null.
 *  An error in a turn goes to `onError` and the loop goes on after `idleMs`. Knows neither mail nor store. */
export function createLoop(options: {
  clock: Clock
  idleMs: number
  tick: () => Promise<number | null>
  onError: (error: unknown) => void
}): Loop {
  const { clock, idleMs, tick, onError } = options
  let stopped = false
  let woken = false
  let nap: AbortController | null = null
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
      nap = new AbortController()
      const waitMs = nextAt === null ? idleMs : Math.min(idleMs, Math.max(0, nextAt - clock.now()))
      await clock.sleep(waitMs, nap.signal)
      nap = null
    }
  }

  return {
    start: () => {
      running ??= turn()
    },
    wake: () => {
      woken = true
      if (nap === null || isCalled) return
      isCalled = true
      setImmediate(() => {
        isCalled = false
        nap?.abort()
      })
    },
    turningMs: () => (turnedAt === null ? 0 : performance.now() - turnedAt),
    stop: async () => {
      stopped = true
      nap?.abort()
      await running
    },
  }
}

/** Longer than one turn can take: milliseconds, and some seconds while another process holds the store. */
const STUCK_MS = 60_000

/** Engines by name → why one of them does no work although it should; null when all turn. */
export function stuckEngine(engines: Record<string, Pick<Loop, 'turningMs'>>): string | null {
  const stuck = Object.entries(engines).find(([, { turningMs }]) => turningMs() > STUCK_MS)
  return stuck === undefined ? null : `the ${stuck[0]} engine does not come to the end of its turn`
}
