import { createHash } from 'node:crypto'
import type { Event } from '../../model/event.ts'
import { derivedId } from '../../platform/ids.ts'
import type { Agenda } from './agenda.ts'
import type { Connection } from './driver.ts'
import type { WebhookCache } from './webhooks.ts'

const APPEND = `insert into events (id, type, organization_id, domain_id, message_id, mode, created_at, body)
  values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do nothing`
const DELIVER = `insert into webhook_deliveries (id, webhook_id, event_number, type, status, attempts, next_attempt_at, created_at)
  values (?, ?, ?, ?, 'pending', 0, ?, ?) on conflict do nothing`

/** Writes an event and one pending delivery for each active webhook that subscribed to its kind, inside the
 *  change that caused it. `onlyWebhook`: to that one, whatever it subscribed to. An event that is there already
 *  was fanned out then: nothing happens. */
export type AppendInside = (event: Event, onlyWebhook?: string) => void

export function appendInside(db: Connection, webhooks: WebhookCache, agenda: Agenda): AppendInside {
  const append = db.prepare(APPEND)
  const deliver = db.prepare(DELIVER)
  const targetsOf = ({ organizationId, type }: Event, onlyWebhook: string | undefined) => {
    if (onlyWebhook === undefined) return webhooks.activeOf(organizationId).filter((each) => each.events.includes(type))
    const only = webhooks.get(onlyWebhook)
    return only === null ? [] : [only]
  }
  return (event, onlyWebhook) => {
    const { id, type, organizationId, domainId, messageId, mode, createdAt, body } = event
    const written = append.run(id, type, organizationId, domainId, messageId, mode, createdAt, body)
    if (written.changes === 0) return
    for (const webhook of targetsOf(event, onlyWebhook)) {
      deliver.run(webhookDeliveryId(id, webhook.id), webhook.id, written.lastInsertRowid, type, createdAt, createdAt)
      agenda.offer(webhook.id, createdAt)
    }
  }
}

/** The id of one event for one webhook follows from both, so that fanning out twice changes nothing; a replay
 *  is another delivery of the same event and adds its time. */
export function webhookDeliveryId(eventId: string, webhookId: string, replayedAt?: number): string {
  const digest = createHash('sha256')
    .update(`${eventId} ${webhookId} ${replayedAt ?? 'first'}`)
    .digest()
  return derivedId('whd', eventId, digest)
}
