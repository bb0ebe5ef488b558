import type { ContentParts } from './content-parts.ts'
import { type Connection, one } from './driver.ts'
import type { Reading } from './reading.ts'
import { searchMerge } from './search.ts'

const PAGES = 'pragma page_count'
const FREE_PAGES = 'pragma freelist_count'
const GIVE_BACK = 'pragma incremental_vacuum(1)'

/** Free pages that stay, because tomorrow's mail needs them: a twentieth of the file, and a megabyte. They are blank. */
const SPARE_SHARE = 1 / 20
const SPARE_PAGES = 256
/** Half a millisecond. SQLite stops between words only, and those are short (search.ts); what was deleted it does not
 *  count. */
const MERGE_PAGES = 4

/** The disk space of what was removed. */
export interface Space {
  /** Inside a transaction: takes what was deleted out of the search index, then moves the last pages of the file into
   *  its gaps, until the time is up; true while there is more. */
  giveBack(timeIsUp: () => boolean): boolean
  /** Inside a transaction: takes what was deleted out of the search index, until the time is up; true while there is
   *  more. */
  mergeSearch(timeIsUp: () => boolean): boolean
  /** Outside: brings what was written into the file, ten milliseconds for a thousand pages; SQLite by itself would wait
   *  for so many, inside whatever change came along. Never throws. */
  copyLog(): void
  /** Outside: brings all of the log into the file, which shrinks by it, and empties the log. */
  truncateLog(): void
}

export function createSpace(db: Connection, { parts, reading }: { parts: ContentParts; reading: Reading }): Space {
  const merge = searchMerge(db)
  const pages = db.prepare<unknown[], number>(PAGES).pluck()
  const freePages = db.prepare<unknown[], number>(FREE_PAGES).pluck()
  const busyTimeout = db.prepare('pragma busy_timeout').pluck()
  const hasExcess = () => one(freePages) > Math.max(SPARE_PAGES, one(pages) * SPARE_SHARE)

  const mergeSearch = (timeIsUp: () => boolean) => {
    while (merge(MERGE_PAGES)) if (timeIsUp()) return true
    return false
  }

  return {
    mergeSearch,
    giveBack: (timeIsUp) => {
      if (parts.removeSome(timeIsUp)) return true
      if (mergeSearch(timeIsUp)) return true
      while (hasExcess()) {
        db.exec(GIVE_BACK) // a prepared one would do a page and stop
        if (timeIsUp()) return true
      }
      return false
    },
    copyLog: () => {
      reading.end()
      try {
        db.pragma('wal_checkpoint(passive)')
      } catch {
        // What was written is safe in the log; SQLite copies it another time, as it would by itself.
      }
    },
    truncateLog: () => {
      reading.end()
      // Whoever reads in another process is not waited for: the next time will do.
      const patienceMs = busyTimeout.get()
      db.pragma('busy_timeout = 0')
      try {
        db.pragma('wal_checkpoint(truncate)')
      } finally {
        db.pragma(`busy_timeout = ${patienceMs}`)
      }
    },
  }
}
