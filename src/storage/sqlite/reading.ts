import type { Connection } from './driver.ts'

/** Reads of one turn of the event loop share one read transaction: taking and releasing SQLite's read lock costs
 *  more than finding a row. */
export interface Reading {
  /** Call it before a read outside of a write. */
  begin(): void
  /** Ends the transaction; runs by itself at the end of the turn, and before a write. */
  end(): void
}

export function shareReads(db: Connection): Reading {
  const begin = db.prepare('begin')
  const commit = db.prepare('commit')
  let isOpen = false
  const end = () => {
    if (!isOpen) return
    isOpen = false
    if (db.open) commit.run()
  }
  return {
    begin: () => {
      if (isOpen || db.inTransaction) return
      isOpen = true
      begin.run()
      setImmediate(end)
    },
    end,
  }
}
