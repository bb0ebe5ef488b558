import type { Message } from '../../model/message.ts'
import { suppressionKey } from '../../model/suppression.ts'
import { firstId } from '../../os/ids.ts'
import { SLACK_MS, toPage } from '../page.ts'
import { marksAsked } from '../search-tokens.ts'
import type { MessageFilter, Page, PageRequest } from '../store.ts'
import type { Connection } from './driver.ts'
import { MESSAGE_COLUMNS, type MessageRow, toMessage } from './message-row.ts'
import { type Condition, type Numbers, when } from './page.ts'
import type { SearchIndex } from './search-index.ts'
import { createTextTest, searchQuery } from './search-texts.ts'
import { candidateSql, joined, SLICE, sliced, type Walk } from './slices.ts'
import { unindexed } from './unindexed.ts'
import { intersection } from './walk-intersection.ts'

const NUMBER = 'select number from messages where id = ?'
// For a cursor whose record retention has removed: continues with everything older than the time in its ID.
const NUMBER_NEAR = 'select number + 1 from messages where id < ? order by id desc limit 1'

const NEWEST = 'select max(number) from messages'
const LAST_BEFORE = 'select number from messages where id < ? order by id desc limit 1'
const FIRST_SINCE = 'select number from messages where id >= ? order by id limit 1'
const OUTDATED = 'select 1 from search_outdated where number = ?'
const OWN_FROM = `select id from messages where organization_id = ? and number >= ? and number < ?
  order by number limit 1`

/** Time per page. Then the page ends, even if it is not full, and says where to continue. A minimum of numbers is always
 *  read, or a cold or busy machine would give short pages of a small store. */
const ENOUGH_MS = 25
const FEWEST_NUMBERS = 2_048

export type MessageList = (filter: MessageFilter, page: PageRequest) => Page<Message>

/** Messages that match every given part of the filter, newest first. */
export function messageList(
  db: Connection,
  search: SearchIndex,
  nowMs: () => number = () => performance.now(),
): MessageList {
  // SQLite's own lower() supports ASCII only.
  db.function('fold_case', { deterministic: true }, (text: string) => text.toLowerCase())
  const read = createRead(db, search)
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
    const numbers = boundsOf(filter, page.after)
    const rows: MessageRow[] = []
    const asked = { filter, limit: page.limit + 1, ...numbers }
    const beganAt = nowMs()
    for (const end of read(rows, asked)) {
      if (rows.length === asked.limit) break
      if (numbers.high - end < FEWEST_NUMBERS || nowMs() - beganAt < ENOUGH_MS) continue
      // Only the organization's own, since an index may also contain those of others.
      const next = ownFrom.get(filter.organizationId, end, numbers.high)
      if (next !== undefined) return { records: rows.map(toMessage), hasMore: true, next }
    }
    return toPage(rows, page, toMessage)
  }
}

interface Asked extends Numbers {
  filter: MessageFilter
  limit: number
}

/** → What adds the messages to `rows`, newest first, until there are `limit`; it yields the number down to which it has
 *  read. The newest are read one by one. If those do not fill the page, the search index says where to look further;
 *  what it does not contain yet, and an index of few messages, is read in slices. */
function createRead(db: Connection, search: SearchIndex) {
  const hasText = createTextTest(db)
  const outdated = db.prepare(OUTDATED)
  return function* (rows: MessageRow[], { filter, limit, low, high }: Asked): Generator<number, void> {
    const narrower = walksOf(filter)
    const walks = narrower.length > 0 ? narrower : [walkOfOrganization(filter)]
    const conditions = joined(filterConditions(filter))
    const marks = marksAsked(filter)
    const isPlain = filter.text === null && marks.length === 0
    let end = high
    if (filter.text === null) {
      const step = stepOf(db, { walks, conditions, low })
      for (let next = step(rows, high, limit); ; next = step(rows, next, limit)) {
        if (next === null || rows.length === limit) return
        yield next
        end = next
        if (!isPlain) break
      }
    }
    const query = searchQuery(filter, marks)
    if (query === null) return
    const contains = filter.text === null ? () => true : hasText(filter.text)
    const narrow = narrower.find((walk) => isShort(db, walk, { low, high }))
    const border = narrow === undefined ? Math.max(low, search.last() + 1) : low
    const newest = unindexed(db, { contains, walk: narrow ?? walks[0]!, conditions, low: border })
    for (let next: number | null = end; next !== null && next > border; ) {
      next = newest(rows, next, limit)
      yield next ?? border
    }
    const message = db.prepare<unknown[], MessageRow>(
      `select ${MESSAGE_COLUMNS} from messages m where m.number = ? and ${conditions.sql}`,
    )
    let looks = 0
    for (const number of search.matches(query, { low, high: Math.min(end, border) })) {
      const row = message.get(number, ...conditions.values)
      if (row !== undefined && (outdated.get(number) === undefined || contains(number))) rows.push(row)
      if (++looks % SLICE === 0 || rows.length === limit) yield number
    }
  }
}

/** True if reading a whole walk costs less than asking the search index. */
const isShort = (db: Connection, walk: Walk, { low, high }: Numbers) =>
  db.prepare(candidateSql(walk)).get(...walk.values, low, high, FEW) === undefined
const FEW = 1_024

const stepOf = (db: Connection, { walks, conditions, low }: { walks: Walk[]; conditions: Condition; low: number }) =>
  walks.length > 1
    ? intersection(db, walks, MESSAGE_COLUMNS, conditions, low)
    : sliced<MessageRow, number>(db, walks[0]!, MESSAGE_COLUMNS, conditions, low)

/** Indexes that match a filter beside the organization's, usually the narrowest first. By itself SQLite would use that of
 *  the organization, which also has the order of the page. */
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
  if (status !== null) {
    walks.push({
      walked: 'messages m indexed by messages_by_status',
      join: '',
      key: 'm.number',
      sql: 'm.organization_id = ? and m.status = ?',
      values: [organizationId, status],
    })
  }
  return walks
}

const walkOfOrganization = ({ organizationId }: MessageFilter): Walk => ({
  walked: 'messages m indexed by messages_of_organization',
  join: '',
  key: 'm.number',
  sql: 'm.organization_id = ?',
  values: [organizationId],
})

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
