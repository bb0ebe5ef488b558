import type { Event, EventType } from '../../model/event.ts'
import type { LimitReached } from '../../model/limits.ts'
import type { Mode } from '../../model/message.ts'
import type { Page, PageRequest, TimeRange } from '../page.ts'

export interface EventFilter extends TimeRange {
  organizationId: string
  type: EventType | null
  messageId: string | null
  domainId: string | null
  /** Events of that domain, and those that concern no single domain; absent or null = all. */
  reach?: string | null
  mode: Mode | null
}

export interface Events {
  /** Writes events and their webhook deliveries. `onlyWebhook` limits the fan-out to one webhook. */
  append(events: Event[], onlyWebhook?: string): Promise<void>
  /** A sample event for one webhook, whatever it subscribed to; counts as a test message. */
  appendSample(event: Event, webhookId: string, month: string): Promise<'appended' | LimitReached>
  get(id: string): Promise<Event | null>
  list(filter: EventFilter, page: PageRequest): Promise<Page<Event>>
  /** Events written after the event `after` (null = from the beginning), oldest first, without gaps. Null if that
   *  event is unknown. */
  feed(filter: EventFilter, after: string | null, limit: number): Promise<Page<Event> | null>
  /** For followers: events written after a place, oldest first. Repeating the call returns the same events, and
   *  later ones. */
  follow(filter: EventFilter, behind: Place, limit: number): Promise<Followed>
  /** Place of an event; null if it is unknown. */
  place(id: string): Promise<Place | null>
  /** The newest event of an organization behind which `follow` gets all later ones; null if there is none. */
  newest(organizationId: string): Promise<{ id: string; place: Place } | null>
}

/** Position in the order in which events of all organizations were written. It increases, with gaps, and is never
 *  reused; of two, the lower text comes first, and '' before every event. Outside, an event's ID identifies its position. */
export type Place = string

/** `upTo`: the place to continue from. No further matching event was written up to it. */
export interface Followed {
  events: (Event & { place: Place })[]
  upTo: Place
}
