import type { PostAttempt } from '../../model/post-attempt.ts'
import type { WebhookDelivery } from '../../model/webhook.ts'
import { named, type Texts } from '../named.ts'
import { toPage } from '../page.ts'
import type { Database, Work } from '../sql.ts'
import type { Page, PageRequest, WebhookDeliveries, WebhookDeliveryFilter } from '../store.ts'
import { type Pace, pageOf, sliceOf, walkSteps, walkTexts } from './slices.ts'
import { firstSince, numbersIn } from './times.ts'

/** An address of 254 octets, also where JSON escapes some of them. */
const LONGEST_RECIPIENT = 1_000
/** The body of an event from its recipient on: in events of a message this is the first field of that name
 *  (model/event.ts), and quotes within strings are escaped. The databases do not parse the body: PostgreSQL refuses
 *  `\u0000` and single surrogates, which the replies of other servers, and received mail, may have. */
const RECIPIENT = `(select substr(e.body, strpos(e.body, '"to":"'), ${LONGEST_RECIPIENT}) from events e
    where e.number = m.event_number)`
/** Of `webhook_deliveries m`. While an attempt is in progress, there is no next one. */
const COLUMNS = `m.number, m.id, m.webhook_id as "webhookId",
  (select e.id from events e where e.number = m.event_number) as "eventId", m.type, m.status,
  case when m.type like 'message.%' then ${RECIPIENT} end as "bodyFromTo",
  case when m.status = 'pending' and m.worker is null then m.next_attempt_at end as "nextAttemptAt",
  m.created_at as "createdAt"`

type Row = Omit<WebhookDelivery, 'attempts' | 'to'> & { number: number; bodyFromTo: string | null }

const GET = named<Row>(`select ${COLUMNS} from webhook_deliveries m where m.id = :id`)
const OF_MESSAGE = named<Row>({
  text: `select ${COLUMNS} from events o join webhook_deliveries m on m.event_number = o.number
    where o.message_id = :messageId and o.organization_id || '' = :organizationId
    order by o.position desc, o.number desc limit :limit`,
  sqlite: `select ${COLUMNS} from events o indexed by events_of_message
    cross join webhook_deliveries m indexed by webhook_deliveries_of_event on m.event_number = o.number
    where o.message_id = :messageId and o.organization_id = :organizationId order by o.number desc limit :limit`,
})
const ATTEMPTS = named<PostAttempt & { deliveryNumber: number }>(
  `select delivery_number as "deliveryNumber", number, at, duration_ms as "durationMs", status_code as "statusCode", error,
    response_excerpt as "responseExcerpt"
  from webhook_attempts where delivery_number = any(:numbers::bigint[]) order by delivery_number, number`,
)
const NUMBER = named<{ number: number }>('select number from webhook_deliveries where id = :id')
const ID = named<{ id: string }>('select id from webhook_deliveries where number = :number')
/** Up to this many pending deliveries are sorted. More of them are at the newest end of the list. */
const FEW = 256
const ARE_MANY_OPEN = named<{ found: number }>(`select 1 as found where exists (
    select 1 from webhook_deliveries where webhook_id = :webhookId and next_attempt_at > 0 limit 1 offset ${FEW})
  or exists (select 1 from held_webhook_deliveries)`)
const SINCE = firstSince({
  table: 'webhook_deliveries',
  index: 'webhook_deliveries_of_webhook',
  owner: 'webhook_id',
  time: 'created_at',
})

const walkedBy = (index: string, equal: Readonly<Record<string, string>> = {}, condition?: string): Texts =>
  walkTexts({
    table: 'webhook_deliveries d',
    index: `webhook_deliveries_${index}`,
    equal: { 'd.webhook_id': 'webhookId', ...equal },
    key: 'd.number',
    ...(condition === undefined ? {} : { condition }),
  })
const inSlices = (walk: Texts) => {
  const conditions = `(:status::text is null or m.status = :status) and (:type::text is null or m.type = :type)
    and (:createdAfter::bigint is null or m.created_at >= :createdAfter)
    and (:createdBefore::bigint is null or m.created_at < :createdBefore)`
  return sliceOf<Row>(walk, {
    table: 'webhook_deliveries',
    key: 'number',
    columns: COLUMNS,
    conditions: { text: conditions, sqlite: conditions },
  })
}
const open = (index: string) => `select d.number as key from webhook_deliveries d ${index}
  where d.webhook_id = :webhookId and d.next_attempt_at > 0 and d.number + 0 >= :low and d.number + 0 < :high
  order by d.number + 0 desc limit :size`
const SLICES = {
  all: inSlices(walkedBy('of_webhook')),
  ofType: inSlices(walkedBy('by_type', { 'd.type': 'type' })),
  // Most deliveries succeed, so the index of the others costs next to nothing.
  failed: inSlices(walkedBy('failed', {}, `d.status = 'failed'`)),
  // Deliveries with a next attempt are the pending ones that nobody stopped.
  open: inSlices({ text: open(''), sqlite: open('indexed by webhook_deliveries_due') }),
}

/** WebhookDeliveries.get. */
function* getWebhookDelivery(id: string): Work<WebhookDelivery | null> {
  const rows = yield* GET({ id })
  return (yield* withAttempts(rows))[0] ?? null
}

/** WebhookDeliveries.ofMessage. */
function* webhookDeliveriesOfMessage(
  organizationId: string,
  messageId: string,
  limit: number,
): Work<Page<WebhookDelivery>> {
  const rows = yield* OF_MESSAGE({ organizationId, messageId, limit: limit + 1 })
  const records = yield* withAttempts(rows)
  return toPage(records, { limit, after: null }, (record) => record)
}

/** Deliveries of one webhook, newest first. */
export function* listWebhookDeliveries(
  filter: WebhookDeliveryFilter,
  page: PageRequest,
  pace: Pace,
): Work<Page<WebhookDelivery>> {
  const { after } = page
  const cursor = after === null ? Number.MAX_SAFE_INTEGER : ((yield* NUMBER({ id: after }))[0]?.number ?? 0)
  const { low, high } = yield* numbersIn(filter, { low: 0, high: cursor }, (values) =>
    SINCE({ ...values, owner: filter.webhookId }),
  )
  const step = walkSteps(SLICES[yield* walkOf(filter)], { ...filter, low }, pace)
  const found = yield* pageOf(step, high, page, {
    toRecord: (row) => row,
    idFrom: function* (number) {
      return (yield* ID({ number }))[0]?.id
    },
    pace,
  })
  return { ...found, records: yield* withAttempts(found.records) }
}

/** The narrowest index that matches. */
function* walkOf({ webhookId, status, type }: WebhookDeliveryFilter): Work<keyof typeof SLICES> {
  if (status === 'failed') return 'failed'
  if (status === 'pending' && (yield* ARE_MANY_OPEN({ webhookId })).length === 0) return 'open'
  return type === null ? 'all' : 'ofType'
}

function* withAttempts(rows: readonly Row[]): Work<WebhookDelivery[]> {
  if (rows.length === 0) return []
  const all = yield* ATTEMPTS({ numbers: rows.map(({ number }) => number) })
  const attempts = Map.groupBy(all, ({ deliveryNumber }) => deliveryNumber)
  return rows.map(({ id, webhookId, eventId, type, bodyFromTo, status, nextAttemptAt, createdAt, number }) => ({
    id,
    webhookId,
    eventId,
    type,
    to: recipientIn(bodyFromTo),
    status,
    nextAttemptAt,
    createdAt,
    attempts: (attempts.get(number) ?? []).map(({ deliveryNumber: _, ...attempt }) => attempt),
  }))
}

function recipientIn(bodyFromTo: string | null): string | null {
  const [, json] = /^"to":("(?:[^"\\]|\\.)*")/.exec(bodyFromTo ?? '') ?? []
  return json === undefined ? null : JSON.parse(json)
}

/** Reading of deliveries to webhooks; `list` reads listWebhookDeliveries. */
export function webhookDeliveryReading(
  { read }: Pick<Database, 'read'>,
  list: WebhookDeliveries['list'],
): Pick<WebhookDeliveries, 'get' | 'list' | 'ofMessage'> {
  return {
    get: (id) => read(() => getWebhookDelivery(id)),
    list,
    ofMessage: (organizationId, messageId, limit) =>
      read(() => webhookDeliveriesOfMessage(organizationId, messageId, limit)),
  }
}
