import { createHash } from 'node:crypto'
import type { Event } from '../../model/event.ts'
import type { Telling } from '../../model/stats.ts'
import { derivedId } from '../../platform/ids.ts'
import type { Agenda } from './agenda.ts'
import type { Connection } from './driver.ts'
import type { EventKinds } from './event-kinds.ts'
import type { Tally } from './tally.ts'
import type { WebhookCache } from './webhooks.ts'

const APPEND = `insert into events (id, type, organization_id, domain_id, message_id, mode, created_at, body)
  values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do nothing`
const DELIVER = `insert into webhook_deliveries (id, webhook_id, event_number, type, status, attempts, next_attempt_at, created_at)
  values (?, ?, ?, ?, 'pending', 0, ?, ?) on conflict do nothing`

/** Writes an event, counts it, and writes one pending delivery for each active webhook that subscribed to its kind,
 *  inside the change that caused it. An event that is there already was fanned out then: nothing happens. */
export type AppendInside = (event: Event, how?: Telling & Only) => void

/** To that webhook, whatever it subscribed to, and not counted: nothing has happened. */
interface Only {
  onlyWebhook?: string | undefined
}

export function appendInside(
  db: Connection,
  { webhooks, agenda, tally, kinds }: { webhooks: WebhookCache; agenda: Agenda; tally: Tally; kinds: EventKinds },
): AppendInside {
  const append = db.prepare(APPEND)
  const deliver = db.prepare(DELIVER)
  const targetsOf = ({ organizationId, type }: Event, onlyWebhook: string | undefined) => {
    if (onlyWebhook === undefined) return webhooks.activeOf(organizationId).filter((each) => each.events.includes(type))
    const only = webhooks.get(onlyWebhook)
    return only === null ? [] : [only]
  }
  return (event, how = {}) => {
    const { id, type, organizationId, domainId, messageId, mode, createdAt, body } = event
    const written = append.run(id, type, organizationId, domainId, messageId, mode, createdAt, body)
    if (written.changes === 0) return
    kinds.note(event, written.lastInsertRowid)
    if (how.onlyWebhook === undefined) tally.event(event, how)
    for (const webhook of targetsOf(event, how.onlyWebhook)) {
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
