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

export type MessageList = (filter: MessageFilter, page: PageRequest) => Promise<Page<Message>>

/** Messages that match every given part of the filter, newest first. */
export function sqliteMessageList(db: Connection, search: SearchIndex): MessageList {
  // SQLite's own lower() knows ASCII only.
  db.function('fold_case', { deterministic: true }, (text) => (text as string).toLowerCase())
  const number = db.prepare(NUMBER).pluck()
  const numberNear = db.prepare(NUMBER_NEAR).pluck()
  return async (filter, page) => {
    if (filter.text !== null) await search.catchUp()
    const before = page.after === null ? null : (number.get(page.after) ?? numberNear.get(page.after) ?? 0)
    const conditions = [...filterConditions(filter, search), ...when(before, 'm.number < ?')]
    const sql = `select ${MESSAGE_COLUMNS} from messages m
      where ${conditions.map((each) => each.sql).join(' and ')} order by m.number desc limit ?`
    const rows = db.prepare(sql).all(...conditions.flatMap((each) => each.values), page.limit + 1)
    return toPage(rows as MessageRow[], page, toMessage)
  }
}

function filterConditions(filter: MessageFilter, search: SearchIndex): Condition[] {
  return [
    { sql: 'm.organization_id = ?', values: [filter.organizationId] },
    ...when(filter.status, 'm.status = ?'),
    ...when(
      filter.to && suppressionKey(filter.to),
      'm.number in (select message_number from deliveries where address = ?)',
    ),
    ...when(filter.from && suppressionKey(filter.from), 'm.sender_address = ?'),
    ...when(filter.subject?.toLowerCase(), 'instr(fold_case(m.subject), ?) > 0'),
    ...(filter.tag === null
      ? []
      : [
          {
            sql: 'm.number in (select message_number from message_tags where organization_id = ? and tag = ?)',
            values: [filter.organizationId, filter.tag],
          },
        ]),
    ...filter.metadata.map(({ key, value }) => ({
      sql: `exists (select 1 from json_each(m.metadata) j where j.key = ? and ${METADATA_TEXT} = ?)`,
      values: [key, value],
    })),
    ...when(filter.templateId, 'm.template_id = ?'),
    ...when(filter.domainId, 'm.domain_id = ?'),
    ...when(filter.mode, 'm.mode = ?'),
    ...when(filter.createdAfter, 'm.created_at >= ?'),
    ...when(filter.createdBefore, 'm.created_at < ?'),
    ...when(
      filter.text === null ? null : search.expression(filter.text),
      'm.number in (select rowid from message_search where message_search match ?)',
    ),
  ]
}

/** A metadata value as a query parameter can spell it: text as it is, numbers and booleans as JSON writes them. */
const METADATA_TEXT = "iif(j.type = 'text', j.value, m.metadata -> j.fullkey)"
