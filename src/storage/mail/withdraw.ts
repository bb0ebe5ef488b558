import { isFinal } from '../../model/message.ts'
import { cancelledEvent } from '../../model/on-demand-event.ts'
import { rows, run, sql, type Work } from '../sql.ts'
import type { Messages } from '../store.ts'
import { each, writeEach } from './each.ts'
import { appendAll } from './events.ts'
import type { MailInside } from './inside.ts'
import { settleMessages } from './record.ts'
import { removeHeld } from './remove-messages.ts'
import { DELIVERY_COLUMNS, type DeliveryRow, MESSAGE_COLUMNS, type MessageRow, messageOf } from './rows.ts'

// In the order of IDs, as everybody who locks several deliveries.
const LOCK = sql<DeliveryRow & MessageRow>(`select ${DELIVERY_COLUMNS}, ${MESSAGE_COLUMNS}
  from messages m join deliveries d on d.message_number = m.number where m.id = $1 order by d.id for update of d`)
const CANCEL = each<DeliveryRow>(
  { number: ['bigint', ({ number }) => number] },
  `update deliveries as d set status = 'cancelled', next_attempt_at = null from rows r where d.number = r.number`,
)
const RESCHEDULE = each<DeliveryRow & { dueAt: number }>(
  { number: ['bigint', ({ number }) => number], due_at: ['bigint', ({ dueAt }) => dueAt] },
  'update deliveries as d set next_attempt_at = r.due_at from rows r where d.number = r.number',
)
// The time limit of a message counts from its due time.
const SET_SCHEDULED_AT = sql(`update messages
  set expires_at = expires_at + $2::bigint - scheduled_at, scheduled_at = $2::bigint where number = $1::bigint`)

/** As Messages.cancel. */
export function* cancelMessage(
  inside: MailInside,
  { id, now }: { id: string; now: number },
): Work<Awaited<ReturnType<Messages['cancel']>>> {
  const all = yield* rows(LOCK, id)
  const [first] = all
  const open = all.filter(({ status }) => !isFinal(status))
  const hasLeft = all.some(({ status, worker }) => status === 'delivered' || status === 'bounced' || worker !== null)
  if (first === undefined || open.length === 0 || hasLeft) return 'invalid_state'
  yield* writeEach(CANCEL, open)
  yield* removeHeld(open)
  // `before`: the message says whether it was, once it is locked.
  const of = { messageNumber: first.messageNumber, isOnlyRecipient: all.length === 1, before: 'scheduled' } as const
  yield* settleMessages(inside, [{ ...of, status: 'cancelled' }])
  const message = messageOf(first)
  const cancelled = open.toSorted((one, other) => one.position - other.position)
  yield* appendAll(
    inside,
    cancelled.map((delivery) => ({ offered: cancelledEvent(message, delivery, now) })),
  )
  return 'cancelled'
}

/** As Messages.reschedule. */
export function* rescheduleMessage(
  inside: MailInside,
  { id, at, now }: { id: string; at: number; now: number },
): Work<Awaited<ReturnType<Messages['reschedule']>>> {
  const open = (yield* rows(LOCK, id)).filter(({ status }) => !isFinal(status))
  const [first] = open
  const isScheduled = open.every(
    ({ status, worker, attempts }) => status === 'scheduled' && worker === null && attempts === 0,
  )
  if (first === undefined || !isScheduled) return 'invalid_state'
  const dueAt = Math.max(at, now)
  const moved = open.map((delivery) => ({ ...delivery, dueAt }))
  yield* writeEach(RESCHEDULE, moved)
  yield* removeHeld(open)
  for (const { queue } of open) inside.offer('deliveries', queue, dueAt)
  yield* run(SET_SCHEDULED_AT, first.messageNumber, at)
  return 'rescheduled'
}
