import type { Message } from '../../model/message.ts'
import { suppressionKey } from '../../model/suppression.ts'
import { firstId } from '../../os/ids.ts'
import { SLACK_MS, toPage } from '../page.ts'
import { marksAsked } from '../search-tokens.ts'
import type { MessageFilter, Page, PageRequest } from '../store.ts'
import type { Connection } from './driver.ts'
import { MESSAGE_COLUMNS, type MessageRow, toMessage } from './message-row.ts'
import { type Condition, type Numbers, when } from './page.ts'
import { searchState } from './search.ts'
import { createTextTest, searchQuery } from './search-texts.ts'
import { searchWords } from './search-words.ts'
import { searched } from './searched.ts'
import { joined, sliced, type Walk } from './slices.ts'
import { oneBehindTheOther, unindexed } from './unindexed.ts'
import { intersection } from './walk-intersection.ts'

const NUMBER = 'select number from messages where id = ?'
// For a cursor whose record retention has removed: continues with everything older than the time in its ID.
const NUMBER_NEAR = 'select number + 1 from messages where id < ? order by id desc limit 1'

const NEWEST = 'select max(number) from messages'
const LAST_BEFORE = 'select number from messages where id < ? order by id desc limit 1'
const FIRST_SINCE = 'select number from messages where id >= ? order by id limit 1'
const OWN_FROM = `select id from messages where organization_id = ? and number >= ? and number < ?
  order by number limit 1`

/** Time per page. Then the page ends, even if it is not full, and says where to continue. A minimum of numbers is always
 *  read, or a cold or busy machine would give short pages of a small store. */
const ENOUGH_MS = 25
const FEWEST_NUMBERS = 2_048

export type MessageList = (filter: MessageFilter, page: PageRequest) => Page<Message>

/** Messages that match every given part of the filter, newest first. The newest are read one by one. If those do not
 *  fill a page, the search index says where to look further; what it does not contain (some fields, and very recent
 *  messages) is read in slices. */
export function messageList(db: Connection, nowMs: () => number = () => performance.now()): MessageList {
  // SQLite's own lower() supports ASCII only.
  db.function('fold_case', { deterministic: true }, (text: string) => text.toLowerCase())
  const index = searchWords(db)
  const state = searchState(db)
  const hasText = createTextTest(db)
  const number = db.prepare<unknown[], number>(NUMBER).pluck()
  const numberNear = db.prepare<unknown[], number>(NUMBER_NEAR).pluck()
  const newestOfAll = db.prepare<unknown[], number | null>(NEWEST).pluck()
  const lastBefore = db.prepare<unknown[], number | null>(LAST_BEFORE).pluck()
  const firstSince = db.prepare<unknown[], number | null>(FIRST_SINCE).pluck()
  const ownFrom = db.prepare<unknown[], string>(OWN_FROM).pluck()

  /** Numbers that messages of the filter's time range and before the cursor can have. */
  const boundsOf = ({ createdAfter, createdBefore, id = null }: MessageFilter, after: string | null): Numbers => {
    if (id !== null) {
      const own = number.get(id) ?? 0
      return { low: own, high: after === null ? own + 1 : own }
    }
    const newest = newestOfAll.get() ?? 0
    const cursor = after === null ? newest + 1 : (number.get(after) ?? numberNear.get(after) ?? 0)
    const last = createdAfter === null ? null : lastBefore.get(firstId('msg', createdAfter - SLACK_MS))
    const first = createdBefore === null ? null : firstSince.get(firstId('msg', createdBefore + SLACK_MS))
    return { low: (last ?? -1) + 1, high: Math.min(cursor, first ?? cursor) }
  }

  return (filter, page) => {
    const { low, high } = boundsOf(filter, page.after)
    const limit = page.limit + 1
    const walks = walksOf(filter)
    const conditions = joined(filterConditions(filter))
    const marks = marksAsked(filter)
    const rows: MessageRow[] = []
    let step =
      walks.length > 1
        ? intersection(db, walks, MESSAGE_COLUMNS, conditions, low)
        : sliced(db, walks[0]!, MESSAGE_COLUMNS, conditions, low)
    let end: number | null = filter.text === null ? step(rows, high, limit) : high
    if (end !== null && rows.length < limit && (filter.text !== null || marks.length > 0)) {
      const { first, last } = state()
      const indexed = { low: first, high: last + 1 }
      const query = searchQuery(filter.text, marks)
      if (query === null) return { records: [], hasMore: false }
      const contains = filter.text === null ? () => true : hasText(filter.text)
      const asked = { query, contains, walk: walks[0]!, conditions }
      const between = searched(db, index, { ...asked, low: Math.max(low, indexed.low) })
      // The oldest only after an upgrade, until they are indexed.
      const older = unindexed(db, { ...asked, low })
      const below = low < indexed.low ? oneBehindTheOther(between, indexed.low, older) : between
      const newest = unindexed(db, { ...asked, low: Math.max(low, indexed.high) })
      step = oneBehindTheOther(newest, indexed.high, below)
    }
    for (let spentMs = 0; end !== null && rows.length < limit; ) {
      if (high - end >= FEWEST_NUMBERS && spentMs >= ENOUGH_MS) {
        // Only the organization's own, since an index may also contain those of others.
        const next = ownFrom.get(filter.organizationId, end, high)
        if (next !== undefined) return { records: rows.map(toMessage), hasMore: true, next }
      }
      const beganAt = nowMs()
      end = step(rows, end, limit)
      spentMs += nowMs() - beganAt
    }
    return toPage(rows, page, toMessage)
  }
}

/** Indexes that match a filter, usually the narrowest first. By itself SQLite would use the organization's, which
 *  also has the order of the page. */
function walksOf({ organizationId, to, tag, status }: MessageFilter): Walk[] {
  const walks: Walk[] = []
  if (to !== null) {
    walks.push({
      walked: 'deliveries d indexed by deliveries_by_address',
      join: 'cross join messages m on m.number = d.message_number',
      key: 'd.message_number',
      sql: 'd.address = ?',
      values: [suppressionKey(to)],
      group: 'group by d.message_number',
    })
  }
  if (tag !== null) {
    walks.push({
      walked: 'message_tags t',
      join: 'cross join messages m on m.number = t.message_number',
      key: 't.message_number',
      sql: 't.organization_id = ? and t.tag = ?',
      values: [organizationId, tag],
    })
  }
  const own = { join: '', key: 'm.number' }
  if (status !== null) {
    const walked = 'messages m indexed by messages_by_status'
    walks.push({ ...own, walked, sql: 'm.organization_id = ? and m.status = ?', values: [organizationId, status] })
  }
  if (walks.length > 0) return walks
  const walked = 'messages m indexed by messages_of_organization'
  return [{ ...own, walked, sql: 'm.organization_id = ?', values: [organizationId] }]
}

function filterConditions(filter: MessageFilter): Condition[] {
  return [
    { sql: 'm.organization_id = ?', values: [filter.organizationId] },
    ...when(filter.status, 'm.status = ?'),
    ...when(
      filter.to && suppressionKey(filter.to),
      'exists (select 1 from deliveries o where o.address = ? and o.message_number = m.number)',
    ),
    ...when(
      filter.tag,
      `exists (select 1 from message_tags o
        where o.organization_id = m.organization_id and o.tag = ? and o.message_number = m.number)`,
    ),
    ...when(filter.from && suppressionKey(filter.from), 'm.sender_address = ?'),
    ...when(filter.subject?.toLowerCase(), 'instr(fold_case(m.subject), ?) > 0'),
    ...filter.metadata.map(({ key, value }) => ({
      sql: `exists (select 1 from json_each(m.metadata) j where j.key = ? and ${METADATA_TEXT} = ?)`,
      values: [key, value],
    })),
    ...when(filter.templateId, 'm.template_id = ?'),
    ...when(filter.domainId, 'm.domain_id = ?'),
    ...when(filter.mode, 'm.mode = ?'),
    ...when(filter.stream ?? null, 'm.stream = ?'),
    ...when(filter.id ?? null, 'm.id = ?'),
    ...when(filter.messageIdHeader ?? null, 'm.message_id_header = ?'),
    ...when(filter.createdAfter, 'm.created_at >= ?'),
    ...when(filter.createdBefore, 'm.created_at < ?'),
  ]
}

/** Metadata value as a query parameter can contain it: text as it is, numbers and booleans as JSON. */
const METADATA_TEXT = "iif(j.type = 'text', j.value, m.metadata -> j.fullkey)"
