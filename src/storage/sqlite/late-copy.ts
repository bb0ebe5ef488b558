import type { Connection } from './driver.ts'

/** After a commit that leaves more than a thousand pages in the log SQLite copies them into the file at once, which for a
 *  large mail holds the thread as long as the commit itself, and whoever waits for the commit with it. So after large ones
 *  it is done in a turn of its own. */
export interface LateCopy {
  /** Inside a change that writes so many bytes. */
  writing(bytes: number): void
  /** The change is durable: copies soon. */
  committed(): void
  /** It was taken back. */
  undone(): void
}

/** `copyLog` brings the log into the file, and never throws. */
export function createLateCopy(db: Connection, copyLog: () => void): LateCopy {
  let isPutOff = false
  const over = () => {
    if (isPutOff) db.pragma(`wal_autocheckpoint = ${BY_ITSELF_PAGES}`)
    isPutOff = false
  }
  return {
    writing: (bytes) => {
      if (isPutOff || bytes < LARGE_BYTES) return
      db.pragma('wal_autocheckpoint = 0')
      isPutOff = true
    },
    committed: () => {
      if (isPutOff) setImmediate(() => db.open && copyLog())
      over()
    },
    undone: over,
  }
}

const LARGE_BYTES = 2 ** 20
/** SQLite's own. */
const BY_ITSELF_PAGES = 1_000
