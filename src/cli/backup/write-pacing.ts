import { fdatasyncSync } from 'node:fs'

/** Returns a function to call after every few megabytes written to `handle`. It syncs them to disk, then sleeps for as
 *  long as writing them took, at most 250 ms. A single large sync at the end would delay the server's next fsync (200
 *  MB on ext4: up to 160 ms). It blocks the thread, so use it only in a process that does nothing else. */
export function createWritePacing(handle: number): () => void {
  let since = performance.now()
  return () => {
    fdatasyncSync(handle)
    Bun.sleepSync(Math.min(MOST_MS, performance.now() - since))
    since = performance.now()
  }
}

const MOST_MS = 250
