import type { Connection } from './driver.ts'

/** Reads of one turn of the event loop share one look at the file: taking and dropping SQLite's read lock costs more
 *  than finding a row. */
export interface Reading {
  /** Call before a read outside of writing. */
  begin(): void
  /** Ends the look; called by itself at the end of the turn, and before anything is written. */
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
