import { StoreUnavailable } from '../store.ts'
import { type Connection, one } from './driver.ts'
import type { Numbers } from './page.ts'
import { INDEXED, type Indexed, wordsOf } from './search-texts.ts'
import { note, type Postings, searchWords } from './search-words.ts'
import type { Writer } from './writer.ts'

const STATE = 'select first, last from search_state'
const NEWEST = 'select max(number) from messages'
const NEWER = `select ${INDEXED} from messages m where m.number > ? order by m.number limit ?`
const OLDER = `select ${INDEXED} from messages m where m.number < ? order by m.number desc limit ?`
const SET_LAST = 'update search_state set last = ?'
const SET_FIRST = 'update search_state set first = ?'

/** Messages indexed at once: three milliseconds of the writing thread. */
const BATCH = 64
/** Messages indexed before a search; newer ones are searched without the index. Tests change it. */
export const CATCH_UP = 16 * BATCH
/** Words after which a batch ends, if it has messages to many recipients: about the same time. */
const WORDS_MAX = 1_500

/** Full text over subject and addresses. Indexing costs a good part of accepting a message, so it runs later:
 *  periodically in small batches, and before a search, which reads even newer messages without it.
 *
 *  A table of words, whose every change and removal is as small as its slice. The FTS5 index that it replaced merged
 *  segments, and stepped over deleted rows without a stop: 150 ms for a hundredth of 1.7 million messages. */
export interface SearchIndex {
  /** Indexes the next batch, the newest messages first; true while more is waiting. */
  step(): Promise<boolean>
  /** Indexes some of what is waiting, if the store can write → the numbers in the index. */
  catchUp(): Promise<Numbers>
}

/** `copyLog` is called after each batch, so that its pages burden no other change. */
export function searchIndex(db: Connection, writer: Writer, copyLog: () => void): SearchIndex {
  const state = searchState(db)
  const newest = db.prepare<unknown[], number | null>(NEWEST).pluck()
  const newer = db.prepare<unknown[], Indexed>(NEWER)
  const older = db.prepare<unknown[], Indexed>(OLDER)
  const setLast = db.prepare(SET_LAST)
  const setFirst = db.prepare(SET_FIRST)
  const words = searchWords(db)

  const isBehind = () => state().last < (newest.get() ?? 0)
  /** Adds rows until the batch has enough words → the number of the last one. */
  const add = (rows: Iterable<Indexed>): number | null => {
    const postings: Postings = new Map()
    let count = 0
    let end: number | null = null
    for (const row of rows) {
      const own = wordsOf(row)
      note(postings, row.number, own)
      end = row.number
      count += own.size
      if (count >= WORDS_MAX) break
    }
    words.add(postings)
    return end
  }
  const step = async () => {
    if (!isBehind() && state().first === 0) return false
    await writer.write(() => {
      const { first, last } = state()
      if (isBehind()) setLast.run(add(newer.all(last, BATCH)))
      else setFirst.run(add(older.all(first, BATCH)) ?? 0)
    })
    copyLog()
    return isBehind() || state().first > 0
  }
  return {
    step,
    catchUp: async () => {
      try {
        for (let indexed = 0; indexed < CATCH_UP && isBehind(); indexed += BATCH) await step()
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error
      }
      const { first, last } = state()
      return { low: first, high: last + 1 }
    },
  }
}

/** → the first and last number in the index. */
export function searchState(db: Connection): () => { first: number; last: number } {
  const state = db.prepare<unknown[], { first: number; last: number }>(STATE)
  return () => one(state)
}
