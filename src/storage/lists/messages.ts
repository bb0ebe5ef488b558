import type { Message } from '../../model/message.ts'
import { suppressionKey } from '../../model/suppression.ts'
import { MESSAGE_COLUMNS, type MessageRow, messageOf } from '../mail/rows.ts'
import { named, type Texts, type Values } from '../named.ts'
import { marksAsked } from '../search-tokens.ts'
import type { Work } from '../sql.ts'
import type { MessageFilter, Page, PageRequest } from '../store.ts'
import { numbersOn } from './numbers.ts'
import { amongOwn, type Listed, type Pace, pageOf, type Step, sliceOf, walkSteps, walkTexts } from './slices.ts'

const NUMBER = named<{ number: number }>('select number from messages where id = :id')
const NUMBERS = numbersOn('messages', 'msg')

/** What matches a part of the filter, newest first. */
const WALKS = {
  organization: walkTexts({
    table: 'messages m',
    index: 'messages_of_organization',
    equal: { 'm.organization_id': 'organizationId' },
    key: 'm.number',
  }),
  // Of all organizations.
  to: walkTexts({
    table: 'deliveries d',
    index: 'deliveries_by_address',
    equal: { 'd.address': 'to' },
    key: 'd.message_number',
    isRepeated: true,
  }),
  tag: walkTexts({
    table: 'message_tags t',
    index: null,
    equal: { 't.organization_id': 'organizationId', 't.tag': 'tag' },
    key: 't.message_number',
  }),
  status: walkTexts({
    table: 'messages m',
    index: 'messages_by_status',
    equal: { 'm.organization_id': 'organizationId', 'm.status': 'status' },
    key: 'm.number',
  }),
} satisfies Record<string, Texts>
export type MessageWalk = keyof typeof WALKS

const conditionsWith = (subject: string) => `m.organization_id || '' = :organizationId
  and (:status::text is null or m.status = :status)
  and (:from::text is null or m.sender_address = :from)
  and (:templateId::text is null or m.template_id = :templateId)
  and (:domainId::text is null or m.domain_id = :domainId)
  and (:mode::text is null or m.mode = :mode)
  and (:stream::text is null or m.stream = :stream)
  and (:id::text is null or m.id = :id)
  and (:messageIdHeader::text is null or m.message_id_header = :messageIdHeader)
  and (:createdAfter::bigint is null or m.created_at >= :createdAfter)
  and (:createdBefore::bigint is null or m.created_at < :createdBefore)
  and not exists (select 1 from json_array_elements(:metadata::text::json) member
    where strpos(m.metadata, member.value ->> 0) = 0 and strpos(m.metadata, member.value ->> 1) = 0)
  and (:to::text is null or exists (
    select 1 from deliveries o where o.address = :to and o.message_number = m.number))
  and (:tag::text is null or exists (
    select 1 from message_tags o where o.organization_id = :organizationId and o.tag = :tag and o.message_number = m.number))
  and (:subject::text is null or ${subject})`

/** Messages of a list. By the organization, so that a plan reads them by their numbers: `||` hides its index. */
const LISTED: Listed = {
  table: 'messages',
  key: 'number',
  columns: MESSAGE_COLUMNS,
  conditions: {
    // Without case, as far as ASCII goes; other subjects are there as the process folds them.
    text: conditionsWith(`strpos(lower(m.subject collate "C"), :subject) > 0 or exists (
      select 1 from message_words w where w.message_number = m.number and strpos(w.folded_subject, :subject) > 0)`),
    sqlite: conditionsWith('strpos(fold_case(m.subject), :subject) > 0'),
  },
}

/** A walk → the slice of the messages on it that match the whole filter. */
export const messagesOn = (walk: Texts) => sliceOf<MessageRow>(walk, LISTED)
/** The newest message of a walk. */
const newestOn = (walk: Texts) => named<{ key: number }>(walk)
const countOn = ({ text, sqlite }: Texts) =>
  named<{ count: number }>({
    text: `select count(*) as count from (${text}) walked`,
    sqlite: `select count(*) as count from (${sqlite}) walked`,
  })
const each = <T>(toStatement: (walk: Texts) => T): Record<MessageWalk, T> => ({
  organization: toStatement(WALKS.organization),
  to: toStatement(WALKS.to),
  tag: toStatement(WALKS.tag),
  status: toStatement(WALKS.status),
})
export const MESSAGES = each(messagesOn)
export const NEWEST = each(newestOn)
const COUNTS = each(countOn)
const ownFrom = (from: string) => `select id from ${from} where organization_id = :organizationId
  and number >= :end and number < :high order by number limit 1`
/** The oldest message of the organization from a number on. */
export const OWN_FROM = named<{ id: string }>({
  text: ownFrom('messages'),
  sqlite: ownFrom('messages indexed by messages_of_organization'),
})
/** The newest message of the organization before a number. */
const NEWEST_OWN = named<{ number: number }>({
  text: `select number from messages where (organization_id, number) >= (:organizationId, :low)
    and (organization_id, number) < (:organizationId, :end) order by organization_id desc, number desc limit 1`,
  sqlite: `select number from messages indexed by messages_of_organization
    where organization_id = :organizationId and number >= :low and number < :end order by number desc limit 1`,
})
/** A message if it matches the whole filter. */
export const MESSAGE = named<MessageRow & { key: number }>({
  text: `select m.number as key, ${MESSAGE_COLUMNS} from messages m where m.number = :number and ${LISTED.conditions.text}`,
  sqlite: `select m.number as key, ${MESSAGE_COLUMNS} from messages m where m.number = :number and ${LISTED.conditions.sqlite}`,
})

/** A list of messages, as far as its search needs it. */
export interface SearchedList {
  filter: MessageFilter
  /** search-tokens.ts */
  marks: readonly string[]
  /** Values of the parameters of all statements, with `low`, the first number. */
  asked: Values & { low: number }
  /** The walk with the fewest messages. */
  walk: MessageWalk
  /** It has few. */
  isShort: boolean
}

/** Finds messages by their words and tokens. */
export interface MessageSearch {
  /** Steps through the messages that match, in the order of their numbers; null if none can. */
  steps(list: SearchedList): Step<MessageRow> | null
}

/** Messages that match every given part of the filter, newest first. They are examined in slices, along the index that has
 *  the fewest of them. If the first slice does not fill the page, or words are asked for, the search says where to look
 *  further. */
export function* listMessages(
  filter: MessageFilter,
  page: PageRequest,
  { search, pace }: { search: MessageSearch; pace: Pace },
): Work<Page<Message>> {
  const { low, high } = yield* boundsOf(filter, page.after)
  const asked = { ...valuesOf(filter), low }
  const { walk, isShort } = yield* narrowest(filter, { ...asked, high })
  const marks = marksAsked(filter)
  const isSearched = filter.text !== null || marks.length > 0
  const searching = isSearched ? search.steps({ filter, marks, asked, walk, isShort }) : null
  if (isSearched && searching === null) return { records: [], hasMore: false }
  let step = filter.text === null || searching === null ? walkSteps(MESSAGES[walk], asked, pace) : searching
  const stepping: Step<MessageRow> = function* (high, limit) {
    const present = step
    if (searching !== null && !isShort) step = searching
    return yield* present(high, limit)
  }
  return yield* pageOf(stepping, high, page, {
    toRecord: (row) => (hasMetadata(row, filter) ? messageOf(row) : null),
    ...amongOwn(OWN_FROM, NEWEST_OWN, { ...asked, high }),
    pace,
  })
}

/** Numbers that messages of the filter's time range, before the cursor, can have. */
function* boundsOf(filter: MessageFilter, after: string | null): Work<{ low: number; high: number }> {
  const { id = null } = filter
  if (id === null) return yield* NUMBERS(filter, after)
  const { high } = yield* NUMBERS({ createdAfter: null, createdBefore: null }, after)
  const own = (yield* NUMBER({ id }))[0]?.number ?? 0
  return { low: own, high: Math.min(high, own + 1) }
}

/** Messages of which several walks are compared. */
const COMPARED = 1_000

/** The walk that has the fewest messages of the filter; `isShort` if it has few. */
function* narrowest({ to, tag, status }: MessageFilter, asked: Values): Work<{ walk: MessageWalk; isShort: boolean }> {
  let walk: MessageWalk = 'organization'
  let fewest = COMPARED
  for (const [name, value] of [
    ['to', to],
    ['tag', tag],
    ['status', status],
  ] as const) {
    if (value === null) continue
    const count = (yield* COUNTS[name]({ ...asked, size: COMPARED }))[0]?.count ?? 0
    if (walk !== 'organization' && count >= fewest) continue
    walk = name
    fewest = count
  }
  return { walk, isShort: fewest < COMPARED }
}

/** Values of the parameters that the filter names. */
function valuesOf({ to, from, subject, metadata, organizationId, status, tag, ...rest }: MessageFilter) {
  return {
    organizationId,
    status,
    tag,
    templateId: rest.templateId,
    domainId: rest.domainId,
    mode: rest.mode,
    stream: rest.stream ?? null,
    id: rest.id ?? null,
    messageIdHeader: rest.messageIdHeader ?? null,
    createdAfter: rest.createdAfter,
    createdBefore: rest.createdBefore,
    to: to && suppressionKey(to),
    from: from && suppressionKey(from),
    subject: subject?.toLowerCase() ?? null,
    metadata: JSON.stringify(
      metadata.map(({ key, value }) => {
        const text = JSON.stringify(value)
        return [memberOf(key, text), memberOf(key, PLAIN.test(value) ? value : text)]
      }),
    ),
  }
}

/** A value that JSON may spell like this: a number or a boolean. PostgreSQL refuses others as JSON (`\u0000`). */
const PLAIN = /^[\w.+-]*$/

/** As it stands in the metadata of a message, which are JSON. */
const memberOf = (key: string, json: string) => `${JSON.stringify(key)}:${json}`

/** True if the metadata have all values, as a query spells them. The statement looks for their text, which may stand
 *  elsewhere. */
function hasMetadata({ packedMetadata }: MessageRow, { metadata: asked }: MessageFilter): boolean {
  if (asked.length === 0) return true
  const metadata: Record<string, unknown> = JSON.parse(packedMetadata) // of accept.ts
  return asked.every(({ key, value }) => {
    const found = Object.hasOwn(metadata, key) ? metadata[key] : undefined
    return (typeof found === 'string' ? found : JSON.stringify(found)) === value
  })
}
