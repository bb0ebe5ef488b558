import type { Message } from '../../model/message.ts'
import { suppressionKey } from '../../model/suppression.ts'
import type { MessageFilter, Page, PageRequest } from '../store.ts'
import type { Connection } from './driver.ts'
import { MESSAGE_COLUMNS, type MessageRow, toMessage } from './message-row.ts'
import { type Condition, toPage, when } from './page.ts'
import type { SearchIndex } from './search.ts'

const NUMBER = 'select number from messages where id = ?'
// A cursor whose record retention has dropped: everything older than its id's time goes on.
const NUMBER_NEAR = 'select number + 1 from messages where id < ? order by id desc limit 1'

const HAS_WORDS = 'select 1 from message_search where message_search match ? limit 1'

export type MessageList = (filter: MessageFilter, page: PageRequest) => Promise<Page<Message>>

/** Messages that match every given part of the filter, newest first. */
export function sqliteMessageList(db: Connection, search: SearchIndex): MessageList {
  // SQLite's own lower() knows ASCII only.
  db.function('fold_case', { deterministic: true }, (text) => (text as string).toLowerCase())
  const number = db.prepare(NUMBER).pluck()
  const numberNear = db.prepare(NUMBER_NEAR).pluck()

  const listed = (filter: MessageFilter, before: number | null, limit: number): MessageRow[] => {
    const conditions = [...filterConditions(filter), ...when(before, 'm.number < ?')]
    const sql = `select ${MESSAGE_COLUMNS} from messages m
      where ${conditions.map((each) => each.sql).join(' and ')} order by m.number desc limit ?`
    return db.prepare(sql).all(...conditions.flatMap((each) => each.values), limit) as MessageRow[]
  }
  /** From range to range, the newest first, stepping over those in which nothing lies that could match. */
  const searched = (filter: MessageFilter, before: number | null, limit: number, text: string): MessageRow[] => {
    const candidates = candidateConditions(filter)
    const newest = db
      .prepare(
        `select m.number from messages m where ${candidates.map((each) => each.sql).join(' and ')} and m.number < ?
          order by m.number desc limit 1`,
      )
      .pluck()
    const candidateValues = candidates.flatMap((each) => each.values)
    const conditions = filterConditions(filter)
    const matching = db.prepare(
      `select ${MESSAGE_COLUMNS} from message_search s cross join messages m on m.number = s.rowid
        where s.message_search match ? and s.rowid >= ? and s.rowid < ?
          and ${conditions.map((each) => each.sql).join(' and ')} order by s.rowid desc limit ?`,
    )
    const hasWhole = db.prepare(HAS_WORDS)
    const values = conditions.flatMap((each) => each.values)
    const rows: MessageRow[] = []
    let end = before ?? Number.MAX_SAFE_INTEGER
    while (rows.length < limit) {
      const next = newest.get(...candidateValues, end) as number | undefined
      if (next === undefined) break
      const { first, whole, all } = search.expressions(text, next)
      end = first
      // A beginning is costly, so that the words before it are asked for alone.
      if (whole !== null && hasWhole.get(whole) === undefined) continue
      const found = matching.all(all, first, next + 1, ...values, limit - rows.length)
      rows.push(...(found as MessageRow[]))
    }
    return rows
  }

  return async (filter, page) => {
    if (filter.text !== null) await search.catchUp()
    const before = page.after === null ? null : ((number.get(page.after) ?? numberNear.get(page.after) ?? 0) as number)
    const asked = page.limit + 1
    const rows = filter.text === null ? listed(filter, before, asked) : searched(filter, before, asked, filter.text)
    return toPage(rows, page, toMessage)
  }
}

/** What an index answers of the filter. */
function candidateConditions(filter: MessageFilter): Condition[] {
  return [
    { sql: 'm.organization_id = ?', values: [filter.organizationId] },
    ...when(filter.status, 'm.status = ?'),
    ...when(
      filter.to && suppressionKey(filter.to),
      'm.number in (select message_number from deliveries where address = ?)',
    ),
    ...(filter.tag === null
      ? []
      : [
          {
            sql: 'm.number in (select message_number from message_tags where organization_id = ? and tag = ?)',
            values: [filter.organizationId, filter.tag],
          },
        ]),
  ]
}

function filterConditions(filter: MessageFilter): Condition[] {
  return [
    ...candidateConditions(filter),
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
