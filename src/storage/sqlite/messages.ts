import { parseMailbox } from '../../mail/address.ts'
import type { Attempt, Delivery } from '../../model/delivery.ts'
import { isFinal, messageStatus } from '../../model/message.ts'
import { UNLIMITED } from '../../model/organization.ts'
import { suppressionKey } from '../../model/suppression.ts'
import type { AcceptedMessage, Messages } from '../store.ts'
import type { Agenda } from './agenda.ts'
import { type AddAttemptInside, type AttemptRow, toAttempt } from './attempts.ts'
import type { Connection } from './driver.ts'
import type { AppendInside } from './fan-out.ts'
import type { RememberInside } from './idempotency.ts'
import type { MessageList } from './message-list.ts'
import {
  DELIVERY_COLUMNS,
  type DeliveryRow,
  MESSAGE_COLUMNS,
  type MessageRow,
  packRecipients,
  toDelivery,
  toMessage,
} from './message-row.ts'
import type { SuppressInside } from './suppressions.ts'
import type { Writer } from './writer.ts'

const ADD_MESSAGE = `insert into messages (id, organization_id, domain_id, key_id, mode, source, status, sender,
    sender_address, recipients, subject, tags, metadata, template_id, size_bytes, message_id_header, created_at,
    scheduled_at, expires_at, require_tls)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const ADD_CONTENT = 'insert into message_contents (message_number, content) values (?, ?)'
const ADD_TAG =
  'insert into message_tags (organization_id, tag, message_number) values (?, ?, ?) on conflict do nothing'
const ADD_DELIVERY = `insert into deliveries (id, message_number, position, email, address, type, destination, status,
    attempts, last_attempt_at, next_attempt_at, delivered_at, smtp_response, bounce_type, bounce_code, opens, clicks)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const VOLUME = 'select accepted from volumes where organization_id = ? and month = ?'
const ADD_VOLUME = `insert into volumes (organization_id, month, accepted) values (?, ?, ?)
  on conflict do update set accepted = accepted + excluded.accepted`
const GET = `select ${MESSAGE_COLUMNS} from messages m where m.id = ?`
const CONTENT = `select c.content from messages m join message_contents c on c.message_number = m.number where m.id = ?`
const DELIVERIES = `select ${DELIVERY_COLUMNS} from messages m join deliveries d on d.message_number = m.number
  where m.id = ? order by d.position`
const ATTEMPTS = `select d.email, a.number, a.started_at as startedAt, a.duration_ms as durationMs, a.outcome, a.facts
  from messages m join deliveries d on d.message_number = m.number join attempts a on a.delivery_number = d.number
  where m.id = ? order by a.started_at, d.position, a.number`
const CANCEL = `update deliveries set status = 'cancelled', next_attempt_at = null where number = ?`
const RESCHEDULE = 'update deliveries set next_attempt_at = ? where number = ?'
// The time a message may take counts from when it is due.
const SET_SCHEDULED_AT = 'update messages set expires_at = expires_at + ? - scheduled_at, scheduled_at = ? where id = ?'
const SET_STATUS = 'update messages set status = ? where id = ?'

export function sqliteMessages(
  db: Connection,
  writer: Writer,
  inside: {
    list: MessageList
    addAttempt: AddAttemptInside
    append: AppendInside
    suppress: SuppressInside
    remember: RememberInside
    agenda: Agenda
  },
): Messages {
  const addMessage = db.prepare(ADD_MESSAGE)
  const addContent = db.prepare(ADD_CONTENT)
  const addTag = db.prepare(ADD_TAG)
  const addDelivery = db.prepare(ADD_DELIVERY)
  const volume = db.prepare(VOLUME).pluck()
  const addVolume = db.prepare(ADD_VOLUME)
  const get = db.prepare(GET)
  const content = db.prepare(CONTENT).pluck()
  const deliveries = db.prepare(DELIVERIES)
  const attempts = db.prepare(ATTEMPTS)
  const cancel = db.prepare(CANCEL)
  const reschedule = db.prepare(RESCHEDULE)
  const setScheduledAt = db.prepare(SET_SCHEDULED_AT)
  const setStatus = db.prepare(SET_STATUS)

  const usedVolume = (organizationId: string, month: string) =>
    (volume.get(organizationId, month) as number | undefined) ?? 0
  const deliveryRows = (id: string) => deliveries.all(id) as DeliveryRow[]

  const add = ({ message, content: packed, deliveries: parts, ...told }: AcceptedMessage) => {
    const { lastInsertRowid: number } = addMessage.run(
      message.id,
      message.organizationId,
      message.domainId,
      message.keyId,
      message.mode,
      message.source,
      message.status,
      message.from,
      suppressionKey(addressOf(message.from)),
      packRecipients(message),
      message.subject,
      JSON.stringify(message.tags),
      JSON.stringify(message.metadata),
      message.templateId,
      message.sizeBytes,
      message.messageIdHeader,
      message.createdAt,
      message.scheduledAt,
      message.expiresAt,
      Number(message.requireTls),
    )
    addContent.run(number, packed)
    for (const tag of message.tags) addTag.run(message.organizationId, tag, number)
    const numbers = new Map<string, number | bigint>()
    for (const part of parts) {
      const { lastInsertRowid } = addDelivery.run(
        part.id,
        number,
        part.position,
        part.email,
        suppressionKey(part.email),
        part.type,
        part.destination,
        part.status,
        part.attempts,
        part.lastAttemptAt,
        part.nextAttemptAt,
        part.deliveredAt,
        part.smtpResponse,
        part.bounceType,
        part.bounceCode,
        part.opens,
        part.clicks,
      )
      numbers.set(part.id, lastInsertRowid)
      if (part.nextAttemptAt !== null) inside.agenda.offer(part.destination, part.nextAttemptAt)
    }
    for (const { deliveryId, attempt } of told.attempts) inside.addAttempt(numbers.get(deliveryId)!, attempt)
    for (const event of told.events) inside.append(event)
    for (const suppression of told.suppressions) inside.suppress(suppression)
  }

  return {
    accept: (accepted, { organizationId, month, count, limit }, record) =>
      writer.write(() => {
        if (count > 0) {
          const used = limit === UNLIMITED ? 0 : usedVolume(organizationId, month)
          if (limit !== UNLIMITED && used + count > limit) return { kind: 'volume_exceeded' as const, used }
          addVolume.run(organizationId, month, count)
        }
        for (const each of accepted) add(each)
        inside.remember(record)
        return { kind: 'accepted' as const }
      }),
    volume: async (organizationId, month) => usedVolume(organizationId, month),
    get: async (id) => {
      const row = get.get(id) as MessageRow | undefined
      return row === undefined ? null : toMessage(row)
    },
    list: (filter, page) => inside.list(filter, page),
    content: async (id) => (content.get(id) as Uint8Array | undefined) ?? null,
    deliveries: async (id): Promise<Delivery[]> => deliveryRows(id).map(toDelivery),
    attempts: async (id): Promise<{ email: string; attempt: Attempt }[]> =>
      (attempts.all(id) as (AttemptRow & { email: string })[]).map((row) => ({
        email: row.email,
        attempt: toAttempt(row),
      })),
    cancel: (id) =>
      writer.write(() => {
        const rows = deliveryRows(id)
        const open = rows.filter((row) => !isFinal(row.status))
        const hasLeft = rows.some(
          (row) => row.status === 'delivered' || row.status === 'bounced' || row.worker !== null,
        )
        if (open.length === 0 || hasLeft) return 'invalid_state'
        for (const row of open) cancel.run(row.number)
        setStatus.run(messageStatus(deliveryRows(id).map((row) => row.status)), id)
        return 'cancelled'
      }),
    reschedule: (id, at, now) =>
      writer.write(() => {
        const open = deliveryRows(id).filter((row) => !isFinal(row.status))
        const isScheduled = open.every((row) => row.status === 'scheduled' && row.worker === null && row.attempts === 0)
        if (open.length === 0 || !isScheduled) return 'invalid_state'
        for (const row of open) {
          reschedule.run(Math.max(at, now), row.number)
          inside.agenda.offer(row.destination, Math.max(at, now))
        }
        setScheduledAt.run(at, at, id)
        return 'rescheduled'
      }),
  }
}

/** A sender as it was sent in → the address it means, as the list is asked for it; itself when it is none. */
function addressOf(from: string): string {
  return parseMailbox(from)?.address ?? from
}
