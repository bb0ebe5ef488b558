import type { Clock } from '../../os/clock.ts'

/** Target time of a step. Step and commit together should hold the store for at most twice as long. */
const STEP_MS = 3
const LONGEST_MS = 6

/** Sets the time of each step. It shrinks if a step's commit took long, and grows back. */
export function createStepRunner(clock: Pick<Clock, 'now'>) {
  let givenMs = STEP_MS
  return async <T>(run: (timeIsUp: () => boolean) => Promise<T>): Promise<T> => {
    // Measured from when the store begins, since a step may wait for the store.
    let beganAt: number | null = null
    const result = await run(() => {
      const now = clock.now()
      beganAt ??= now
      return now - beganAt >= givenMs
    })
    const tookMs = beganAt === null ? 0 : clock.now() - beganAt
    givenMs = tookMs > LONGEST_MS ? Math.max(1, givenMs / 2) : Math.min(STEP_MS, givenMs + 1)
    return result
  }
}
