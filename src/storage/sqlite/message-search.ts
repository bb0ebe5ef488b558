import { MESSAGE, MESSAGES, type MessageSearch, OWN_FROM, type SearchedList } from '../lists/messages.ts'
import { type Keyed, type Pace, type Read, type Step, walkSteps } from '../lists/slices.ts'
import type { Numbers } from '../lists/times.ts'
import type { MessageRow } from '../mail/rows.ts'
import type { Work } from '../sql.ts'
import type { Connection } from './driver.ts'
import type { SearchIndex } from './search-index.ts'
import { createTextTest, searchQuery } from './search-texts.ts'

const OUTDATED = 'select 1 from search_outdated where number = ?'

/** Messages that one step looks up: some milliseconds. */
const LOOKS = 256

/** Searches the messages of SQLite. Messages that the index does not contain yet, and lists of few messages, are read in
 *  slices and compared by their words. For all others, the index says which ones to read. */
export function sqliteMessageSearch(db: Connection, index: SearchIndex, pace: Pace): MessageSearch {
  const hasText = createTextTest(db)
  return {
    steps: (list) => {
      const { filter, marks, asked, isShort } = list
      const query = searchQuery(filter, marks)
      if (query === null) return null
      const contains = filter.text === null ? () => true : hasText(filter.text)
      const border = isShort ? asked.low : Math.max(asked.low, index.last() + 1)
      const newest = unindexed(list, { contains, border, pace })
      const indexed = indexedSteps(db, list, { matches: (part) => index.matches(query, part), contains })
      let parts: Numbers[] | null = null
      return function* (high, limit) {
        if (high > border) {
          const read = yield* newest(high, limit)
          return { ...read, end: read.end ?? (border > asked.low ? border : null) }
        }
        parts ??= index.parts({ low: asked.low, high })
        const read = yield* indexed(parts, limit)
        return { ...read, examined: high - (read.end ?? 0) } // by their numbers
      }
    },
  }
}

/** Steps through slices of messages that the index does not contain. Only messages that match all other conditions are
 *  searched for words. */
function unindexed(
  { asked, walk }: SearchedList,
  { contains, border, pace }: { contains: (number: number) => boolean; border: number; pace: Pace },
): Step<MessageRow> {
  const walking = walkSteps(MESSAGES[walk], { ...asked, low: border }, pace)
  return function* (high, limit) {
    const { rows, ...read } = yield* walking(high, LOOKS)
    return { ...read, rows: rows.filter(({ key }) => contains(key)).slice(0, limit) }
  }
}

/** Steps through what the index finds, in parts, the newest first: each ends behind a part, or after some messages. */
function indexedSteps(
  db: Connection,
  { asked }: SearchedList,
  { matches, contains }: { matches: (part: Numbers) => Generator<number>; contains: (number: number) => boolean },
) {
  const outdated = db.prepare(OUTDATED)
  /** The part that is read now. */
  let present: { part: Numbers; numbers: Generator<number> } | null = null
  return function* (parts: Numbers[], limit: number): Work<Read<MessageRow>> {
    const rows: Keyed<MessageRow>[] = []
    if (present === null) {
      const part = parts.shift()
      if (part === undefined) return { rows, end: null }
      const isOwn = (yield* OWN_FROM({ ...asked, end: part.low, high: part.high })).length > 0
      if (!isOwn) return { rows, end: part.low }
      present = { part, numbers: matches(part) }
    }
    for (let looks = 1; ; looks++) {
      const next = present.numbers.next()
      if (next.done === true) break
      const number = next.value
      const [row] = yield* MESSAGE({ ...asked, number })
      // Words of an outdated message are compared.
      if (row !== undefined && (outdated.get(number) === undefined || contains(number))) rows.push(row)
      if (looks === LOOKS || rows.length === limit) return { rows, end: number }
    }
    const { low } = present.part
    present = null
    return { rows, end: low }
  }
}
