import { firstId } from '../../os/ids.ts'
import { naming, withoutAddress } from '../erased-address.ts'
import { ERASED_AT_ONCE, type ErasureJob, type ErasureWork } from '../erasure-work.ts'
import { row, rows, run, sql, type Work } from '../sql.ts'
import { removeParts } from './contents.ts'
import { type Erased, eraseMessages, messageById, removeWhole } from './erase-messages.ts'
import type { MailInside } from './inside.ts'
import { ofOrganization } from './of-organization.ts'
import { removeEvents } from './remove-events.ts'
import { removeInbound } from './remove-inbound.ts'
import { lockMessages } from './remove-messages.ts'

const NEWEST_EVENT = sql<{ at: number; number: number }>(
  `select (select coalesce(max(created_at), 0) from events where organization_id = $1)::float8 as at,
    (select coalesce(max(number), 0) from events)::float8 as number`,
)
const EVENTS = sql<{ number: number; createdAt: number; messageId: string | null; body: string }>(
  `select number::float8 as number, created_at::float8 as "createdAt", message_id as "messageId", body from events
  where organization_id = $1 and (created_at, number) > ($2::bigint, $3::bigint) and created_at <= $4::bigint
    and number <= $5::bigint
  order by organization_id, created_at, events.number limit ${ERASED_AT_ONCE.events}`,
)
const INBOUND = sql<{ number: number; sizeBytes: number; forwardedAs: string | null; receivedAt: number }>(
  `select m.number::float8 as number, m.size_bytes::float8 as "sizeBytes", m.forwarded_as as "forwardedAs",
    m.received_at::float8 as "receivedAt"
  from inbound_addresses a join inbound_messages m on m.number = a.message_number
  where a.organization_id = $1 and a.field = $2 and a.address = $3 and a.message_number > $4::bigint
  order by a.message_number limit ${ERASED_AT_ONCE.inbound}`,
)
const NOT_FORWARDED = ofOrganization<{ number: number; receivedAt: number; targets: string | null }>(
  'inbound_messages',
  'number::float8 as number, received_at::float8 as "receivedAt", not_forwarded as targets',
)
// Locked, so that of two erasures the second one changes what the first one left.
const LOCK_NOT_FORWARDED = sql<{ targets: string | null }>(
  'select not_forwarded as targets from inbound_messages where number = $1::bigint for no key update',
)
const SET_NOT_FORWARDED = sql('update inbound_messages set not_forwarded = $2 where number = $1::bigint')

/** Ends at the event that was the newest when it began, because in a busy organization new events never stop. `after`:
 *  time and number of the last event, and of that newest one. */
const eraseEvents: ErasureWork = function* (inside, { organizationId, address, createdAt, timeIsUp }, after) {
  const names = naming(address)
  const known = after === '' ? [0, 0] : after.split(' ').map(Number)
  if (known.length === 2) {
    const newest = yield* row(NEWEST_EVENT, organizationId)
    known.push(newest?.at ?? 0, newest?.number ?? 0)
  }
  const [at = 0, number = 0, ...end] = known
  const found = yield* rows(EVENTS, organizationId, at, number, ...end)
  const later = firstId('msg', createdAt + 1)
  const step = { after: known.join(' '), removed: { events: 0 } }
  for (const event of found) {
    if ((event.messageId === null || event.messageId < later) && names(event.body)) {
      if (!(yield* removeEvents(inside, [event]))) return step
      step.removed.events++
    }
    step.after = [event.createdAt, event.number, ...end].join(' ')
    if (timeIsUp()) return step
  }
  return found.length < ERASED_AT_ONCE.events ? { ...step, after: null } : step
}

/** Removes inbound messages, each with the message that forwarded it. */
const eraseInbound = (field: 'from' | 'to'): ErasureWork =>
  function* (inside, job, after) {
    const { organizationId, address, createdAt, timeIsUp } = job
    const found = yield* rows(INBOUND, organizationId, field, address, Number(after || 0))
    const step = { after, removed: { inboundMessages: 0, messages: 0 }, isWaiting: false }
    let bytes = 0
    for (const message of found.filter(({ receivedAt }) => receivedAt <= createdAt)) {
      const result = message.forwardedAs === null ? null : yield* removeForward(inside, message.forwardedAs, job)
      if (result === 'more') return step
      if (result === 'waits') step.isWaiting = true
      else {
        if (result === 'removed') step.removed.messages++
        const removed = yield* removeInbound(inside, [message])
        if (removed === 0) step.isWaiting = true
        step.removed.inboundMessages += removed
        bytes += 3 * message.sizeBytes // raw, parsed, and what was forwarded
      }
      step.after = String(message.number)
      if (timeIsUp() || bytes >= inside.pace.bytes) return step
    }
    const last = found.at(-1)
    const isEnd = last === undefined || found.length < ERASED_AT_ONCE.inbound
    return { ...step, after: isEnd ? null : String(last.number) }
  }

function* removeForward(inside: MailInside, id: string, job: ErasureJob): Work<Erased | null> {
  const message = yield* messageById(id, job.organizationId)
  if (message === null) return null
  const { locked, deliveries } = yield* lockMessages([message])
  return locked.length === 0 ? 'waits' : yield* removeWhole(inside, message, { deliveries, job })
}

/** Mail to others that a route did not forward to the address. */
const eraseNotForwarded: ErasureWork = function* (_, { organizationId, address, createdAt, timeIsUp }, after) {
  const names = naming(address)
  const found = yield* rows(NOT_FORWARDED, organizationId, Number(after || 0), ERASED_AT_ONCE.notForwarded)
  for (const { number, targets } of found) {
    if (targets !== null && names(targets)) {
      const present = (yield* row(LOCK_NOT_FORWARDED, number))?.targets
      if (present != null) yield* run(SET_NOT_FORWARDED, number, withoutAddress(present, address))
    }
    if (timeIsUp()) return { after: String(number) }
  }
  const last = found.at(-1)
  const isEnd = found.length < ERASED_AT_ONCE.notForwarded || found.every(({ receivedAt }) => receivedAt > createdAt)
  return { after: isEnd || last === undefined ? null : String(last.number) }
}

/** The rest of removed large contents. */
const eraseParts: ErasureWork = function* (inside, { timeIsUp }) {
  return { after: (yield* removeParts(inside.pace.parts, timeIsUp)) ? 'parts' : null }
}

/** Erases messages, events, and inbound mail, in this order. A step ends when its time is up, or with so many bytes as the pace
 *  allows. */
export const ERASE_MAIL: readonly ErasureWork[] = [
  eraseMessages,
  eraseEvents,
  eraseInbound('from'),
  eraseInbound('to'),
  eraseNotForwarded,
  eraseParts,
]
