import type { ErasureWork } from '../erasure-work.ts'
import { removeParts } from '../mail/contents.ts'
import type { MailInside } from '../mail/inside.ts'
import type { Work } from '../sql.ts'
import { type Connection, one } from './driver.ts'
import { nextTurn } from './next-turn.ts'
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
  /** Removes parts of contents without an owner, and moves the last pages of the file into its gaps, until the time is
   *  up; true while there is more. */
  giveBack(inside: MailInside, timeIsUp: () => boolean): Work<boolean>
  /** Outside a transaction: copies the log into the file, ten milliseconds per thousand pages. By itself SQLite
   *  would do that inside some later change. Never throws. */
  copyLog: CopyLog
  /** The same after a step of retention, once others had their turn. `isLast`: a pass ends, and the search index loses what
   *  it removed: a part of the index has messages of all organizations. */
  afterRemoval(isLast: boolean): Promise<void>
  /** The same after a step of an erasure, once others had their turn. The last one empties the log, which still has pages
   *  from before. */
  afterErasure(isLast: boolean): Promise<void>
  /** Outside a transaction: copies all of the log into the file, which then shrinks, and empties the log. */
  truncateLog(): void
}

/** As Space.copyLog. */
export type CopyLog = () => void

export function logCopy(db: Connection, reading: Reading): CopyLog {
  return () => {
    reading.end()
    try {
      db.pragma('wal_checkpoint(passive)')
    } catch {
      // What was written is safe in the log; SQLite copies it another time.
    }
  }
}

export function createSpace(
  db: Connection,
  { search, reading, copyLog }: { search: Search; reading: Reading; copyLog: CopyLog },
): Space {
  const pages = db.prepare<unknown[], number>(PAGES).pluck()
  const freePages = db.prepare<unknown[], number>(FREE_PAGES).pluck()
  const busyTimeout = db.prepare('pragma busy_timeout').pluck()
  const hasExcess = () => one(freePages) > Math.max(SPARE_PAGES, one(pages) * SPARE_SHARE)
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
    giveBack: function* ({ pace }, timeIsUp) {
      if (yield* removeParts(pace.parts, timeIsUp)) return true
      while (hasExcess()) {
        db.exec(GIVE_BACK) // a prepared one would do a page and stop
        if (timeIsUp()) return true
      }
      return false
    },
    copyLog,
    truncateLog,
    afterRemoval: async (isLast) => {
      await nextTurn()
      copyLog()
      while (isLast && (await search.clean()));
    },
    afterErasure: async (isLast) => {
      await nextTurn()
      await search.cleanForErasure()
      if (isLast) truncateLog()
      else copyLog()
    },
  }
}

/** The words of removed and changed messages leave the search index, once this step is written. */
export function eraseWords(search: Search): ErasureWork {
  // biome-ignore lint/correctness/useYield: the connection of this transaction is at hand
  return function* () {
    return { after: search.erasureWaits() ? 'search' : null }
  }
}
