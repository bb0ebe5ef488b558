import type { Connection } from './driver.ts'

/** After a commit that leaves more than a thousand pages in the log, SQLite copies them into the file at once. For a
 *  large mail this blocks the thread as long as the commit itself, and delays everything that waits for the commit.
 *  Therefore the copy runs in a separate turn after large commits. */
export interface LateCopy {
  /** A change of the present transaction writes this many bytes. */
  writing(bytes: number): void
  /** The transaction is durable. If it wrote much, `copyLog`, which never throws, copies the log into the file soon. */
  committed(copyLog: () => void): void
  /** The transaction was rolled back: its bytes do not count. */
  undone(): void
}

export function createLateCopy(db: Connection): LateCopy {
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
    committed: (copyLog) => {
      if (isPutOff) setImmediate(() => db.open && copyLog())
      over()
    },
    undone: over,
  }
}

const LARGE_BYTES = 2 ** 20
/** SQLite's own limit. */
const BY_ITSELF_PAGES = 1_000
