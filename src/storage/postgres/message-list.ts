import { DELIVERY_STATUSES, isFinal, type Message } from '../../model/message.ts'
import { suppressionKey } from '../../model/suppression.ts'
import { idsOf, toPage } from '../page.ts'
import { marksAsked } from '../search-tokens.ts'
import type { MessageFilter, Messages, PageRequest } from '../store.ts'
import { textArray } from './arrays.ts'
import { MESSAGE_COLUMNS, MESSAGE_STATUS, type MessageRow, toMessage } from './message-row.ts'
import { named } from './named.ts'
import type { Reads } from './reads.ts'
import { codesOf } from './search-ranges.ts'
import { type RangeQuery, searchQuery } from './search-words.ts'
import { ENOUGH_MS, nextSize, readSlice, type Step, sliceOf, walkSteps } from './walk.ts'

/** Ranges of the search index that one statement reads at most. */
const RANGES_MAX = 128
/** Messages with the words that one statement examines at most. */
const FOUND_MAX = 100_000
const ID_LENGTH = 30
/** Messages of which several indexes are compared. */
const COMPARED = 1000

/** What matches a part of the filter, newest first: `id` of messages from `:low` to before `:high`, `:size` at most.
 *  A message may occur several times. */
const WALKS = {
  all: `select id from messages where organization_id = :organizationId and id >= :low and id < :high
    order by id desc limit :size`,
  to: `select message_id as id from deliveries
    where organization_id = :organizationId and address = :to and message_id >= :low and message_id < :high
    order by message_id desc limit :size`,
  tag: `select message_id as id from message_tags
    where organization_id = :organizationId and tag = :tag and message_id >= :low and message_id < :high
    order by message_id desc limit :size`,
  open: `select message_id as id from delivery_queue
    where organization_id = :organizationId and status = :status and message_id >= :low and message_id < :high
    order by message_id desc limit :size`,
  marked: `select message_id as id from message_marks
    where organization_id = :organizationId and mark = :status and message_id >= :low and message_id < :high
    order by message_id desc limit :size`,
}
type Walk = keyof typeof WALKS

/** Messages with the words in ranges of the search index. Each part is read by itself, since PostgreSQL uses that index
 *  only where it plans to read everything that is found. */
const foundBy = (query: string) => `(with found as materialized (
  select id, organization_id from messages where words @@ ${query}) select id, organization_id from found)`
const FOUND = `select id from ${foundBy(`(
    select string_agg(range.query, ' | ')::tsquery from unnest(:wholes::text[], :queries::text[]) range (whole, query)
    where range.whole is null or exists ${foundBy('range.whole::tsquery')})`)} found
  where organization_id = :organizationId and id >= :low and id < :high order by id desc limit :size`

const CONDITIONS = `m.organization_id = :organizationId
  and (:from::text is null or m.sender_address = :from)
  and (:templateId::text is null or m.template_id = :templateId)
  and (:domainId::text is null or m.domain_id = :domainId)
  and (:mode::text is null or m.mode = :mode)
  and (:stream::text is null or m.stream = :stream)
  and (:messageIdHeader::text is null or m.message_id_header = :messageIdHeader)
  and (:createdAfter::bigint is null or m.created_at >= :createdAfter)
  and (:createdBefore::bigint is null or m.created_at < :createdBefore)
  and not exists (select 1 from unnest(:asText::text[], :asJson::text[]) as pair (as_text, as_json)
    where position(as_text in m.metadata) = 0 and position(as_json in m.metadata) = 0)
  and (:subject::text is null
    or position(:subject in coalesce(m.folded_subject, lower(m.subject collate "C"))) > 0)
  and (:to::text is null or exists (
    select 1 from deliveries d where d.organization_id = m.organization_id and d.address = :to and d.message_id = m.id))
  and (:tag::text is null or exists (
    select 1 from message_tags t where t.organization_id = m.organization_id and t.tag = :tag and t.message_id = m.id))
  and (:status::text is null or ${MESSAGE_STATUS} = :status)`

const messagesOf = (walk: string) =>
  sliceOf<MessageRow>({ table: 'messages', columns: MESSAGE_COLUMNS, conditions: CONDITIONS }, walk)

/** The newest ranges of the search index that have messages of the walk. */
const rangesOf = (walk: string) =>
  named<{ prefix: string; low: string }>(`with newest as materialized (${walk})
    select prefix, greatest(prefix, :low) as low from search_ranges
    where organization_id = :organizationId and prefix < (select max(id) || '~' from newest)
    order by prefix desc limit :ranges`)

const SLICES = each(messagesOf)
const RANGES = each(rangesOf)
const SEARCHED = messagesOf(FOUND)
const count = (walk: Walk) => `(select count(*) from (${WALKS[walk]}) walked)::int as "${walk}"`
const COUNTS = named<Record<Walk, number>>(`select ${(['to', 'tag', 'open', 'marked'] as const).map(count).join(', ')}`)

function each<T>(toStatement: (walk: string) => T): Record<Walk, T> {
  const { all, to, tag, open, marked } = WALKS
  return {
    all: toStatement(all),
    to: toStatement(to),
    tag: toStatement(tag),
    open: toStatement(open),
    marked: toStatement(marked),
  }
}

/** Messages that match every given part of the filter, newest first. They are examined in slices, along the index that
 *  has the fewest of them. If the first slice does not fill the page, or words are asked for, the search index says
 *  where to look further. */
export function postgresMessageList(reads: Reads, nowMs: () => number = () => performance.now()): Messages['list'] {
  return async (filter, page) => {
    const asked = valuesOf(filter, page)
    const terms = { text: filter.text, to: asked.to, tokens: marksAsked(filter) }
    const query = searchQuery(terms)
    if (query === null) return { records: [], hasMore: false }
    const { walk, isShort } = await narrowest(reads, filter, asked)
    const along = { reads, asked, walk, nowMs }
    const walking = walkSteps(reads, SLICES[walk], asked, nowMs)
    const searching = terms.tokens.length === 0 && filter.text === null ? null : searchSteps(along, query)
    const until = nowMs() + ENOUGH_MS
    const records: Message[] = []
    for (let high = asked.high, step = filter.text === null || searching === null ? walking : searching; ; ) {
      const { rows, end } = await step(high, page.limit + 1 - records.length)
      records.push(...rows.map(toMessage).filter(hasMetadata(filter)))
      if (end === null || records.length > page.limit) return toPage(records, page, (record) => record)
      if (nowMs() >= until) return { records, hasMore: true, next: end.padEnd(ID_LENGTH, '0') }
      high = end
      if (searching !== null && !isShort) step = searching
    }
  }
}

type Asked = ReturnType<typeof valuesOf>

/** Values of the named parameters. */
function valuesOf(filter: MessageFilter, page: PageRequest) {
  const { to, from, subject, metadata, text: _, id = null, messageIdHeader = null, stream = null, ...same } = filter
  const ids = idsOf('msg', filter, page)
  return {
    ...same,
    stream,
    messageIdHeader,
    ...(id === null ? ids : { low: id, high: id < ids.high ? `${id}~` : id }),
    to: to && suppressionKey(to),
    from: from && suppressionKey(from),
    subject: subject?.toLowerCase() ?? null,
    asText: textArray(metadata.map(({ key, value }) => memberOf(key, JSON.stringify(value)))),
    asJson: textArray(metadata.map(({ key, value }) => memberOf(key, value))),
  }
}

const memberOf = (key: string, json: string) => `${JSON.stringify(key)}:${json}`

/** True for messages whose metadata has all values, as a query spells them. */
function hasMetadata({ metadata: asked }: MessageFilter): (message: Message) => boolean {
  return ({ metadata }) =>
    asked.every(({ key, value }) => {
      const found = Object.hasOwn(metadata, key) ? metadata[key] : undefined
      return (typeof found === 'string' ? found : JSON.stringify(found)) === value
    })
}

/** The index that has the fewest messages of the filter; `isShort` if it has few. */
async function narrowest(reads: Reads, filter: MessageFilter, asked: Asked): Promise<{ walk: Walk; isShort: boolean }> {
  const { to, tag, status } = filter
  const walks: Walk[] = [
    ...(to === null ? [] : ['to' as const]),
    ...(tag === null ? [] : ['tag' as const]),
    ...(status === null || status === 'delivered' ? [] : [OPEN.has(status) ? ('open' as const) : ('marked' as const)]),
  ]
  if (walks.length === 0) return { walk: 'all', isShort: false }
  const [counts] = await COUNTS(reads, { ...asked, size: COMPARED })
  const [walk = 'all'] = walks.sort((one, other) => (counts?.[one] ?? 0) - (counts?.[other] ?? 0))
  return { walk, isShort: (counts?.[walk] ?? 0) < COMPARED }
}

const OPEN: ReadonlySet<string> = new Set(DELIVERY_STATUSES.filter((status) => !isFinal(status)))

interface Along {
  reads: Reads
  asked: Asked
  walk: Walk
  nowMs: () => number
}

/** Steps through the ranges of the search index, without those that are newer than the next message of the walk. */
function searchSteps({ reads, asked, walk, nowMs }: Along, queryOf: (code: string) => RangeQuery): Step<MessageRow> {
  const { organizationId } = asked
  let most = 1
  return async (high, limit) => {
    const beganAt = nowMs()
    const ranges = await RANGES[walk](reads, { ...asked, high, size: 1, ranges: most })
    const low = ranges.at(-1)?.low
    if (low === undefined) return { rows: [], end: null }
    const isLast = ranges.length < most || low === asked.low
    const codes = new Set(ranges.flatMap(({ prefix }) => codesOf({ organizationId, prefix })))
    const all = [...codes].map(queryOf)
    const wholes = textArray(all.map(({ whole }) => whole))
    const queries = textArray(all.map((query) => `(${query.all})`))
    const slice = await SEARCHED(reads, { ...asked, low, high, size: FOUND_MAX, limit, wholes, queries })
    const { rows, last, isWhole } = readSlice(slice, FOUND_MAX, limit)
    most = nextSize(most, nowMs() - beganAt, RANGES_MAX)
    return { rows, end: isWhole ? (isLast ? null : low) : last }
  }
}
