import { ERASED_ADDRESS } from '../../model/erasure.ts'
import { type DeliveryStatus, isFinal, messageStatus } from '../../model/message.ts'
import { suppressionKey } from '../../model/suppression.ts'
import { firstId } from '../../os/ids.ts'
import { partition } from '../../os/partition.ts'
import { addressOfHash, naming, withoutAddress, withoutRecipient } from '../erased-address.ts'
import type { ErasureStep } from '../roles/erasures.ts'
import type { ContentParts } from './content-parts.ts'
import type { RemoveContentInside } from './content-removal.ts'
import { type Connection, one } from './driver.ts'
import type { ErasureJob, ErasureWork } from './erasures.ts'
import { eventRemoval, inboundRemoval, messageRemoval } from './retention.ts'
import type { SearchIndex } from './search.ts'
import type { Space } from './space.ts'
import { STORED_BYTES_OF_MESSAGE, type StoredBytes } from './stored-bytes.ts'
import type { Usage } from './usage.ts'

/** Messages of one step: a message has at most fifty recipients, and the first part of its content is erased with it. */
export const MESSAGES_MAX = 10
const EVENTS_MAX = 100
/** A stored response of a batch has a hundred kilobytes. */
const RESPONSES_MAX = 20
const UNSUBSCRIBABLES_MAX = 200

const MESSAGES_TO = `select distinct message_number from deliveries where address = ? and message_number > ?
  order by message_number limit ${MESSAGES_MAX}`
const MESSAGE = `select number, id, organization_id as organizationId, created_at as createdAt, tags, recipients, subject,
    metadata, ${STORED_BYTES_OF_MESSAGE} as storedBytes
  from messages where number = ?`
const DELIVERIES = 'select number, address, status, worker from deliveries where message_number = ?'
const CANCEL = `update deliveries set status = 'cancelled', next_attempt_at = null where number = ?`
const UNHOLD = 'delete from held_deliveries where number = ?'
const SET_STATUS = 'update messages set status = ? where number = ?'
const ERASE_MESSAGE = 'update messages set recipients = ?, subject = ?, metadata = ? where number = ?'
const ERASE_DELIVERY = `update deliveries set email = '${ERASED_ADDRESS}', address = '${ERASED_ADDRESS}',
    queue = '', smtp_response = null, mx_host = null, tls = null where number = ?`
const REMOVE_ATTEMPTS = 'delete from attempts where delivery_number = ?'
const REMOVE_REPORTS = 'delete from reports where delivery_number = ?'
const EVENTS_OF = `select number from events where message_id = ? limit ${EVENTS_MAX}`
const EVENTS = `select number, message_id as messageId, body from events where organization_id = ? and number > ?
  order by number limit ${EVENTS_MAX}`
const INBOUND = `select m.number, m.size_bytes as sizeBytes, m.raw_number as rawNumber from inbound_addresses a
    join inbound_messages m on m.number = a.message_number
  where a.organization_id = ? and a.field = ? and a.address = ? order by a.message_number limit ${MESSAGES_MAX}`
const RESPONSES = `select rowid as number, hex(key_hash) as key, body from idempotency
  where organization_id = ? and key_hash > unhex(?) order by key_hash limit ${RESPONSES_MAX}`
const REMOVE_RESPONSE = 'delete from idempotency where rowid = ?'
const UNSUBSCRIBABLES = `select delivery_id as id, organization_id as organizationId, email
  from unsubscribables where delivery_id > ? order by delivery_id limit ${UNSUBSCRIBABLES_MAX}`
const REMOVE_UNSUBSCRIBABLE = 'delete from unsubscribables where delivery_id = ?'
const SUPPRESSIONS = `select id from suppressions indexed by suppressions_by_address where organization_id = ? and email = ?`
const HASH_SUPPRESSION = 'update or ignore suppressions set email = ?, message_id = null, evidence = null where id = ?'
const REMOVE_SUPPRESSION = 'delete from suppressions where id = ?'

interface Inside {
  parts: ContentParts
  space: Space
  storedBytes: StoredBytes
  usage: Usage
  search: SearchIndex
  removeContent: RemoveContentInside
}

/** What an erasure does, in order. Suppressions come late: an attempt that ends meanwhile may add one. */
export function erasureWork(db: Connection, inside: Inside): readonly ErasureWork[] {
  return [
    messageWork(db, inside),
    eventWork(db),
    inboundWork(db, inside, 'from'),
    inboundWork(db, inside, 'to'),
    responseWork(db, inside),
    unsubscribableWork(db),
    suppressionWork(db, inside),
    spaceWork(inside),
  ]
}

function messageWork(db: Connection, { parts, storedBytes, search, removeContent }: Inside): ErasureWork {
  const messagesTo = db.prepare<unknown[], number>(MESSAGES_TO).pluck()
  const messageOf = db.prepare<unknown[], MessageRow>(MESSAGE)
  const deliveriesOf = db.prepare<unknown[], DeliveryRow>(DELIVERIES)
  const eventsOf = db.prepare<unknown[], number>(EVENTS_OF).pluck()
  const removeEvent = eventRemoval(db)
  const removeMessage = messageRemoval(db, { parts, storedBytes, onUnindexed: () => {} })
  const eraseMessage = db.prepare(ERASE_MESSAGE)
  const ofDelivery = [REMOVE_ATTEMPTS, REMOVE_REPORTS, ERASE_DELIVERY].map((sql) => db.prepare(sql))
  const cancel = createCancel(db)

  /** `more`: it has more events than one step removes. `waits`: it must be looked at again. */
  const erase = (row: MessageRow, { address, now }: ErasureJob): 'removed' | 'shared' | 'more' | 'waits' => {
    const { number, id } = row
    const [own, others] = partition(deliveriesOf.all(number), (each) => each.address === address)
    if (own.some(({ worker }) => worker !== null)) return 'waits'
    if (others.length === 0) {
      const events = eventsOf.all(id)
      if (!events.every(removeEvent) || events.length === EVENTS_MAX) return 'more'
      removeMessage(row)
      return 'removed'
    }
    cancel(number, own, others)
    if (others.some(({ status }) => !isFinal(status))) return 'waits'
    removeContent(id, 'erasure', now)
    const { recipients, subject, metadata } = row
    eraseMessage.run(
      withoutRecipient(recipients, address),
      withoutAddress(subject, address),
      withoutAddress(metadata, address),
      number,
    )
    for (const delivery of own) for (const statement of ofDelivery) statement.run(delivery.number)
    search.reindex(number)
    return 'shared'
  }

  return (job, after) => {
    const numbers = messagesTo.all(job.address, Number(after || 0))
    const step = { after, removed: { messages: 0, sharedMessages: 0 }, isWaiting: false }
    for (const number of numbers) {
      const row = one(messageOf, number)
      if (row.organizationId === job.organizationId && row.createdAt <= job.createdAt) {
        const result = erase(row, job)
        if (result === 'more') return step
        if (result === 'waits') step.isWaiting = true
        if (result === 'removed') step.removed.messages++
        if (result === 'shared') step.removed.sharedMessages++
      }
      step.after = String(number)
    }
    return numbers.length < MESSAGES_MAX ? { ...step, after: null } : step
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

function eventWork(db: Connection): ErasureWork {
  const events = db.prepare<unknown[], { number: number; messageId: string | null; body: string }>(EVENTS)
  const removeEvent = eventRemoval(db)
  return ({ organizationId, address, createdAt }, after): ErasureStep => {
    const names = naming(address)
    const rows = events.all(organizationId, Number(after || 0))
    const later = firstId('msg', createdAt + 1)
    let count = 0
    let place = after
    for (const { number, messageId, body } of rows) {
      if ((messageId === null || messageId < later) && names(body)) {
        if (!removeEvent(number)) return { after: place, removed: { events: count } }
        count++
      }
      place = String(number)
    }
    return { after: rows.length < EVENTS_MAX ? null : place, removed: { events: count } }
  }
}

function inboundWork(db: Connection, { parts, storedBytes }: Inside, field: 'from' | 'to'): ErasureWork {
  const inbound = db.prepare<unknown[], { number: number; sizeBytes: number; rawNumber: number | null }>(INBOUND)
  const remove = inboundRemoval(db, { parts, storedBytes })
  return ({ organizationId, address }): ErasureStep => {
    const rows = inbound.all(organizationId, field, address)
    for (const row of rows) remove({ ...row, organizationId })
    return { after: rows.length < MESSAGES_MAX ? null : 'more', removed: { inboundMessages: rows.length } }
  }
}

function responseWork(db: Connection, { storedBytes }: Inside): ErasureWork {
  const responses = db.prepare<unknown[], { number: number; key: string; body: Uint8Array }>(RESPONSES)
  const remove = db.prepare(REMOVE_RESPONSE)
  return ({ organizationId, address }, after): ErasureStep => {
    const names = naming(address)
    const rows = responses.all(organizationId, after)
    const found = rows.filter(({ body }) => names(Buffer.from(body).toString()))
    for (const { number, body } of found) {
      remove.run(number)
      storedBytes.change('answers', number, organizationId, -body.byteLength)
    }
    return {
      after: rows.length < RESPONSES_MAX ? null : (rows.at(-1)?.key ?? null),
      removed: { responses: found.length },
    }
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
    return { after: rows.length < UNSUBSCRIBABLES_MAX ? null : (rows.at(-1)?.id ?? null) }
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

/** Erases the rest of large contents, and removed words from the search index. */
function spaceWork({ parts, space }: Inside): ErasureWork {
  const atOnce = () => true
  return (): ErasureStep => ({ after: parts.removeSome(atOnce) || space.mergeSearch(atOnce) ? 'more' : null })
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
  storedBytes: number
}

interface DeliveryRow {
  number: number
  address: string
  status: DeliveryStatus
  worker: string | null
}
