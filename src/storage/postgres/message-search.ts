import { suppressionKey } from '../../model/suppression.ts'
import { type MessageSearch, messagesOn, NEWEST, type SearchedList } from '../lists/messages.ts'
import { nextSize, type Pace, readSlice, type Step } from '../lists/slices.ts'
import type { MessageRow } from '../mail/rows.ts'
import { named } from '../named.ts'
import { codesOf, digitsOf, numberOf } from './search-ranges.ts'
import { type RangeQuery, searchQuery } from './search-words.ts'

/** Ranges of the search index that one statement reads at most. */
const RANGES_MAX = 128
/** Messages with the words that one statement examines at most. */
const FOUND_MAX = 100_000

/** The newest ranges of the search index up to that of a number. */
const RANGES = named<{ prefix: string }>({
  text: `select prefix from search_ranges where organization_id = :organizationId and prefix <= :newest
    order by organization_id desc, prefix desc limit :ranges`,
  sqlite: null,
})

/** Messages with the words in ranges of the search index. Each part is read by itself, since PostgreSQL uses that index
 *  only where it plans to read everything that is found. */
const foundBy = (query: string) => `(with found as materialized (
  select message_number from message_words where words @@ ${query}) select message_number from found)`
const FOUND = messagesOn({
  text: `select message_number as key from ${foundBy(`(
      select string_agg(range.query, ' | ')::tsquery from unnest(:wholes::text[], :queries::text[]) range (whole, query)
      where range.whole = '' or exists ${foundBy('range.whole::tsquery')})`)} found
    where message_number >= :low and message_number < :high order by message_number desc limit :size`,
  sqlite: null,
})

/** The search of PostgreSQL: reads ranges of its index (search-ranges.ts), without those that are newer than the next
 *  message of the walk. */
export function postgresMessageSearch(pace: Pace): MessageSearch {
  return {
    steps: (list) => {
      const { filter, marks } = list
      const to = filter.to && suppressionKey(filter.to) // with A-labels, as messages have them
      const queryOf = searchQuery({ text: filter.text, to, tokens: marks })
      return queryOf === null ? null : rangeSteps(list, queryOf, pace)
    },
  }
}

function rangeSteps(
  { filter: { organizationId }, asked, walk }: SearchedList,
  queryOf: (code: string) => RangeQuery,
  { nowMs }: Pace,
): Step<MessageRow> {
  let most = 1
  return function* (high, limit) {
    const beganAt = nowMs()
    const [newest] = yield* NEWEST[walk]({ ...asked, high, size: 1 })
    if (newest === undefined) return { rows: [], end: null }
    const ranges = yield* RANGES({ organizationId, newest: digitsOf(newest.key), ranges: most })
    const oldest = ranges.at(-1)
    if (oldest === undefined) return { rows: [], end: null }
    const low = Math.max(asked.low, numberOf(oldest.prefix))
    const codes = new Set(ranges.flatMap(({ prefix }) => codesOf({ organizationId, prefix })))
    const all = [...codes].map(queryOf)
    const slice = yield* FOUND({
      ...asked,
      low,
      high,
      size: FOUND_MAX,
      limit,
      wholes: all.map(({ whole }) => whole ?? ''),
      queries: all.map(({ all }) => `(${all})`),
    })
    const { rows, end } = readSlice(slice, FOUND_MAX, limit)
    const isLast = ranges.length < most || low === asked.low
    most = nextSize(most, nowMs() - beganAt, RANGES_MAX)
    return { rows, end: end ?? (isLast ? null : low) }
  }
}
