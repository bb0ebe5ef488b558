import { createHash } from 'node:crypto'
import type { Event } from '../model/event.ts'
import { concerns, type Webhook } from '../model/webhook.ts'
import { derivedId } from '../os/ids.ts'

/** Deliveries of one organization written with their events in one transaction: about 24 µs each, so 6 ms. */
const INLINE_OF_ORGANIZATION = 250
/** The same for all organizations. */
const INLINE = 500

/** A webhook as it was when an event happened. */
export type Target = Pick<Webhook, 'id' | 'events' | 'mode' | 'domainId'>

/** Event → whether a webhook receives it. */
export const isFor = (event: Pick<Event, 'type' | 'mode' | 'domainId'>) => (webhook: Target) =>
  webhook.events.includes(event.type) && concerns(webhook, event)

/** ID of the delivery of one event to one webhook, derived from both, so that repeating the fan-out changes nothing.
 *  A replay is another delivery of the same event and adds its time. */
export function webhookDeliveryId(eventId: string, webhookId: string, replayedAt?: number): string {
  const digest = createHash('sha256')
    .update(`${eventId} ${webhookId} ${replayedAt ?? 'first'}`)
    .digest()
  return derivedId('whd', eventId, digest)
}

/** Counts the deliveries that are written with their events in one transaction. */
export interface InlineBudget {
  /** True if that many more fit into this transaction; then counts them. Once they do not fit, no more of the organization
   *  do, so that nothing overtakes. */
  takes(organizationId: string, count: number): boolean
  /** A transaction begins. */
  begin(): void
}

export function createInlineBudget(): InlineBudget {
  let written = 0
  const writtenOf = new Map<string, number>()
  return {
    takes: (organizationId, count) => {
      const before = writtenOf.get(organizationId) ?? 0
      if (before + count > INLINE_OF_ORGANIZATION || written + count > INLINE) {
        writtenOf.set(organizationId, INLINE_OF_ORGANIZATION)
        return false
      }
      writtenOf.set(organizationId, before + count)
      written += count
      return true
    },
    begin: () => {
      written = 0
      writtenOf.clear()
    },
  }
}
