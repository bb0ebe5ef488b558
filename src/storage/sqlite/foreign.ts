import type { Connection } from './driver.ts'
import type { Reading } from './reading.ts'

/** Detects that another process changed the file (the command line beside a running server), so that caches are
 *  cleared. SQLite counts such changes (sqlite.org/pragma.html#pragma_data_version). */
export interface ForeignChanges {
  /** Compares the counter and calls the listeners if it changed. Takes a microsecond inside a transaction, and ten
   *  outside, where SQLite takes and releases a file lock for it. */
  check(): void
  /** The same at most once per turn of the event loop, for reads that every request makes. */
  glance(): void
  onChange(listener: () => void): void
}

export function watchForeignChanges(db: Connection, reading: Reading): ForeignChanges {
  const version = db.prepare('pragma data_version').pluck()
  const listeners: (() => void)[] = []
  let seen = version.get()
  let hasLooked = false
  const check = () => {
    const now = version.get()
    if (now === seen) return
    for (const listener of listeners) listener()
    seen = now
  }
  return {
    check,
    glance: () => {
      if (hasLooked) return
      hasLooked = true
      setImmediate(() => {
        hasLooked = false
      })
      reading.begin()
      check()
    },
    onChange: (listener) => {
      listeners.push(listener)
    },
  }
}
