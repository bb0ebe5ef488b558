import { fdatasyncSync } from 'node:fs'

/** Called after every few megabytes written to `handle`: brings them to the disk and then rests as long as the writing took. What
 *  is left to the end comes as one large write, and a server's fsync behind that waits for all of it (200 MB on ext4: up to
 *  160 ms). It blocks its thread: for a process that does nothing else. */
export function createPace(handle: number): () => void {
  let since = performance.now()
  return () => {
    fdatasyncSync(handle)
    Bun.sleepSync(Math.min(MOST_MS, performance.now() - since))
    since = performance.now()
  }
}

const MOST_MS = 250
