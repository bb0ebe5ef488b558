import type { Event } from '../../model/event.ts'
import type { CountingContext } from '../../model/stats.ts'
import type { Suppression } from '../../model/suppression.ts'
import type { OnDemandEvents } from '../fan-out-targets.ts'
import type { AcceptedMessage, Remember } from '../store.ts'
import type { NewContent } from './contents.ts'
import type { Engaged, Mark, OutcomeRow } from './outcomes.ts'
import type { Statements } from './transactions.ts'
import type { Counter } from './usage.ts'

/** What the changes of a group add: collected, and written together at the end of their transaction. */
export interface Additions {
  /** An accepted message with everything that is written with it. */
  message(accepted: AcceptedMessage): void
  /** Writes an event, counts it, and writes one pending delivery for each active webhook that subscribed to its type.
   *  The caller knows that there is no event with this ID. `onlyWebhook` limits the deliveries to one webhook,
   *  whatever its subscriptions, without counting the event. An on-demand event that no active webhook receives is not
   *  written. */
  append(event: Event, how?: CountingContext & { onlyWebhook?: string | undefined }): void
  onDemand: OnDemandEvents
  /** The change pauses a webhook: it receives no event that is written after this. */
  pausing(webhookId: string): void
  /** True if a change of the group, before this, pauses the webhook. */
  isPausing(webhookId: string): boolean
  /** A content of an inbound mail. */
  content(content: NewContent): void
  /** The state of a delivery after something happened to it. */
  outcome(row: OutcomeRow): void
  mark(mark: Mark): void
  /** Opens and clicks to add; at most once for each delivery in a group. */
  engage(engaged: Engaged): void
  /** Writes a suppression and its event, unless there is one already. */
  suppress(suppression: Suppression): void
  use(organizationId: string, counter: Counter, by: number, period?: string): void
  /** Sum of `use` in this group. */
  used(organizationId: string, counter: Counter, period?: string): number
  remember(record: Remember | undefined): void
  /** Runs once the group is committed. */
  afterCommit(work: () => void): void
}

/** The transaction of a group of changes. */
export interface Group {
  statements: Statements
  add: Additions
}

/** How changes of one kind are performed. Everything of a group that has the same Kind is performed at once, and the
 *  kinds beside each other: their statements share round trips. */
export interface Kind<Change, Result> {
  /** Beside changes that are performed alone, these keep to the order of the calls too. */
  isOrdered?: boolean
  /** Performs the changes → the result of each, in order. */
  perform(group: Group, changes: readonly Change[]): Promise<readonly Result[]>
}

/** Writes mail and what becomes of it, in groups. */
export interface MailLane {
  /** Writes the change in the next group → its result, once that is committed. Rejects as WriteLane.write. */
  write<Change, Result>(kind: Kind<Change, Result>, change: Change): Promise<Result>
  /** The same for a change that is performed alone, before what has a Kind, and in the order of the calls. */
  perform<Result>(work: (group: Group) => Promise<Result>): Promise<Result>
  /** Resolves when every change that was begun before is decided; null if there is none. */
  settled(): Promise<void> | null
  /** Writes what waits, then closes the connection. */
  close(): Promise<void>
}
