/** How long tests wait. A limit only ends what hangs: what a test waits for comes much earlier on any machine. */

/** The limit of a test in milliseconds. scripts/run-tests.ts multiplies it on a slow machine. */
export const TEST_LIMIT_MS = Number(process.env.TEST_LIMIT_MS ?? 300_000)

/** The limit of one wait of a test, so that its message appears before the test is ended. An integer, as time limits of
 *  processes must be. */
export const PATIENCE_MS = Math.floor(0.8 * TEST_LIMIT_MS)

/** Polls until it holds: every 2 ms at first, then more and more rarely, every 10 ms after a second, and for at most half of
 *  the time if a look stops this process. Throws after PATIENCE_MS, naming `what`; a function can add what is there
 *  instead. */
export async function until(what: string | (() => string), holds: () => unknown): Promise<void> {
  const startedAt = performance.now()
  for (;;) {
    const lookedAt = performance.now()
    const answer = holds()
    const stoodStillMs = performance.now() - lookedAt
    if (await answer) return
    const waitedMs = performance.now() - startedAt
    if (waitedMs > PATIENCE_MS) throw new Error(`waited in vain for ${typeof what === 'string' ? what : what()}`)
    await Bun.sleep(Math.max(Math.min(10, Math.max(2, waitedMs / 100)), stoodStillMs))
  }
}

/** Does what stops this process, such as waiting for `psql`, then rests four times as long: what else runs here, such as a
 *  store, a proxy or a load, stood still, and on a busy machine it would get no answers in time. */
export async function restingAfter<T>(work: () => T): Promise<T> {
  const beganAt = performance.now()
  const value = work()
  await Bun.sleep(Math.max(REST_MS, 4 * (performance.now() - beganAt)))
  return value
}

const REST_MS = 100
