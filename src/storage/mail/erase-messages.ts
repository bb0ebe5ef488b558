import { ERASED_ADDRESS } from '../../model/erasure.ts'
import { isFinal } from '../../model/message.ts'
import { partition } from '../../os/partition.ts'
import { withoutAddress, withoutRecipient } from '../erased-address.ts'
import { ERASED_AT_ONCE, type ErasureJob, type ErasureWork } from '../erasure-work.ts'
import { row, rows, run, sql, type Work } from '../sql.ts'
import { removeContent } from './content-removal.ts'
import { each, writeAll, writeEach, writing } from './each.ts'
import type { MailInside } from './inside.ts'
import { settleMessages } from './record.ts'
import { removeEvents } from './remove-events.ts'
import {
  type LockedDelivery,
  lockMessages,
  REMOVE_ATTEMPTS_AND_REPORTS,
  removeHeld,
  removeMessages,
} from './remove-messages.ts'
import { MESSAGE_COLUMNS, type MessageRow, messageOf } from './rows.ts'

const MESSAGES_TO = sql<{ number: number }>(`select f.message_number::float8 as number from (
    select distinct message_number from deliveries where address = $1 and message_number > $2::bigint
    order by message_number limit ${ERASED_AT_ONCE.messages}) f`)
const COLUMNS = `number::float8 as number, id, organization_id as "organizationId", created_at::float8 as "createdAt",
  tags, recipients, subject, metadata, size_bytes::float8 as "sizeBytes"`
const MESSAGE = sql<ErasedMessage>(`select ${COLUMNS} from messages where number = $1::bigint`)
const MESSAGE_BY_ID = sql<ErasedMessage>(`select ${COLUMNS} from messages where id = $1 and organization_id = $2`)
const EVENTS_OF = sql<{ number: number }>(
  `select number::float8 as number from events where message_id = $1 order by message_id, events.number
    limit ${ERASED_AT_ONCE.events}`,
)
const CANCEL = each<LockedDelivery>(
  { number: ['bigint', ({ number }) => number] },
  `update deliveries as d set status = 'cancelled', next_attempt_at = null from rows r where d.number = r.number`,
)
const ERASE_MESSAGE = sql('update messages set recipients = $2, subject = $3, metadata = $4 where number = $1::bigint')
const ERASE_DELIVERY = each<LockedDelivery>(
  { number: ['bigint', ({ number }) => number] },
  `update deliveries as d set email = '${ERASED_ADDRESS}', address = '${ERASED_ADDRESS}', queue = '',
    smtp_response = null, mx_host = null, tls = null from rows r where d.number = r.number`,
)
const WHOLE = sql<MessageRow>(`select ${MESSAGE_COLUMNS} from messages m where m.number = $1::bigint`)

/** A message as its erasure needs it. */
export interface ErasedMessage {
  number: number
  id: string
  organizationId: string
  createdAt: number
  /** JSON. */
  tags: string
  /** Packed (message-rows.ts). */
  recipients: string
  subject: string
  /** JSON. */
  metadata: string
  sizeBytes: number
}

/** The message with this ID, if it is the organization's. */
export const messageById = (id: string, organizationId: string): Work<ErasedMessage | null> =>
  row(MESSAGE_BY_ID, id, organizationId)

/** `waits`: an attempt is in progress or is being recorded, or others wait for the content. `more`: more events belong to
 *  it than a step removes. */
export type Erased = 'removed' | 'waits' | 'more'

/** Erases messages to the address. */
export const eraseMessages: ErasureWork = function* (inside, job, after) {
  const found = yield* rows(MESSAGES_TO, job.address, Number(after || 0))
  const step = { after, removed: { messages: 0, sharedMessages: 0 }, isWaiting: false }
  let bytes = 0
  for (const { number } of found) {
    const message = yield* row(MESSAGE, number)
    if (message !== null && message.organizationId === job.organizationId && message.createdAt <= job.createdAt) {
      const result = yield* eraseMessage(inside, message, job)
      if (result === 'more') return step
      if (result === 'waits') step.isWaiting = true
      else bytes += message.sizeBytes
      if (result === 'removed') step.removed.messages++
      if (result === 'shared') step.removed.sharedMessages++
    }
    step.after = String(number)
    if (job.timeIsUp() || bytes >= inside.pace.bytes) return step
  }
  return found.length < ERASED_AT_ONCE.messages ? { ...step, after: null } : step
}

function* eraseMessage(inside: MailInside, message: ErasedMessage, job: ErasureJob): Work<Erased | 'shared'> {
  const { locked, deliveries } = yield* lockMessages([message])
  if (locked.length === 0) return 'waits'
  const [own, others] = partition(deliveries, ({ address }) => address === job.address)
  if (others.length === 0) return yield* removeWhole(inside, message, { deliveries, job })
  if (own.some(({ worker }) => worker !== null)) return 'waits'
  yield* cancelAll(
    inside,
    own.filter(({ status }) => !isFinal(status)),
  )
  if (others.some(({ status }) => !isFinal(status))) return 'waits'
  yield* removeContent(inside, { id: message.id, reason: 'erasure', now: job.now })
  yield* eraseTexts(inside, message.number, { address: job.address, others })
  const removals = REMOVE_ATTEMPTS_AND_REPORTS.map((statement) => writing(statement, own))
  yield* writeAll(...removals, writing(ERASE_DELIVERY, own))
  return 'shared'
}

/** Removes a message, whose deliveries are locked, with its events. */
export function* removeWhole(
  inside: MailInside,
  message: ErasedMessage,
  { deliveries, job }: { deliveries: readonly LockedDelivery[]; job: ErasureJob },
): Work<Erased> {
  if (deliveries.some(({ worker }) => worker !== null)) return 'waits'
  const events = yield* rows(EVENTS_OF, message.id)
  for (let at = 0; at < events.length; at += inside.pace.together) {
    if (!(yield* removeEvents(inside, events.slice(at, at + inside.pace.together))) || job.timeIsUp()) return 'more'
  }
  if (events.length === ERASED_AT_ONCE.events) return 'more'
  yield* removeMessages(inside, [message], deliveries)
  return 'removed'
}

/** Cancels open deliveries of a message that also has others, without events, which would name the address. */
function* cancelAll(inside: MailInside, open: readonly LockedDelivery[]): Work<void> {
  yield* writeEach(CANCEL, open)
  yield* removeHeld(open)
  yield* settleMessages(
    inside,
    open.map(({ messageNumber, status: before }) => ({
      ...{ messageNumber, before, isOnlyRecipient: false },
      status: 'cancelled',
    })),
  )
}

/** Of a message whose deliveries are locked. Until then, another erasure may have changed its texts. */
function* eraseTexts(
  inside: MailInside,
  number: number,
  { address, others }: { address: string; others: readonly LockedDelivery[] },
): Work<void> {
  const message = yield* row(MESSAGE, number)
  if (message === null) return
  const { recipients, subject, metadata } = message
  yield* run(
    ERASE_MESSAGE,
    number,
    withoutRecipient(recipients, address),
    withoutAddress(subject, address),
    withoutAddress(metadata, address),
  )
  yield* inside.outdated([{ number }])
  const changed = inside.words === null ? null : yield* row(WHOLE, number)
  if (inside.words === null || changed === null) return
  const emails = others.map(({ email }) => email)
  yield* inside.words.add([{ number, message: messageOf(changed), emails }], inside.afterCommit)
}
