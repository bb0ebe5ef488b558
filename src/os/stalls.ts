/** Interval of the measurement. */
const EVERY_MS = 50

/** Reports every 50 ms by how many milliseconds the main thread was late. Uses a real timer, whatever clock the server
 *  uses, and does not keep the process alive. Returns what stops it. */
export function watchStalls(late: (ms: number) => void): () => void {
  let dueAt = performance.now() + EVERY_MS
  const timer = setInterval(() => {
    const now = performance.now()
    late(Math.max(0, now - dueAt))
    dueAt = now + EVERY_MS
  }, EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}
