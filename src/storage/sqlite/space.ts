import type { ContentParts } from './content-parts.ts'
import { type Connection, one } from './driver.ts'
import { nextTurn } from './page.ts'
import type { Reading } from './reading.ts'
import type { Search } from './search.ts'

const PAGES = 'pragma page_count'
const FREE_PAGES = 'pragma freelist_count'
const GIVE_BACK = 'pragma incremental_vacuum(1)'

/** Free pages that stay for new mail: a twentieth of the file, and a megabyte. They are blank. */
const SPARE_SHARE = 1 / 20
const SPARE_PAGES = 256

/** Returns the disk space of removed data. */
export interface Space {
  /** Inside a transaction: moves the last pages of the file into its gaps, until the time is up; true while there is
   *  more. */
  giveBack(timeIsUp: () => boolean): boolean
  /** Outside a transaction: copies the log into the file, ten milliseconds per thousand pages. By itself SQLite
   *  would do that inside some later change. Never throws. */
  copyLog(): void
  /** The same after a step of an erasure, once others had their turn. The last one empties the log, which still has pages
   *  from before. */
  afterErasure(isLast: boolean): Promise<void>
  /** Outside a transaction: copies all of the log into the file, which then shrinks, and empties the log. */
  truncateLog(): void
}

export function createSpace(
  db: Connection,
  { parts, search, reading }: { parts: ContentParts; search: Search; reading: Reading },
): Space {
  const pages = db.prepare<unknown[], number>(PAGES).pluck()
  const freePages = db.prepare<unknown[], number>(FREE_PAGES).pluck()
  const busyTimeout = db.prepare('pragma busy_timeout').pluck()
  const hasExcess = () => one(freePages) > Math.max(SPARE_PAGES, one(pages) * SPARE_SHARE)
  const copyLog = () => {
    reading.end()
    try {
      db.pragma('wal_checkpoint(passive)')
    } catch {
      // What was written is safe in the log; SQLite copies it another time.
    }
  }
  const truncateLog = () => {
    reading.end()
    // Does not wait for readers in other processes: the next call will do.
    const patienceMs = busyTimeout.get()
    db.pragma('busy_timeout = 0')
    try {
      db.pragma('wal_checkpoint(truncate)')
    } finally {
      db.pragma(`busy_timeout = ${patienceMs}`)
    }
  }

  return {
    giveBack: (timeIsUp) => {
      if (parts.removeSome(timeIsUp)) return true
      while (hasExcess()) {
        db.exec(GIVE_BACK) // a prepared one would do a page and stop
        if (timeIsUp()) return true
      }
      return false
    },
    copyLog,
    truncateLog,
    afterErasure: async (isLast) => {
      await nextTurn()
      await search.cleanForErasure()
      if (isLast) truncateLog()
      else copyLog()
    },
  }
}
