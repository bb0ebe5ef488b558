import type { Event, EventType } from '../../model/event.ts'
import type { LimitReached } from '../../model/limits.ts'
import type { Mode } from '../../model/message.ts'
import type { Page, PageRequest, TimeRange } from './paging.ts'

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
  /** Oldest first, all that were written after the event `after` (null = from the beginning), without gaps.
   *  Null when that event is unknown. */
  feed(filter: EventFilter, after: string | null, limit: number): Promise<Page<Event> | null>
  /** For those who follow: what was written behind a place, oldest first. Twice the same question is answered by the same
   *  events, and by those that came since. */
  follow(filter: EventFilter, behind: Place, limit: number): Promise<Followed>
  /** Where an event stands; null when it is unknown. */
  place(id: string): Promise<Place | null>
  /** The newest event of an organization; null when there is none. */
  newest(organizationId: string): Promise<{ id: string; place: Place } | null>
}

/** A place in the order in which events were written, all organizations together. It goes up, with gaps, and none comes
 *  back; 0 is before the first. Only good within the process: outside, an event's id says where it stands. */
export type Place = number

/** `upTo`: no event of the filter stands between those that were answered and that place, which is the next to ask for. */
export interface Followed {
  events: (Event & { place: Place })[]
  upTo: Place
}
