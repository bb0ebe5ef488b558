import { ERASED_ADDRESS } from '../../model/erasure.ts'
import { type DeliveryStatus, isFinal, messageStatus } from '../../model/message.ts'
import { firstId } from '../../os/ids.ts'
import { partition } from '../../os/partition.ts'
import { naming, withoutAddress, withoutRecipient } from '../erased-address.ts'
import { ERASED_AT_ONCE, type ErasureJob } from '../erasure-rows.ts'
import type { ErasureWork } from '../records/erasure-works.ts'
import type { ErasureStep } from '../roles/erasures.ts'
import type { ContentParts } from './content-parts.ts'
import type { RemoveContentInside } from './content-removal.ts'
import { type Connection, one } from './driver.ts'
import { native } from './inside.ts'
import { eventRemoval, inboundRemoval, messageRemoval, SLICE_BYTES } from './retention.ts'
import type { Search } from './search.ts'
import type { StoredBytes } from './stored-bytes.ts'

const MESSAGES_TO = `select distinct message_number from deliveries where address = ? and message_number > ?
  order by message_number limit ${ERASED_AT_ONCE.messages}`
const MESSAGE_COLUMNS = `number, id, organization_id as organizationId, created_at as createdAt, tags, recipients, subject,
  metadata, size_bytes as sizeBytes, stored_bytes as storedBytes`
const MESSAGE = `select ${MESSAGE_COLUMNS} from messages where number = ?`
const MESSAGE_BY_ID = `select ${MESSAGE_COLUMNS} from messages where id = ? and organization_id = ?`
const DELIVERIES = 'select number, address, status, worker from deliveries where message_number = ?'
const CANCEL = `update deliveries set status = 'cancelled', next_attempt_at = null where number = ?`
const UNHOLD = 'delete from held_deliveries where number = ?'
const SET_STATUS = 'update messages set status = ? where number = ?'
const ERASE_MESSAGE = 'update messages set recipients = ?, subject = ?, metadata = ? where number = ?'
const ERASE_DELIVERY = `update deliveries set email = '${ERASED_ADDRESS}', address = '${ERASED_ADDRESS}',
    queue = '', smtp_response = null, mx_host = null, tls = null where number = ?`
const REMOVE_ATTEMPTS = 'delete from attempts where delivery_number = ?'
const REMOVE_REPORTS = 'delete from reports where delivery_number = ?'
const EVENTS_OF = `select number from events where message_id = ? limit ${ERASED_AT_ONCE.events}`
const NEWEST_EVENT = 'select coalesce(max(number), 0) from events'
const EVENTS = `select number, message_id as messageId, body from events
  where organization_id = ? and number > ? and number <= ? order by number limit ${ERASED_AT_ONCE.events}`
const INBOUND = `select m.number, m.size_bytes as sizeBytes, m.raw_number as rawNumber, m.forwarded_as as forwardedAs,
    m.received_at as receivedAt
  from inbound_addresses a join inbound_messages m on m.number = a.message_number
  where a.organization_id = ? and a.field = ? and a.address = ? and a.message_number > ?
  order by a.message_number limit ${ERASED_AT_ONCE.inbound}`
const NOT_FORWARDED = `select number, received_at as receivedAt, not_forwarded as targets from inbound_messages
  where organization_id = ? and number > ? order by number limit ${ERASED_AT_ONCE.notForwarded}`
const SET_NOT_FORWARDED = 'update inbound_messages set not_forwarded = ? where number = ?'

interface Inside {
  parts: ContentParts
  storedBytes: StoredBytes
  search: Search
  removeContent: RemoveContentInside
}

/** Erases messages, events, and inbound mail. A step ends when its time is up, or with this many bytes: only the commit,
 *  which that time does not cover, writes the blank pages. */
export function eraseMail(db: Connection, inside: Inside): readonly ErasureWork[] {
  const works = [
    messageWork(db, inside),
    eventWork(db),
    inboundWork(db, inside, 'from'),
    inboundWork(db, inside, 'to'),
    notForwardedWork(db),
  ]
  return works.map(performed)
}

/** Erases some records of one kind, as ErasureWork. */
type NativeWork = (job: ErasureJob, after: string) => ErasureStep

const performed =
  (work: NativeWork): ErasureWork =>
  (job, after) =>
    native(() => work(job, after))

/** Inside a step: removes a message with its events; `waits` while an attempt is in progress, `more` if it has more events
 *  than the step has time for. */
type RemoveWhole = (
  message: MessageRow,
  deliveries: readonly DeliveryRow[],
  timeIsUp: () => boolean,
) => 'removed' | 'waits' | 'more'

function wholeRemoval(db: Connection, { parts, storedBytes, search }: Inside): RemoveWhole {
  const eventsOf = db.prepare<unknown[], number>(EVENTS_OF).pluck()
  const removeEvent = eventRemoval(db)
  const removeMessage = messageRemoval(db, { parts, storedBytes, search })
  return (message, deliveries, timeIsUp) => {
    if (deliveries.some(({ worker }) => worker !== null)) return 'waits'
    const events = eventsOf.all(message.id)
    for (const event of events) if (!removeEvent(event) || timeIsUp()) return 'more'
    if (events.length === ERASED_AT_ONCE.events) return 'more'
    removeMessage(message)
    return 'removed'
  }
}

function messageWork(db: Connection, inside: Inside): NativeWork {
  const { search, removeContent } = inside
  const messagesTo = db.prepare<unknown[], number>(MESSAGES_TO).pluck()
  const messageOf = db.prepare<unknown[], MessageRow>(MESSAGE)
  const deliveriesOf = db.prepare<unknown[], DeliveryRow>(DELIVERIES)
  const removeWhole = wholeRemoval(db, inside)
  const eraseMessage = db.prepare(ERASE_MESSAGE)
  const ofDelivery = [REMOVE_ATTEMPTS, REMOVE_REPORTS, ERASE_DELIVERY].map((sql) => db.prepare(sql))
  const cancel = createCancel(db)

  const erase = (row: MessageRow, { address, now, timeIsUp }: ErasureJob): ReturnType<RemoveWhole> | 'shared' => {
    const { number, id, recipients, subject, metadata } = row
    const [own, others] = partition(deliveriesOf.all(number), (each) => each.address === address)
    if (others.length === 0) return removeWhole(row, own, timeIsUp)
    if (own.some(({ worker }) => worker !== null)) return 'waits'
    cancel(number, own, others)
    if (others.some(({ status }) => !isFinal(status))) return 'waits'
    removeContent(id, 'erasure', now)
    eraseMessage.run(
      withoutRecipient(recipients, address),
      withoutAddress(subject, address),
      withoutAddress(metadata, address),
      number,
    )
    for (const delivery of own) for (const statement of ofDelivery) statement.run(delivery.number)
    search.note(number)
    return 'shared'
  }

  return (job, after) => {
    const numbers = messagesTo.all(job.address, Number(after || 0))
    const step = { after, removed: { messages: 0, sharedMessages: 0 }, isWaiting: false }
    let bytes = 0
    for (const number of numbers) {
      const row = one(messageOf, number)
      if (row.organizationId === job.organizationId && row.createdAt <= job.createdAt) {
        const result = erase(row, job)
        if (result === 'more') return step
        if (result === 'waits') step.isWaiting = true
        else bytes += row.sizeBytes
        if (result === 'removed') step.removed.messages++
        if (result === 'shared') step.removed.sharedMessages++
      }
      step.after = String(number)
      if (job.timeIsUp() || bytes >= SLICE_BYTES) return step
    }
    return numbers.length < ERASED_AT_ONCE.messages ? { ...step, after: null } : step
  }
}

/** → What cancels open deliveries of a message that also has others. */
function createCancel(db: Connection) {
  const cancel = db.prepare(CANCEL)
  const unhold = db.prepare(UNHOLD)
  const setStatus = db.prepare(SET_STATUS)
  return (message: number, own: readonly DeliveryRow[], others: readonly DeliveryRow[]): void => {
    const open = own.filter(({ status }) => !isFinal(status))
    if (open.length === 0) return
    for (const { number } of open) {
      cancel.run(number)
      unhold.run(number)
    }
    const statuses = own.map(({ status }): DeliveryStatus => (isFinal(status) ? status : 'cancelled'))
    setStatus.run(messageStatus([...statuses, ...others.map(({ status }) => status)]), message)
  }
}

/** Up to the newest event when it begins, so that an organization whose events keep coming has an end too. */
function eventWork(db: Connection): NativeWork {
  const newest = db.prepare<unknown[], number>(NEWEST_EVENT).pluck()
  const events = db.prepare<unknown[], { number: number; messageId: string | null; body: string }>(EVENTS)
  const removeEvent = eventRemoval(db)
  return ({ organizationId, address, createdAt, timeIsUp }, after): ErasureStep => {
    const names = naming(address)
    const [from = '0', end = one(newest)] = after.split(' ').filter((part) => part !== '')
    const rows = events.all(organizationId, Number(from), Number(end))
    const later = firstId('msg', createdAt + 1)
    let count = 0
    let place = from
    const step = () => ({ after: `${place} ${end}`, removed: { events: count } })
    for (const { number, messageId, body } of rows) {
      if ((messageId === null || messageId < later) && names(body)) {
        if (!removeEvent(number)) return step()
        count++
      }
      place = String(number)
      if (timeIsUp()) return step()
    }
    return rows.length < ERASED_AT_ONCE.events ? { ...step(), after: null } : step()
  }
}

/** Removes inbound messages, each with the message that forwarded it. */
function inboundWork(db: Connection, inside: Inside, field: 'from' | 'to'): NativeWork {
  const inbound = db.prepare<unknown[], InboundRow>(INBOUND)
  const messageById = db.prepare<unknown[], MessageRow>(MESSAGE_BY_ID)
  const deliveriesOf = db.prepare<unknown[], DeliveryRow>(DELIVERIES)
  const removeWhole = wholeRemoval(db, inside)
  const removeInbound = inboundRemoval(db, inside)
  return ({ organizationId, address, createdAt, timeIsUp }, after): ErasureStep => {
    const rows = inbound.all(organizationId, field, address, Number(after || 0))
    const step = { after, removed: { inboundMessages: 0, messages: 0 }, isWaiting: false }
    let bytes = 0
    for (const row of rows.filter(({ receivedAt }) => receivedAt <= createdAt)) {
      const forward = row.forwardedAs === null ? undefined : messageById.get(row.forwardedAs, organizationId)
      const result = forward === undefined ? null : removeWhole(forward, deliveriesOf.all(forward.number), timeIsUp)
      if (result === 'more') return step
      if (result === 'waits') step.isWaiting = true
      else {
        if (result === 'removed') step.removed.messages++
        bytes += (forward?.sizeBytes ?? 0) + removeInbound({ ...row, organizationId })
        step.removed.inboundMessages++
      }
      step.after = String(row.number)
      if (timeIsUp() || bytes >= SLICE_BYTES) return step
    }
    const last = rows.at(-1)
    const isEnd = last === undefined || rows.length < ERASED_AT_ONCE.inbound
    return { ...step, after: isEnd ? null : String(last.number) }
  }
}

/** Mail to others that a route did not forward to the address. */
function notForwardedWork(db: Connection): NativeWork {
  const records = db.prepare<unknown[], NotForwardedRow>(NOT_FORWARDED)
  const set = db.prepare(SET_NOT_FORWARDED)
  return ({ organizationId, address, createdAt, timeIsUp }, after): ErasureStep => {
    const names = naming(address)
    const rows = records.all(organizationId, Number(after || 0))
    for (const { number, targets } of rows) {
      if (targets !== null && names(targets)) set.run(withoutAddress(targets, address), number)
      if (timeIsUp()) return { after: String(number) }
    }
    const last = rows.at(-1)
    const isEnd = rows.length < ERASED_AT_ONCE.notForwarded || rows.every(({ receivedAt }) => receivedAt > createdAt)
    return { after: isEnd || last === undefined ? null : String(last.number) }
  }
}

/** Erases the rest of large contents, and the words of removed and changed messages from the search index. */
export function eraseSpace({ parts, search }: Pick<Inside, 'parts' | 'search'>): ErasureWork {
  return performed(({ timeIsUp }, after) => {
    if (after !== 'search' && parts.removeSome(timeIsUp)) return { after: 'parts' }
    return { after: search.erasureWaits() ? 'search' : null }
  })
}

interface MessageRow {
  number: number
  id: string
  organizationId: string
  createdAt: number
  tags: string
  recipients: string
  subject: string
  metadata: string
  sizeBytes: number
  storedBytes: number
}

interface NotForwardedRow {
  number: number
  receivedAt: number
  /** JSON; null = none. */
  targets: string | null
}

interface InboundRow {
  number: number
  sizeBytes: number
  rawNumber: number | null
  /** ID of the message that forwarded it. */
  forwardedAs: string | null
  receivedAt: number
}

interface DeliveryRow {
  number: number
  address: string
  status: DeliveryStatus
  worker: string | null
}
