import { IN_THREAD, type Pace } from '../lists/slices.ts'
import { type Answer, type ListName, type ListWorks, listWorks, workOf } from '../lists/works.ts'
import { readingOn } from './database.ts'
import type { Connection } from './driver.ts'
import { sqliteMessageSearch } from './message-search.ts'
import { searchIndex } from './search-index.ts'

/** Reads of many records, by name: lists, searches, counts; and the search index, which is written where it is read. Each
 *  is a function of plain data, so that it can run in another thread (reader.ts). SQLite cannot interrupt a statement, so
 *  each ends by itself:
 *
 *  messages     reads slices of an index until a limit of time (lists/slices.ts); so do the deliveries of a webhook,
 *               inbound mail and suppressions
 *  events       reads an index of the matches, or some of each kind of events that match
 *  waiting      reads the due indexes, which contain only what waits
 *  statistics   look up one row for each hour or day, and tag or domain
 *  search       indexes or renews a batch, or merges some pages */
export function readsOn(db: Connection, pace: Pace = IN_THREAD) {
  const search = searchIndex(db)
  const works = listWorks(sqliteMessageSearch(db, search, pace), pace)
  const read = readingOn(db)
  const lists = Object.fromEntries(
    Object.keys(works).map((name) => [name, (...args: never) => read(workOf(works, name as ListName, args))]),
  ) as Lists // each with the arguments and the result of its work
  return {
    ...lists,
    indexSearch: search.index,
    renewSearch: search.renew,
    purgeSearch: search.purge,
    closeSearch: search.close,
  }
}

type Lists = { [Name in ListName]: (...args: Parameters<ListWorks[Name]>) => Answer<Name> }

export type Reads = ReturnType<typeof readsOn>
