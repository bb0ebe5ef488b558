import { isFinal, type MessageStatus } from '../../model/message.ts'
import { rows, run, sql, type Work } from '../sql.ts'
import { removeParts } from './contents.ts'
import type { MailInside } from './inside.ts'
import { ofOrganization } from './of-organization.ts'
import { removeEvents } from './remove-events.ts'
import { removeInbound } from './remove-inbound.ts'
import { keepUnsubscribables, lockMessages, removeMessages } from './remove-messages.ts'

// In order of acceptance, so that the oldest come first; open messages are skipped once per pass.
const MESSAGES = ofOrganization<MessageRow>(
  'messages',
  `number::float8 as number, organization_id as "organizationId", status, tags, created_at::float8 as "createdAt",
    coalesce(scheduled_at, 0)::float8 as "scheduledAt", size_bytes::float8 as "sizeBytes"`,
)
// After the time of the last one, so that PostgreSQL does not pass again over what is deleted.
const EVENTS = sql<{ number: number; createdAt: number }>(`select number::float8 as number,
    created_at::float8 as "createdAt" from events
  where organization_id = $1 and created_at >= $2::bigint and created_at < $4::bigint
  order by organization_id, created_at limit $3`)
const INBOUND = ofOrganization<InboundRow>(
  'inbound_messages',
  `number::float8 as number, received_at::float8 as "receivedAt", delivery_status as status,
    size_bytes::float8 as "sizeBytes"`,
)

/** Table of reports about domains, and the column that says how old a row is → what removes some. */
const removeReports = (table: string, column: string) =>
  sql(`delete from ${table} where ctid = any(array(
    select ctid from ${table} where organization_id = $1 and ${column} < $2 order by ${column} limit $3))`)
const REPORTS = [
  removeReports('dmarc_sources', 'day'),
  removeReports('tls_results', 'day'),
  removeReports('policy_reports', 'received_at'),
]

/** Most records that one step looks at, so that it also ends if the caller's clock stands still. */
const LOOKS = 100
/** Records are committed almost in the order of their times. So after this many records in a row that are too young to
 *  be removed, the walk ends and does not look for older ones behind them. */
const YOUNG_MAX = 100

/** As records/retention.ts says. */
export interface Request {
  organizationId: string
  before: number
  unsubscribableSince: number
  timeIsUp: () => boolean
}

/** How far a pass over an organization has come. */
export interface Place {
  /** Index of the walk. */
  walk: number
  /** Key of the last record. */
  after: number
  /** Number of young ones in a row. */
  young: number
}

export const BEGIN: Place = { walk: 0, after: 0, young: 0 }

/** How far a walk has come; null = it is done. `looked`: records that this step looked at. */
interface Walked {
  place: Omit<Place, 'walk'> | null
  looked: number
}

/** Removes some records of one kind. */
type Walk = (inside: MailInside, request: Request, place: Place) => Work<Walked>

/** Everything that expires, in the order of removal. */
const WALKS: readonly Walk[] = [
  walkOf<MessageRow>({
    read: ({ organizationId }, after, most) => rows(MESSAGES, organizationId, after, most),
    judge: ({ number, createdAt, scheduledAt, status, sizeBytes }, before) => ({
      key: number,
      isYoung: createdAt >= before,
      isOver: Math.max(createdAt, scheduledAt) < before && (status === 'partial' || isFinal(status)),
      bytes: sizeBytes,
    }),
    remove: function* (inside, messages, { organizationId, before, unsubscribableSince }) {
      const { locked, deliveries } = yield* lockMessages(messages) // the others are for the next pass
      yield* keepUnsubscribables(locked, unsubscribableSince)
      yield* removeMessages(inside, locked, deliveries)
      if (inside.words !== null) yield* inside.words.removed(organizationId, before)
      return true
    },
  }),
  walkOf<{ number: number; createdAt: number }>({
    read: ({ organizationId, before }, after, most) => rows(EVENTS, organizationId, after, most, before),
    judge: ({ createdAt }) => ({ key: createdAt, isYoung: false, isOver: true, bytes: 0 }),
    remove: (inside, events) => removeEvents(inside, events),
  }),
  walkOf<InboundRow>({
    read: ({ organizationId }, after, most) => rows(INBOUND, organizationId, after, most),
    judge: ({ number, receivedAt, status, sizeBytes }, before) => ({
      key: number,
      isYoung: receivedAt >= before,
      isOver: receivedAt < before && status !== 'pending',
      bytes: 2 * sizeBytes,
    }),
    remove: function* (inside, messages) {
      yield* removeInbound(inside, messages)
      return true
    },
  }),
  ...REPORTS.map((statement) =>
    pruningBy(({ organizationId, before }, most) => run(statement, organizationId, before, most)),
  ),
]

/** One step of a pass → where to continue; null if the organization is done. A walk that finds nothing takes no step. */
export function* removeSome(inside: MailInside, request: Request, place: Place): Work<Place | null> {
  if (yield* removeParts(inside.pace.parts, request.timeIsUp)) return place
  for (let at = place; ; ) {
    const walk = WALKS[at.walk]
    if (walk === undefined) return null
    const walked = yield* walk(inside, request, at)
    if (walked.place !== null) return { walk: at.walk, ...walked.place }
    at = { ...BEGIN, walk: at.walk + 1 }
    if (walked.looked > 0 && at.walk < WALKS.length) return at
  }
}

/** What a walk knows of a record. */
interface Judged {
  /** Where the next slice begins. */
  key: number
  isYoung: boolean
  /** It can be removed. */
  isOver: boolean
  bytes: number
}

/** Records in the order of a key, about the oldest first → the walk over them. `remove` returns false if more belongs to the
 *  records than it removes at once; it is then repeated. */
function walkOf<Row>(of: {
  read(request: Request, after: number, most: number): Work<Row[]>
  judge(row: Row, before: number): Judged
  remove(inside: MailInside, rows: readonly Row[], request: Request): Work<boolean>
}): Walk {
  return function* (inside, request, place) {
    const { slice, together, bytes: most } = inside.pace
    let { after, young } = place
    let looked = 0
    let bytes = 0
    const isEnough = () => request.timeIsUp() || bytes >= most || looked >= LOOKS
    const removeAll = function* (records: readonly Row[]): Work<boolean> {
      while (records.length > 0 && !(yield* of.remove(inside, records, request))) {
        looked++
        if (isEnough()) return false
      }
      return true
    }
    for (;;) {
      const found = yield* of.read(request, after, slice)
      if (looked === 0 && found.length > 0) request.timeIsUp() // the time begins here
      let over: Row[] = []
      for (const row of found) {
        const { key, isYoung, isOver, bytes: own } = of.judge(row, request.before)
        looked++
        after = key
        young = isYoung ? young + 1 : 0
        if (isOver) {
          over.push(row)
          bytes += own
        }
        const isLast = over.length < together && isEnough()
        if (over.length < together && !isLast) continue
        if (!(yield* removeAll(over))) return { place, looked }
        over = []
        if (isLast || isEnough()) return { place: { after, young }, looked }
      }
      if (!(yield* removeAll(over))) return { place, looked }
      if (found.length < slice || young >= YOUNG_MAX) return { place: null, looked }
    }
  }
}

/** What deletes at most so many records, and returns their number → the walk. */
function pruningBy(prune: (request: Request, most: number) => Work<number>): Walk {
  return function* (inside, request, place) {
    const { slice } = inside.pace
    for (let looked = 0; ; ) {
      const count = yield* prune(request, slice)
      looked += count
      if (count < slice) return { place: null, looked }
      if (request.timeIsUp() || looked >= LOOKS) return { place, looked }
    }
  }
}

interface MessageRow {
  number: number
  organizationId: string
  status: MessageStatus
  /** JSON. */
  tags: string
  createdAt: number
  scheduledAt: number
  sizeBytes: number
}

interface InboundRow {
  number: number
  receivedAt: number
  status: string | null
  sizeBytes: number
}
