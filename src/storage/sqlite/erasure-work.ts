import { ERASED_ADDRESS } from '../../model/erasure.ts'
import { type DeliveryStatus, isFinal, messageStatus } from '../../model/message.ts'
import { suppressionKey } from '../../model/suppression.ts'
import { firstId } from '../../os/ids.ts'
import { partition } from '../../os/partition.ts'
import { addressOfHash, naming, withoutAddress, withoutRecipient } from '../erased-address.ts'
import {
  ERASED_AT_ONCE,
  type ErasureJob,
  ROUTES_MAX,
  type RouteTexts,
  remainingPlaces,
  routesNaming,
} from '../erasure-rows.ts'
import type { ErasureStep } from '../roles/erasures.ts'
import type { ContentParts } from './content-parts.ts'
import type { RemoveContentInside } from './content-removal.ts'
import { type Connection, one } from './driver.ts'
import type { ErasureWork } from './erasures.ts'
import { eventRemoval, inboundRemoval, messageRemoval, SLICE_BYTES } from './retention.ts'
import type { SearchCleaning } from './search-cleaning.ts'
import { STORED_BYTES_OF_MESSAGE, type StoredBytes } from './stored-bytes.ts'
import type { Usage } from './usage.ts'

const MESSAGES_TO = `select distinct message_number from deliveries where address = ? and message_number > ?
  order by message_number limit ${ERASED_AT_ONCE.messages}`
const MESSAGE_COLUMNS = `number, id, organization_id as organizationId, created_at as createdAt, tags, recipients, subject,
  metadata, size_bytes as sizeBytes, ${STORED_BYTES_OF_MESSAGE} as storedBytes`
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
const RESPONSES = `select rowid as number, hex(key_hash) as key, body from idempotency
  where organization_id = ? and key_hash > unhex(?) order by key_hash limit ${ERASED_AT_ONCE.responses}`
const REMOVE_RESPONSE = 'delete from idempotency where rowid = ?'
const UNSUBSCRIBABLES = `select delivery_id as id, organization_id as organizationId, email
  from unsubscribables where delivery_id > ? order by delivery_id limit ${ERASED_AT_ONCE.unsubscribables}`
const REMOVE_UNSUBSCRIBABLE = 'delete from unsubscribables where delivery_id = ?'
const SUPPRESSIONS = `select id from suppressions indexed by suppressions_by_address where organization_id = ? and email = ?`
const HASH_SUPPRESSION = 'update or ignore suppressions set email = ?, message_id = null, evidence = null where id = ?'
const REMOVE_SUPPRESSION = 'delete from suppressions where id = ?'
const USER = `select u.id from users u join user_roles r on r.user_id = u.id where u.email = ? and r.organization_id = ?`
const INVITATION = 'select id from invitations where email = ? and organization_id = ?'
const ROUTES = `select id, name, match_value as value, config from inbound_routes where organization_id = ?
  order by id limit ${ROUTES_MAX}`
const FORGET_TARGET = `delete from forward_targets where organization_id = ? and address = ? and status <> 'stopped'`
const TARGET = 'select 1 from forward_targets where organization_id = ? and address = ?'

interface Inside {
  parts: ContentParts
  storedBytes: StoredBytes
  usage: Usage
  cleaning: SearchCleaning
  removeContent: RemoveContentInside
}

/** What an erasure does, in order. Suppressions come late: an attempt that ends meanwhile may add one. A step ends when its
 *  time is up, or with this many bytes: only the commit, which that time does not cover, writes the blank pages. */
export function erasureWork(db: Connection, inside: Inside): readonly ErasureWork[] {
  return [
    messageWork(db, inside),
    eventWork(db),
    inboundWork(db, inside, 'from'),
    inboundWork(db, inside, 'to'),
    notForwardedWork(db),
    responseWork(db, inside),
    unsubscribableWork(db),
    suppressionWork(db, inside),
    placesWork(db),
    spaceWork(inside),
  ]
}

/** Inside a step: removes a message with its events; `waits` while an attempt is in progress, `more` if it has more events
 *  than the step has time for. */
type RemoveWhole = (
  message: MessageRow,
  deliveries: readonly DeliveryRow[],
  timeIsUp: () => boolean,
) => 'removed' | 'waits' | 'more'

function wholeRemoval(db: Connection, { parts, storedBytes, cleaning }: Inside): RemoveWhole {
  const eventsOf = db.prepare<unknown[], number>(EVENTS_OF).pluck()
  const removeEvent = eventRemoval(db)
  const removeMessage = messageRemoval(db, { parts, storedBytes, cleaning })
  return (message, deliveries, timeIsUp) => {
    if (deliveries.some(({ worker }) => worker !== null)) return 'waits'
    const events = eventsOf.all(message.id)
    for (const event of events) if (!removeEvent(event) || timeIsUp()) return 'more'
    if (events.length === ERASED_AT_ONCE.events) return 'more'
    removeMessage(message)
    return 'removed'
  }
}

function messageWork(db: Connection, inside: Inside): ErasureWork {
  const { cleaning, removeContent } = inside
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
    cleaning.note(number)
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
function eventWork(db: Connection): ErasureWork {
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
function inboundWork(db: Connection, inside: Inside, field: 'from' | 'to'): ErasureWork {
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
function notForwardedWork(db: Connection): ErasureWork {
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

function responseWork(db: Connection, { storedBytes }: Inside): ErasureWork {
  const responses = db.prepare<unknown[], { number: number; key: string; body: Uint8Array }>(RESPONSES)
  const remove = db.prepare(REMOVE_RESPONSE)
  return ({ organizationId, address, timeIsUp }, after): ErasureStep => {
    const names = naming(address)
    const rows = responses.all(organizationId, after)
    let count = 0
    for (const { number, key, body } of rows) {
      if (names(Buffer.from(body).toString())) {
        remove.run(number)
        storedBytes.change('answers', number, organizationId, -body.byteLength)
        count++
      }
      if (timeIsUp()) return { after: key, removed: { responses: count } }
    }
    const last = rows.length < ERASED_AT_ONCE.responses ? undefined : rows.at(-1)
    return { after: last?.key ?? null, removed: { responses: count } }
  }
}

function unsubscribableWork(db: Connection): ErasureWork {
  const some = db.prepare<unknown[], { id: string; organizationId: string; email: string }>(UNSUBSCRIBABLES)
  const remove = db.prepare(REMOVE_UNSUBSCRIBABLE)
  return ({ organizationId, address }, after): ErasureStep => {
    const rows = some.all(after)
    for (const row of rows) {
      if (row.organizationId === organizationId && suppressionKey(row.email) === address) remove.run(row.id)
    }
    return { after: rows.length < ERASED_AT_ONCE.unsubscribables ? null : (rows.at(-1)?.id ?? null) }
  }
}

function suppressionWork(db: Connection, { usage }: Inside): ErasureWork {
  const find = db.prepare<unknown[], string>(SUPPRESSIONS).pluck()
  const hash = db.prepare(HASH_SUPPRESSION)
  const remove = db.prepare(REMOVE_SUPPRESSION)
  return ({ organizationId, address, addressHash }): ErasureStep => {
    const ids = find.all(organizationId, address)
    for (const id of ids) {
      if (hash.run(addressOfHash(addressHash), id).changes > 0) continue
      // An earlier erasure left one of the same scope.
      remove.run(id)
      usage.add(organizationId, 'suppressions', -1)
    }
    return { after: null, removed: { suppressions: ids.length } }
  }
}

/** Records that only people decide about. A forward target that no route names is removed, unless its owner stopped the
 *  mail: that must hold for the next route too. */
function placesWork(db: Connection): ErasureWork {
  const user = db.prepare<unknown[], string>(USER).pluck()
  const invitation = db.prepare<unknown[], string>(INVITATION).pluck()
  const routes = db.prepare<unknown[], RouteTexts>(ROUTES)
  const forgetTarget = db.prepare(FORGET_TARGET)
  const target = db.prepare(TARGET)
  return ({ organizationId, address }): ErasureStep => {
    const all = routes.all(organizationId)
    const named = routesNaming(all, naming(address))
    if (named.length === 0 && all.length < ROUTES_MAX) forgetTarget.run(organizationId, address)
    const remaining = remainingPlaces({
      users: user.all(address, organizationId),
      invitations: invitation.all(address, organizationId),
      routes: named,
      isTarget: target.get(organizationId, address) !== undefined,
    })
    return { after: null, remaining }
  }
}

/** Erases the rest of large contents, and the words of removed and changed messages from the search index. */
function spaceWork({ parts, cleaning }: Inside): ErasureWork {
  return ({ timeIsUp }, after): ErasureStep => {
    if (after !== 'search' && parts.removeSome(timeIsUp)) return { after: 'parts' }
    return { after: cleaning.clean(timeIsUp) ? 'search' : null }
  }
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
