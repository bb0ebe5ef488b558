/** How long tests wait. A limit only ends what hangs: what a test waits for comes much earlier on any machine. */

/** The limit of a test in milliseconds. scripts/run-tests.ts multiplies it on a slow machine. */
export const TEST_LIMIT_MS = Number(process.env.TEST_LIMIT_MS ?? 300_000)

/** The limit of one wait of a test, so that its message appears before the test is ended. An integer, as time limits of
 *  processes must be. */
export const PATIENCE_MS = Math.floor(0.8 * TEST_LIMIT_MS)

/** Polls until it holds: every 2 ms at first, then more and more rarely, every 10 ms after a second. A look that blocks this
 *  process, such as one by `psql`, is followed by a rest as in restingAfter. Throws after PATIENCE_MS, naming `what`; a
 *  function can add what is there instead. */
export async function until(what: string | (() => string), holds: () => unknown): Promise<void> {
  const startedAt = performance.now()
  for (;;) {
    const lookedAt = performance.now()
    const answer = holds()
    const blockedMs = performance.now() - lookedAt
    if (await answer) return
    const waitedMs = performance.now() - startedAt
    if (waitedMs > PATIENCE_MS) throw new Error(`waited in vain for ${typeof what === 'string' ? what : what()}`)
    await Bun.sleep(Math.max(Math.min(10, Math.max(2, waitedMs / 100)), REST * blockedMs))
  }
}

/** Does work that blocks this process, such as waiting for `psql`, then rests four times as long. Stores, proxies and loads
 *  in this process stand still meanwhile; without the rest, they get no answers in time on a busy machine. */
export async function restingAfter<T>(work: () => T): Promise<T> {
  const beganAt = performance.now()
  const value = work()
  await Bun.sleep(REST * (performance.now() - beganAt))
  return value
}

/** Times as long as the work. */
const REST = 4
