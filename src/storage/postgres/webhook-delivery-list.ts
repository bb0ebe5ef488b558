import type { PostAttempt } from '../../model/post-attempt.ts'
import type { WebhookDelivery } from '../../model/webhook.ts'
import { toPage } from '../page.ts'
import { slotOf } from '../slots.ts'
import type { WebhookDeliveries, WebhookDeliveryFilter } from '../store.ts'
import { named } from './named.ts'
import type { Reads } from './reads.ts'
import { decodeText } from './texts.ts'
import { ENOUGH_MS, FIRST_SLICE, nextSize } from './walk.ts'

/** Up to this many pending deliveries are sorted. More of them are at the newest end of the list. */
const FEW = 256

const STATUS = `case when q.id is not null then 'pending' when d.failed then 'failed' else 'delivered' end`
// While an attempt is in progress, there is no next one.
const COLUMNS = `d.id, d.webhook_id as "webhookId", d.event_id as "eventId", d.type, ${STATUS} as status,
  case when q.worker is null then q.due_at end::float8 as "nextAttemptAt", d.created_at::float8 as "createdAt",
  (select json_agg(json_build_object('number', a.number, 'at', a.at, 'durationMs', a.duration_ms,
      'statusCode', a.status_code, 'error', a.error, 'responseExcerpt', a.response_excerpt) order by a.number)
    from webhook_attempts a where a.delivery_id = d.id)::text as attempts`
const QUEUED = 'left join webhook_queue q on q.id = d.id'

const GET = `select ${COLUMNS} from webhook_deliveries d ${QUEUED} where d.id = $1`
const OF_MESSAGE = `select ${COLUMNS} from events e join webhook_deliveries d on d.event_id = e.id ${QUEUED}
  where e.message_id = $1 and e.organization_id = $2 order by e.place desc limit $3`
const CREATED_AT = 'select created_at::float8 as "createdAt" from webhook_deliveries where id = $1'
const OPEN = `select
  (select count(*) from (
    select 1 from webhook_queue where slot = $1 and key = $2 and due_at is not null limit ${FEW + 1}) q)::int as open,
  exists (select 1 from webhook_queue where due_at is null) as "hasHeld"`

/** Deliveries from `:createdAfter` to before (`:at`, `:id`), newest first, `:size` at most. */
const RANGE = `(created_at, id) < (:at, :id) and created_at >= :createdAfter
  order by created_at desc, id desc limit :size`
const WALKS = {
  all: `select created_at, id from webhook_deliveries where webhook_id = :webhookId and ${RANGE}`,
  failed: `select created_at, id from webhook_deliveries where webhook_id = :webhookId and failed and ${RANGE}`,
  open: `select created_at, id from (select accepted_at as created_at, id from webhook_queue
    where slot = :slot and key = :webhookId and due_at is not null limit ${16 * FEW}) q where ${RANGE}`,
}

const sliceOf = (walk: string) =>
  named<SliceRow>(`with walked as materialized (${walk})
    select slice.examined, last.id as "lastId", last.created_at::float8 as "lastAt", found.*
    from (select count(*)::int as examined from walked) slice
    left join (select created_at, id from walked order by created_at, id limit 1) last on true
    left join lateral (
      select ${COLUMNS} from (select created_at, id from walked order by created_at desc, id desc) w
        join webhook_deliveries d on d.id = w.id ${QUEUED}
      where (:type::text is null or d.type = :type) and (:status::text is null or ${STATUS} = :status)
      order by w.created_at desc, w.id desc limit :limit) found on true
    order by found."createdAt" desc, found.id desc`)
const SLICES = { all: sliceOf(WALKS.all), failed: sliceOf(WALKS.failed), open: sliceOf(WALKS.open) }

type Row = Omit<WebhookDelivery, 'attempts'> & { attempts: string | null }
/** Rows of a slice, at least one: it says what was examined. */
type SliceRow = { examined: number; lastId: string | null; lastAt: number | null } & (Row | { id: null })

/** Reading of webhook deliveries: newest first, by the time of their event or of their replay. */
export function postgresWebhookDeliveryReading(
  reads: Reads,
  nowMs: () => number = () => performance.now(),
): Pick<WebhookDeliveries, 'get' | 'list' | 'ofMessage'> {
  /** The narrowest index that matches. */
  const walkOf = async ({ webhookId, status }: WebhookDeliveryFilter): Promise<keyof typeof WALKS> => {
    if (status === 'failed') return 'failed'
    if (status !== 'pending') return 'all'
    const [row] = await reads.query<{ open: number; hasHeld: boolean }>(OPEN, [slotOf(webhookId), webhookId])
    return row !== undefined && row.open <= FEW && !row.hasHeld ? 'open' : 'all'
  }
  return {
    get: async (id) => {
      const [row] = await reads.query<Row>(GET, [id])
      return row === undefined ? null : toRecord(row)
    },
    list: async (filter, page) => {
      const { after } = page
      const [cursor] = after === null ? [] : await reads.query<{ createdAt: number }>(CREATED_AT, [after])
      if (after !== null && cursor === undefined) return { records: [], hasMore: false }
      const before = filter.createdBefore ?? Number.MAX_SAFE_INTEGER
      const start =
        cursor === undefined || cursor.createdAt >= before
          ? { at: before, id: '' }
          : { at: cursor.createdAt, id: after }
      const asked = { ...filter, createdAfter: filter.createdAfter ?? 0, slot: slotOf(filter.webhookId) }
      const slice = SLICES[await walkOf(filter)]
      const until = nowMs() + ENOUGH_MS
      const records: WebhookDelivery[] = []
      for (let place = start, size = FIRST_SLICE; ; ) {
        const beganAt = nowMs()
        const limit = page.limit + 1 - records.length
        const rows = await slice(reads, { ...asked, ...place, size, limit })
        for (const { examined: _, lastId: __, lastAt: ___, ...row } of rows) {
          if (row.id !== null) records.push(toRecord(row as Row))
        }
        const { examined, lastId, lastAt } = rows[0] ?? { examined: 0, lastId: null, lastAt: null }
        const isLast = examined < size || lastId === null || lastAt === null
        if (isLast || records.length > page.limit) return toPage(records, page, (record) => record)
        if (nowMs() >= until) return { records, hasMore: true, next: lastId }
        place = { at: lastAt, id: lastId }
        size = nextSize(size, nowMs() - beganAt)
      }
    },
    ofMessage: async (organizationId, messageId, limit) => {
      const rows = await reads.query<Row>(OF_MESSAGE, [messageId, organizationId, limit + 1])
      return toPage(rows, { limit, after: null }, toRecord)
    },
  }
}

function toRecord({ attempts, ...row }: Row): WebhookDelivery {
  const all: PostAttempt[] = attempts === null ? [] : JSON.parse(attempts)
  const decoded = (text: string | null) => (text === null ? null : decodeText(text))
  return {
    ...row,
    attempts: all.map((each) => ({
      ...each,
      error: decoded(each.error),
      responseExcerpt: decoded(each.responseExcerpt),
    })),
  }
}
