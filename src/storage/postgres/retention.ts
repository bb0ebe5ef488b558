import { DELIVERY_STATUSES, isFinal } from '../../model/message.ts'
import { firstId } from '../../os/ids.ts'
import type { Retention } from '../store.ts'
import { STORED_BYTES_OF_INBOUND } from '../stored-bytes.ts'
import { numberArray, textArray } from './arrays.ts'
import type { Reads } from './reads.ts'
import type { Statements } from './transactions.ts'
import type { Writer } from './writer.ts'

/** Records read in one step. */
const LOOKS = 100
/** After this many young records in a row no older one follows: commits follow the clock with few exceptions. */
const YOUNG_MAX = 100
/** Stored bytes removed in one step: 2 ms per megabyte. */
const STEP_BYTES = 8 * 1024 * 1024
/** Webhook deliveries removed in one step: an event has hundreds, each with its attempts. */
const WEBHOOK_DELIVERIES_MAX = 1000

// In order of acceptance, so that the oldest come first; open messages are skipped once per pass. Pairs are compared,
// because for an order by the ID alone the planner may walk along the mail of all organizations.
const MESSAGES = `select m.id, tags, stored_bytes::float8 as bytes, created_at >= $3 as "isYoung",
    greatest(created_at, scheduled_at) < $3 and queued.id is null as "isOver"
  from messages m left join lateral (select id from delivery_queue where message_id = m.id limit 1) queued on true
  where (m.organization_id, m.id) > ($1, $2) and (m.organization_id, m.id) < ($1, '~')
  order by m.organization_id, m.id limit ${LOOKS}`
// Engagement and late reports lock a delivery too: what they add is removed with it, or they find it gone.
const LOCK_DELIVERIES = 'select id from deliveries where message_id = any($1::text[]) for update'
const KEEP_UNSUBSCRIBABLE = `insert into unsubscribables (delivery_id, organization_id, domain_id, message_id, sender,
    email, sent_at, stream)
  select d.id, m.organization_id, m.domain_id, m.id, m.sender, d.email,
    coalesce(o.last_attempt_at, d.last_attempt_at), m.stream
  from messages m join deliveries d on d.message_id = m.id
    left join lateral (select last_attempt_at from delivery_outcomes
      where delivery_id = d.id order by seq desc limit 1) o on true
    left join lateral (select unsubscribed_at from engagement where delivery_id = d.id limit 1) e on true
  where m.id = any($1::text[]) and m.unsubscribe and m.mode = 'live' and e.unsubscribed_at is null
    and coalesce(o.last_attempt_at, d.last_attempt_at) >= $2
  on conflict do nothing`
const REMOVE_DELIVERIES = [
  'delete from engagement where delivery_id = any($1::text[])',
  'delete from reports where delivery_id = any($1::text[])',
  'delete from delivery_outcomes where delivery_id = any($1::text[])',
  'delete from deliveries where id = any($1::text[])',
]
const UNTAG = `delete from message_tags t using unnest($2::text[], $3::text[]) as given (tag, message_id)
  where t.organization_id = $1 and t.tag = given.tag and t.message_id = given.message_id`
const MARKS = [...DELIVERY_STATUSES.filter((status) => isFinal(status) && status !== 'delivered'), 'partial'].map(
  (mark) => `'${mark}'`,
)
const UNMARK = `delete from message_marks
  where organization_id = $1 and mark in (${MARKS}) and message_id = any($2::text[])`
const REMOVE_CONTENTS = `delete from contents where owner_id = any($1::text[]) and kind = 'content'`
const REMOVE_NOTES = [
  'delete from removed_contents where message_id = any($1::text[])',
  'delete from content_redactions where message_id = any($1::text[])',
]
export const counting = (removed: string) => `with gone as (${removed})
  insert into usage as present (organization_id, name, period, lane_id, used)
  select organization_id, 'stored_bytes', '', $2::int, -sum(bytes) from gone group by 1
  on conflict (organization_id, name, period, lane_id) do update set used = present.used + excluded.used`
const REMOVE_MESSAGES = counting(
  'delete from messages where id = any($1::text[]) returning organization_id, stored_bytes as bytes',
)
// Ranges of the search that end before the oldest message and before the present.
const REMOVE_RANGES = `delete from search_ranges using (
    select least($2, (select min(id) from messages where organization_id = $1)) as id) oldest
  where organization_id = $1 and prefix < oldest.id and prefix < left(oldest.id, length(prefix))`

const EVENTS = `select id, place::float8 as place, created_at::float8 as "createdAt" from events
  where organization_id = $1 and created_at < $2 and (created_at, place) > ($3, $4)
  order by events.created_at, events.place limit ${LOOKS}`
const WEBHOOK_DELIVERIES = `select id from webhook_deliveries where event_id = any($1::text[]) limit ${WEBHOOK_DELIVERIES_MAX}`
const REMOVE_WEBHOOK_DELIVERIES = [
  'delete from webhook_attempts where delivery_id = any($1::text[])',
  'delete from webhook_queue where id = any($1::text[])',
  'delete from webhook_deliveries where id = any($1::text[])',
]
const REMOVE_FAN_OUTS = 'delete from fan_outs where organization_id = $1 and place = any($2::bigint[])'
const REMOVE_EVENTS = 'delete from events where id = any($1::text[])'

const INBOUND = `select id, content_id as "contentId", (${STORED_BYTES_OF_INBOUND})::float8 as bytes,
    received_at >= $3 as "isYoung", received_at < $3 and delivery_status is distinct from 'pending' as "isOver"
  from inbound_messages where (organization_id, id) > ($1, $2) and (organization_id, id) < ($1, '~')
  order by organization_id, id limit ${LOOKS}`
const INBOUND_DELIVERIES = 'select id from inbound_deliveries where message_id = any($1::text[])'
const REMOVE_INBOUND_DELIVERIES = [
  'delete from inbound_queue where id = any($1::text[])',
  'delete from inbound_attempts where delivery_id = any($1::text[])',
  'delete from inbound_deliveries where id = any($1::text[])',
]
const REMOVE_ADDRESSES = 'delete from inbound_addresses where message_id = any($1::text[])'
const REMOVE_INBOUND = counting(`delete from inbound_messages where id = any($1::text[])
  returning organization_id, ${STORED_BYTES_OF_INBOUND} as bytes`)
// Of two that remove the last messages of one mail, the second one finds no other.
const LOCK_CONTENTS = 'select from contents where owner_id = any($1::text[]) order by owner_id, kind for update'
const REMOVE_RAW = `delete from contents where owner_id = any($1::text[]) and kind in ('raw', 'parsed')
  and (select id from inbound_messages where content_id = owner_id limit 1) is null`

/** Tables of reports about domains, with the column that says how old a row is. */
const REPORTS = [
  ['dmarc_sources', 'day'],
  ['tls_results', 'day'],
  ['policy_reports', 'received_at'],
] as const
const removeReports = (table: string, column: string) => `delete from ${table} where ctid = any(array(
  select ctid from ${table} where organization_id = $1 and ${column} < $2 order by ${column} limit ${LOOKS}))`

const PRUNE_UNSUBSCRIBABLES = `delete from unsubscribables where delivery_id = any(array(
  select delivery_id from unsubscribables where sent_at < $1 order by sent_at limit $2))`

/** Removes what the plans no longer keep, in small steps.
 *
 *  Twice         harmless: removed records are not found again.
 *  Interrupted   a message is removed with all its records in one transaction; the next pass starts over.
 *  Kept          open messages (until they are final), statistics, volumes, suppressions, alerts.
 *  Events        expire by their own age: an opening after a year outlives its message. */
export function postgresRetention(reads: Reads, writer: Writer): Retention {
  const walks = [
    createStep(messages, reads, writer),
    createStep(events, reads, writer),
    createStep(inboundMessages, reads, writer),
    ...REPORTS.map(([table, column]) => createReportStep(removeReports(table, column), writer)),
  ]
  /** Walk of the current pass over an organization. */
  const current = new Map<string, number>()
  return {
    remove: async (request) => {
      request.timeIsUp()
      const { organizationId } = request
      const at = current.get(organizationId) ?? 0
      const next = (await walks[at]?.(request)) ? at : at + 1
      if (next < walks.length) current.set(organizationId, next)
      else current.delete(organizationId)
      return next < walks.length
    },
    pruneUnsubscribables: (before, limit) => writer.write(({ run }) => run(PRUNE_UNSUBSCRIBABLES, [before, limit])),
  }
}

type Request = Parameters<Retention['remove']>[0]

interface Expiring {
  isYoung: boolean
  /** It can be removed. */
  isOver: boolean
  bytes: number
}

/** Records of an organization, about the oldest first. */
interface Walk<Row extends Expiring> {
  /** Returns the next LOOKS records after one; null = the first ones. */
  read(reads: Reads, request: Request, after: Row | null): Promise<Row[]>
  /** Removes records with all that belongs to them; false if there is too much of it for one step. */
  remove(statements: Statements, rows: readonly Row[], request: Request): Promise<boolean>
}

/** → What makes one step of a walk; false at its end. */
function createStep<Row extends Expiring>(
  walk: Walk<Row>,
  reads: Reads,
  writer: Writer,
): (request: Request) => Promise<boolean> {
  /** By organization: the last record of the last step, and how many young ones there were in a row. */
  const places = new Map<string, { after: Row; young: number }>()
  return async (request) => {
    const { organizationId } = request
    const place = places.get(organizationId)
    const rows = await walk.read(reads, request, place?.after ?? null)
    let young = place?.young ?? 0
    let bytes = 0
    let looked = 0
    for (const { isYoung, isOver, bytes: own } of rows) {
      looked++
      young = isYoung ? young + 1 : 0
      if (isOver) bytes += own
      if (request.timeIsUp() || bytes >= STEP_BYTES) break
    }
    const over = rows.slice(0, looked).filter(({ isOver }) => isOver)
    const isRemoved = over.length === 0 || (await writer.write((statements) => walk.remove(statements, over, request)))
    if (!isRemoved) return true
    const last = rows[looked - 1]
    const isEnd = looked === rows.length && (rows.length < LOOKS || young >= YOUNG_MAX)
    if (isEnd || last === undefined) places.delete(organizationId)
    else places.set(organizationId, { after: last, young })
    return places.has(organizationId)
  }
}

function createReportStep(remove: string, writer: Writer): (request: Request) => Promise<boolean> {
  return async ({ organizationId, before }) =>
    (await writer.write(({ run }) => run(remove, [organizationId, before]))) === LOOKS
}

export const messages: Walk<Expiring & { id: string; tags: string }> = {
  read: ({ query }, { organizationId, before }, after) => query(MESSAGES, [organizationId, after?.id ?? '', before]),
  remove: async ({ query, run, laneId }, rows, { organizationId, before, unsubscribableSince }) => {
    const ids = idsOf(rows)
    const deliveries = idsOf(await query<{ id: string }>(LOCK_DELIVERIES, [ids]))
    const tagged = rows.flatMap(({ id, tags }) => {
      const all: string[] = JSON.parse(tags)
      return all.map((tag) => ({ id, tag }))
    })
    await Promise.all([
      run(KEEP_UNSUBSCRIBABLE, [ids, unsubscribableSince]),
      ...REMOVE_DELIVERIES.map((text) => run(text, [deliveries])),
      run(UNTAG, [organizationId, textArray(tagged.map(({ tag }) => tag)), idsOf(tagged)]),
      run(UNMARK, [organizationId, ids]),
      run(REMOVE_CONTENTS, [ids]),
      ...REMOVE_NOTES.map((text) => run(text, [ids])),
      run(REMOVE_MESSAGES, [ids, laneId]),
      run(REMOVE_RANGES, [organizationId, firstId('msg', before)]),
    ])
    return true
  },
}

export const events: Walk<Expiring & { id: string; place: number; createdAt: number }> = {
  read: async ({ query }, { organizationId, before }, after) => {
    const values = [organizationId, before, after?.createdAt ?? 0, after?.place ?? 0]
    const rows = await query<{ id: string; place: number; createdAt: number }>(EVENTS, values)
    return rows.map((row) => ({ ...row, isYoung: false, isOver: true, bytes: 0 }))
  },
  remove: async ({ query, run }, rows, { organizationId }) => {
    const ids = idsOf(rows)
    const found = await query<{ id: string }>(WEBHOOK_DELIVERIES, [ids])
    const deliveries = idsOf(found)
    const isLast = found.length < WEBHOOK_DELIVERIES_MAX
    const places = numberArray(rows.map(({ place }) => place))
    await Promise.all([
      ...(found.length > 0 ? REMOVE_WEBHOOK_DELIVERIES.map((text) => run(text, [deliveries])) : []),
      ...(isLast ? [run(REMOVE_FAN_OUTS, [organizationId, places]), run(REMOVE_EVENTS, [ids])] : []),
    ])
    return isLast
  },
}

export const inboundMessages: Walk<Expiring & { id: string; contentId: string }> = {
  read: ({ query }, { organizationId, before }, after) => query(INBOUND, [organizationId, after?.id ?? '', before]),
  remove: async ({ query, run, laneId }, rows) => {
    const ids = idsOf(rows)
    const contents = textArray([...new Set(rows.map(({ contentId }) => contentId))])
    const [found] = await Promise.all([
      query<{ id: string }>(INBOUND_DELIVERIES, [ids]),
      query(LOCK_CONTENTS, [contents]),
    ])
    const deliveries = idsOf(found)
    await Promise.all([
      ...REMOVE_INBOUND_DELIVERIES.map((text) => run(text, [deliveries])),
      run(REMOVE_ADDRESSES, [ids]),
      run(REMOVE_INBOUND, [ids, laneId]),
      run(REMOVE_RAW, [contents]),
    ])
    return true
  },
}

const idsOf = (rows: readonly { id: string }[]) => textArray(rows.map(({ id }) => id))
