import type { BounceType, Outcome } from './delivery.ts'
import type { EventType } from './event-types.ts'
import { type Message, type Mode, TRANSACTIONAL } from './message.ts'
import type { Suppression } from './suppression.ts'

export {
  EVENT_TYPES,
  type EventType,
  isOnDemand,
  ON_DEMAND_EVENT_TYPES,
  type OnDemandEventType,
  STANDARD_EVENT_TYPES,
} from './event-types.ts'

/** An event for webhooks. `body` is the posted JSON envelope, byte-identical at each attempt. */
export interface Event {
  id: string
  type: EventType
  organizationId: string
  /** Null = it concerns no single domain, and those of every domain see it. WHOLE_ORGANIZATION = only those that see all
   *  domains do. */
  domainId: string | null
  messageId: string | null
  mode: Mode
  createdAt: number
  body: string
}

/** Domain of an event that keys and webhooks of one domain do not see. */
export const WHOLE_ORGANIZATION = ''

/** Type, data and time → the event with its JSON envelope: `id`, `type`, `timestamp`, `data`. */
export function createEvent(event: Omit<Event, 'body'>, data: Record<string, unknown>): Event {
  const timestamp = iso(event.createdAt)
  return { ...event, body: JSON.stringify({ id: event.id, type: event.type, timestamp, data }) }
}

/** The message fields that an event contains. */
export type MessageFacts = Pick<
  Message,
  'id' | 'organizationId' | 'domainId' | 'mode' | 'from' | 'subject' | 'metadata' | 'tags'
> &
  Partial<Pick<Message, 'stream'>>

/** An event about one recipient of a message: the common fields, then those of its type. */
export function messageEvent(
  id: string,
  type: EventType,
  message: MessageFacts,
  to: string,
  at: number,
  fields: Record<string, unknown>,
): Event {
  const { organizationId, domainId, mode } = message
  return createEvent(
    { id, type, organizationId, domainId, messageId: message.id, mode, createdAt: at },
    { ...recipientData(message, to), ...fields },
  )
}

/** The fields that every event about a recipient contains. */
export function recipientData(
  { id, from, subject, metadata, tags, mode, stream = TRANSACTIONAL }: MessageFacts,
  to: string,
) {
  const general = { message_id: id, from, to, subject, metadata, tags, mode }
  return stream === TRANSACTIONAL ? general : { ...general, stream }
}

/** Outcome of an attempt → the fields of each event that reports it, in order. `bounceNow`: the deferral is also the
 *  first soft bounce of this delivery. */
export function outcomeEvents(
  outcome: Outcome,
  facts: { at: number; attempt: number; nextAttemptAt: number | null; response: string; bounceNow: boolean },
): { type: EventType; fields: Record<string, unknown> }[] {
  const at = iso(facts.at)
  switch (outcome.kind) {
    case 'delivered':
      return [{ type: 'message.delivered', fields: { delivered_at: at, smtp_response: facts.response } }]
    case 'bounced':
      return [bounced(outcome.bounceType, outcome.code, outcome.message, at, false)]
    case 'deferred':
    case 'unknown': {
      const deferred = {
        type: 'message.deferred' as const,
        fields: {
          deferred_at: at,
          attempt: facts.attempt,
          next_attempt_at: facts.nextAttemptAt === null ? null : iso(facts.nextAttemptAt),
          smtp_response: facts.response,
        },
      }
      return facts.bounceNow ? [deferred, bounced('soft', outcome.code, outcome.message, at, true)] : [deferred]
    }
  }
}

/** Time of acceptance, or when an attempt was due (ms UTC), and suppression → the event of a recipient that gets no delivery
 *  attempt, or no further one. `stream` is the message's, as in other events. */
export function suppressedEvent(at: number, { reason, stream }: Pick<Suppression, 'reason' | 'stream'>) {
  const fields = { suppressed_at: iso(at), reason, suppression_stream: stream }
  return { type: 'message.suppressed' as const, fields }
}

/** Time (ms UTC) → the event of a recipient whose message was not delivered within its `expires_in`. */
export function expiredEvent(at: number) {
  return { type: 'message.expired' as const, fields: { expired_at: iso(at) } }
}

function bounced(type: BounceType, code: string, message: string, at: string, willRetry: boolean) {
  return {
    type: 'message.bounced' as const,
    fields: {
      bounce_type: type,
      bounce_code: code,
      bounce_message: message,
      bounced_at: at,
      will_retry: willRetry,
    },
  }
}

/** Milliseconds UTC → ISO 8601 with milliseconds and `Z`, the only time format of the API and of events. */
export function iso(at: number): string {
  return new Date(at).toISOString()
}
