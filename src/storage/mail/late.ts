import { ERASED_ADDRESS } from '../../model/erasure.ts'
import { isFinal, type Message } from '../../model/message.ts'
import type { Report } from '../../model/report.ts'
import { type Database, row, run, sql, type Work } from '../sql.ts'
import type { Deliveries, LateRecord } from '../store.ts'
import { insertInto, writeEach } from './each.ts'
import { appendAll } from './events.ts'
import type { MailInside } from './inside.ts'
import { settleMessages } from './record.ts'
import { removeHeld } from './remove-messages.ts'
import {
  DELIVERY_COLUMNS,
  type DeliveryRow,
  deliveryOf,
  IS_ONLY_RECIPIENT,
  MESSAGE_COLUMNS,
  type MessageRow,
  messageOf,
} from './rows.ts'
import { suppressAll } from './suppress.ts'

const OF_ID = `d.id = $1 and d.address <> '${ERASED_ADDRESS}'`
const GET = sql<DeliveryRow & MessageRow>(`select ${DELIVERY_COLUMNS}, ${MESSAGE_COLUMNS}
  from deliveries d join messages m on m.number = d.message_number where ${OF_ID}`)
type Locked = Pick<DeliveryRow, 'number' | 'messageNumber' | 'status' | 'mxHost'> &
  Pick<Message, 'templateId'> & { isOnlyRecipient: boolean }
// Two reports of one delivery are decided one after the other.
const LOCK = sql<Locked>(
  `select d.number::float8 as number, d.message_number::float8 as "messageNumber", d.status, d.mx_host as "mxHost",
    (select m.template_id from messages m where m.number = d.message_number) as "templateId", ${IS_ONLY_RECIPIENT}
  from deliveries d where ${OF_ID} for no key update`,
)
const IS_KNOWN = sql<{ known: number }>(
  'select 1 as known from reports where delivery_number = $1::bigint and digest = $2',
)
const ADD = insertInto<Report & { number: number; deliveryNumber: number }>('reports', {
  number: ['bigint', ({ number }) => number],
  delivery_number: ['bigint', ({ deliveryNumber }) => deliveryNumber],
  digest: ['bytea', ({ digest }) => digest],
  kind: ['text', ({ kind }) => kind],
  received_at: ['bigint', ({ receivedAt }) => receivedAt],
  reporter: ['text', ({ reporter }) => reporter],
  status: ['text', ({ status }) => status],
  diagnostic: ['text', ({ diagnostic }) => diagnostic],
  cause: ['text', ({ cause }) => (cause === null ? null : JSON.stringify(cause))],
  feedback_type: ['text', ({ feedbackType }) => feedbackType],
})
const STATE = 'status = $2, smtp_response = $3, bounce_type = $4, bounce_code = $5'
const CHANGE = sql(`update deliveries set ${STATE} where number = $1::bigint`)
// A worker that is attempting it loses its lease.
const END = sql(`update deliveries set ${STATE}, worker = null, next_attempt_at = null,
    delivered_at = case when $2 = 'delivered' then coalesce(delivered_at, $6::bigint) end
  where number = $1::bigint`)
const REPORTS = sql<Omit<Report, 'cause'> & { email: string; packedCause: string | null }>(
  `select d.email, r.kind, r.received_at::float8 as "receivedAt", r.digest, r.reporter, r.status, r.diagnostic,
    r.cause as "packedCause", r.feedback_type as "feedbackType"
  from messages m join deliveries d on d.message_number = m.number join reports r on r.delivery_number = d.number
  where m.id = $1 order by r.received_at, r.number`,
)

/** What is read of deliveries after their attempts. */
export function lateReading(database: Pick<Database, 'row' | 'rows'>): Pick<Deliveries, 'get' | 'reports'> {
  return {
    get: async (id) => {
      const found = await database.row(GET, id)
      return found === null ? null : { delivery: deliveryOf(found), message: messageOf(found) }
    },
    reports: async (messageId) =>
      (await database.rows(REPORTS, messageId)).map(({ email, digest, packedCause, ...rest }) => {
        const cause = packedCause === null ? null : JSON.parse(packedCause)
        return { email, report: { ...rest, digest: new Uint8Array(digest), cause } }
      }),
  }
}

/** As Deliveries.recordLate. */
export function* recordLate(
  inside: MailInside,
  { deliveryId, report, expected, change, events, suppression, now }: LateRecord,
): Work<Awaited<ReturnType<Deliveries['recordLate']>>> {
  const found = yield* row(LOCK, deliveryId)
  if (found === null) return 'unknown'
  const { number, messageNumber, isOnlyRecipient } = found
  if ((yield* row(IS_KNOWN, number, report.digest)) !== null) return 'duplicate'
  if (found.status !== expected) return 'changed'
  yield* writeEach(ADD, [{ ...report, number: inside.next('reports'), deliveryNumber: number }])
  if (change !== null) {
    const { status, smtpResponse, bounceType, bounceCode } = change
    const state = [number, status, smtpResponse, bounceType, bounceCode]
    if (isFinal(status)) {
      yield* run(END, ...state, now)
      yield* removeHeld([found])
    } else yield* run(CHANGE, ...state)
    yield* settleMessages(inside, [{ messageNumber, isOnlyRecipient, before: found.status, status }])
  }
  const { mxHost, templateId } = found
  const how = { isLate: found.status === 'delivered', mxHost, templateId }
  yield* appendAll(
    inside,
    events.map((event) => ({ event, how })),
  )
  if (suppression !== null) yield* suppressAll(inside, [suppression])
  return 'recorded'
}
