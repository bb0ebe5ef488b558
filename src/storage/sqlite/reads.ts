import { dayCounts, groupCounts, hourCounts } from '../records/stats.ts'
import { preparing, readNow } from './database.ts'
import type { Connection } from './driver.ts'
import { eventLists } from './event-list.ts'
import { inboundList } from './inbound-list.ts'
import { messageList } from './message-list.ts'
import { countWaiting } from './queues.ts'
import { searchIndex } from './search-index.ts'
import { suppressionList } from './suppression-list.ts'
import { webhookDeliveryList } from './webhook-delivery-list.ts'

/** Reads of many records, by name: lists, searches, counts; and the search index, which is written where it is read. Each
 *  is a function of plain data, so that it can run in another thread (reader.ts). SQLite cannot interrupt a statement, so
 *  each ends by itself:
 *
 *  messages     reads slices of an index until a limit of time (message-list.ts); so do the deliveries of a webhook, inbound
 *               and suppressions (slices.ts)
 *  events       reads an index of the matches, or at most one range of event-kinds.ts for each event of the page
 *  waiting      reads the due indexes, which contain only what waits
 *  statistics   look up one row for each hour or day, and tag or domain
 *  search       indexes or renews a batch, or merges some pages */
export function readsOn(db: Connection) {
  const events = eventLists(db)
  const search = searchIndex(db)
  const prepare = preparing(db)
  return {
    messages: messageList(db, search),
    events: events.list,
    feed: events.feed,
    follow: events.follow,
    webhookDeliveries: webhookDeliveryList(db),
    inbound: inboundList(db),
    suppressions: suppressionList(db),
    waiting: countWaiting(db),
    hours: (...asked: Parameters<typeof hourCounts>) => readNow(prepare, hourCounts(...asked)),
    days: (...asked: Parameters<typeof dayCounts>) => readNow(prepare, dayCounts(...asked)),
    groups: (...asked: Parameters<typeof groupCounts>) => readNow(prepare, groupCounts(...asked)),
    indexSearch: search.index,
    renewSearch: search.renew,
    purgeSearch: search.purge,
    closeSearch: search.close,
  }
}

export type Reads = ReturnType<typeof readsOn>
