import { listMessages } from '../../src/storage/lists/messages.ts'
import { IN_THREAD } from '../../src/storage/lists/slices.ts'
import { readingOn } from '../../src/storage/sqlite/database.ts'
import type { Connection } from '../../src/storage/sqlite/driver.ts'
import { sqliteMessageSearch } from '../../src/storage/sqlite/message-search.ts'
import type { SearchIndex } from '../../src/storage/sqlite/search-index.ts'
import type { MessageFilter, PageRequest } from '../../src/storage/store.ts'

/** A database that a store has open, and a search index of it → the list of messages, with a clock of its own. */
export function listOf(db: Connection, index: SearchIndex, nowMs = IN_THREAD.nowMs) {
  const read = readingOn(db)
  const pace = { ...IN_THREAD, nowMs }
  const search = sqliteMessageSearch(db, index, pace)
  return (filter: MessageFilter, page: PageRequest) => read(listMessages(filter, page, { search, pace }))
}
