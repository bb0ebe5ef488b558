import { queueOf } from '../../model/delivery.ts'
import { acceptedEvent } from '../../model/on-demand-event.ts'
import { messageStoredBytes } from '../../model/stored-bytes.ts'
import { suppressionKey } from '../../model/suppression.ts'
import type { DueIndex } from '../due-index.ts'
import type { OnDemandEvents } from '../fan-out-targets.ts'
import { createSenderAddress, packRecipients } from '../message-rows.ts'
import type { AcceptedMessage } from '../store.ts'
import type { AddAttemptInside } from './attempts.ts'
import type { ContentParts } from './content-parts.ts'
import type { Counters } from './counters.ts'
import type { Connection } from './driver.ts'
import type { AppendInside } from './fan-out.ts'
import type { StoredBytes } from './stored-bytes.ts'
import type { SuppressInside } from './suppressions.ts'
import type { Usage } from './usage.ts'

const ADD_MESSAGE = `insert into messages (id, organization_id, domain_id, key_id, mode, source, status, sender,
    sender_address, recipients, subject, tags, metadata, template_id, size_bytes, message_id_header, created_at,
    scheduled_at, expires_at, require_tls, unsubscribe, track_opens, track_clicks, stored_bytes, stream)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const ADD_CONTENT = 'insert into message_contents (message_number, content) values (?, ?)'
const ADD_REDACTION = 'insert into content_redactions (message_number, after_ms, due_at) values (?, ?, ?)'
const ADD_TAG =
  'insert into message_tags (organization_id, tag, message_number) values (?, ?, ?) on conflict do nothing'
const ADD_DELIVERY = `insert into deliveries (id, message_number, position, email, address, type, queue, status,
    attempts, last_attempt_at, next_attempt_at, delivered_at, smtp_response, bounce_type, bounce_code, opens, clicks)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

/** Writes an outbound message with its deliveries and events, inside the change that accepts it. */
export type AddMessageInside = (accepted: AcceptedMessage) => void

export function addMessageInside(
  db: Connection,
  inside: {
    parts: ContentParts
    addAttempt: AddAttemptInside
    append: AppendInside
    onDemand: OnDemandEvents
    suppress: SuppressInside
    counters: Counters
    dueIndex: DueIndex
    storedBytes: StoredBytes
    usage: Usage
  },
): AddMessageInside {
  const addMessage = db.prepare(ADD_MESSAGE)
  const addContent = db.prepare(ADD_CONTENT)
  const addRedaction = db.prepare(ADD_REDACTION)
  const addTag = db.prepare(ADD_TAG)
  const addDelivery = db.prepare(ADD_DELIVERY)
  const senderAddressOf = createSenderAddress()

  return ({ message, content: packed, deliveries: parts, ...rest }: AcceptedMessage) => {
    const metadata = JSON.stringify(message.metadata)
    const isAcceptanceNamed = inside.onDemand.isNamed(message.organizationId, 'message.accepted')
    const events = isAcceptanceNamed ? 2 : 1
    const storedBytes = messageStoredBytes(message.sizeBytes, parts.length, metadata, message.subject, events)
    const { lastInsertRowid: number } = addMessage.run(
      message.id,
      message.organizationId,
      message.domainId,
      message.keyId,
      message.mode,
      message.source,
      message.status,
      message.from,
      senderAddressOf(message.from),
      packRecipients(message),
      message.subject,
      JSON.stringify(message.tags),
      metadata,
      message.templateId,
      message.sizeBytes,
      message.messageIdHeader,
      message.createdAt,
      message.scheduledAt,
      message.expiresAt,
      Number(message.requireTls),
      Number(message.unsubscribe),
      Number(message.trackOpens),
      Number(message.trackClicks),
      storedBytes,
      message.stream,
    )
    if (message.status === 'scheduled') inside.usage.add(message.organizationId, 'scheduled_messages', 1)
    inside.storedBytes.change('messages', number, message.organizationId, storedBytes)
    addContent.run(number, inside.parts.first(packed))
    inside.parts.addRest('content', number, packed)
    if (rest.redactAfterMs !== undefined) {
      const { redactAfterMs } = rest
      addRedaction.run(number, redactAfterMs, (message.scheduledAt ?? message.createdAt) + redactAfterMs)
    }
    for (const tag of message.tags) addTag.run(message.organizationId, tag, number)
    const numbers = new Map<string, number | bigint>()
    for (const part of parts) {
      const sender = { stream: message.stream, pool: rest.pool, domain: rest.relayedDomain }
      const queue = queueOf(part.destination, message.organizationId, sender)
      const { lastInsertRowid } = addDelivery.run(
        part.id,
        number,
        part.position,
        part.email,
        suppressionKey(part.email),
        part.type,
        queue,
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
      if (part.nextAttemptAt !== null) inside.dueIndex.offer(queue, part.nextAttemptAt)
    }
    inside.counters.accepted(message, parts)
    for (const { deliveryId, attempt } of rest.attempts) {
      const number = numbers.get(deliveryId)
      if (number === undefined) throw new Error(`attempt of ${deliveryId}, which is not a delivery of ${message.id}`)
      inside.addAttempt(number, attempt)
    }
    if (isAcceptanceNamed) for (const part of parts) inside.onDemand.offer(acceptedEvent(message, part))
    for (const event of rest.events) inside.append(event)
    for (const suppression of rest.suppressions) inside.suppress(suppression)
  }
}
