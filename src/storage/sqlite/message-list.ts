import type { Message } from '../../model/message.ts'
import { suppressionKey } from '../../model/suppression.ts'
import { firstId } from '../../platform/ids.ts'
import type { MessageFilter, Page, PageRequest } from '../store.ts'
import type { Connection } from './driver.ts'
import { marksAsked } from './marks.ts'
import { MESSAGE_COLUMNS, type MessageRow, toMessage } from './message-row.ts'
import { type Condition, type Numbers, nextTurn, SLACK_MS, toPage, when } from './page.ts'
import type { SearchIndex } from './search.ts'
import { candidateSql, joined, sliced, type Walk, walkSlices } from './slices.ts'

const NUMBER = 'select number from messages where id = ?'
// A cursor whose record retention has dropped: everything older than its id's time goes on.
const NUMBER_NEAR = 'select number + 1 from messages where id < ? order by id desc limit 1'

const NEWEST = 'select max(number) from messages'
const LAST_BEFORE = 'select number from messages where id < ? order by id desc limit 1'
const FIRST_SINCE = 'select number from messages where id >= ? order by id limit 1'
const HAS_WORDS = 'select 1 from message_search where message_search match ? limit 1'

/** Ranges of the search index looked into before others have a turn. */
const RANGES_A_TURN = 32

export type MessageList = (filter: MessageFilter, page: PageRequest) => Promise<Page<Message>>

/** Messages that match every given part of the filter, newest first. The newest are looked at one by one; where those do
 *  not make a page, the search index tells where to look further, and what it knows nothing of is looked at in slices. */
export function sqliteMessageList(db: Connection, search: SearchIndex): MessageList {
  // SQLite's own lower() knows ASCII only.
  db.function('fold_case', { deterministic: true }, (text) => (text as string).toLowerCase())
  const number = db.prepare(NUMBER).pluck()
  const numberNear = db.prepare(NUMBER_NEAR).pluck()
  const newestOfAll = db.prepare(NEWEST).pluck()
  const lastBefore = db.prepare(LAST_BEFORE).pluck()
  const firstSince = db.prepare(FIRST_SINCE).pluck()

  /** The numbers that messages of the filter's time and before the cursor can have. */
  const boundsOf = ({ createdAfter, createdBefore }: MessageFilter, after: string | null): Numbers => {
    const newest = (newestOfAll.get() as number | null) ?? 0
    const cursor = after === null ? newest + 1 : ((number.get(after) ?? numberNear.get(after) ?? 0) as number)
    const last = createdAfter === null ? null : lastBefore.get(firstId('msg', createdAfter - SLACK_MS))
    const first = createdBefore === null ? null : firstSince.get(firstId('msg', createdBefore + SLACK_MS))
    return { low: ((last ?? -1) as number) + 1, high: Math.min(cursor, (first ?? cursor) as number) }
  }

  /** From range to range, the newest first, stepping over those in which nothing lies that could match. */
  const searched = async (filter: MessageFilter, { low, high }: Numbers, limit: number, rows: MessageRow[]) => {
    await search.catchUp()
    const walk = walkOf(filter)
    const candidate = db.prepare(candidateSql(walk)).pluck()
    const conditions = joined(filterConditions(filter))
    const matching = db.prepare(
      `select ${MESSAGE_COLUMNS} from message_search s cross join messages m on m.number = s.rowid
        where s.message_search match ? and s.rowid >= ? and s.rowid < ? and ${conditions.sql}
        order by s.rowid desc limit ?`,
    )
    const hasWhole = db.prepare(HAS_WORDS)
    const marks = marksAsked(filter)
    let end = high
    for (let count = 1; rows.length < limit; count++) {
      const next = candidate.get(...walk.values, low, end, 0) as number | undefined
      if (next === undefined) break
      const { first, whole, all } = search.expressions(filter.text, marks, next)
      end = first
      if (count % RANGES_A_TURN === 0) await nextTurn()
      // Finding that nothing is there is cheap: asked for alone, and without the beginning, which is costly.
      if (whole !== null && hasWhole.get(whole) === undefined) continue
      const found = matching.all(all, Math.max(first, low), next + 1, ...conditions.values, limit - rows.length)
      rows.push(...(found as MessageRow[]))
    }
  }

  return async (filter, page) => {
    const bounds = boundsOf(filter, page.after)
    const limit = page.limit + 1
    const rows: MessageRow[] = []
    if (filter.text !== null) await searched(filter, bounds, limit, rows)
    else {
      const step = sliced(db, walkOf(filter), MESSAGE_COLUMNS, filterConditions(filter), bounds.low)
      const high = step(rows, bounds.high, limit) as number | null
      if (high !== null && rows.length < limit) {
        if (marksAsked(filter).length > 0) await searched(filter, { low: bounds.low, high }, limit, rows)
        else await walkSlices(step, high, limit, rows)
      }
    }
    return toPage(rows, page, toMessage)
  }
}

/** Left to itself, SQLite walks the organization, because that lies in the order of the page as well. */
function walkOf({ organizationId, to, tag, status }: MessageFilter): Walk {
  if (to !== null) {
    return {
      walked: 'deliveries d indexed by deliveries_by_address',
      join: 'cross join messages m on m.number = d.message_number',
      key: 'd.message_number',
      sql: 'd.address = ?',
      values: [suppressionKey(to)],
      group: 'group by d.message_number',
    }
  }
  if (tag !== null) {
    return {
      walked: 'message_tags t',
      join: 'cross join messages m on m.number = t.message_number',
      key: 't.message_number',
      sql: 't.organization_id = ? and t.tag = ?',
      values: [organizationId, tag],
    }
  }
  const own = { join: '', key: 'm.number' }
  if (status !== null) {
    const walked = 'messages m indexed by messages_by_status'
    return { ...own, walked, sql: 'm.organization_id = ? and m.status = ?', values: [organizationId, status] }
  }
  const walked = 'messages m indexed by messages_of_organization'
  return { ...own, walked, sql: 'm.organization_id = ?', values: [organizationId] }
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
    ...when(filter.createdAfter, 'm.created_at >= ?'),
    ...when(filter.createdBefore, 'm.created_at < ?'),
  ]
}

/** A metadata value as a query parameter can spell it: text as it is, numbers and booleans as JSON writes them. */
const METADATA_TEXT = "iif(j.type = 'text', j.value, m.metadata -> j.fullkey)"
