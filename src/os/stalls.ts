/** How often the main thread is looked at. */
const EVERY_MS = 50

/** Tells every 50 ms by how many milliseconds the main thread came late: nothing else ran in that time. On a real timer,
 *  whatever clock the server has → what stops it. It keeps no process alive. */
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
