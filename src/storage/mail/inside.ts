import type { Event } from '../../model/event.ts'
import type { SigningRoute } from '../../model/inbound-route.ts'
import type { Message } from '../../model/message.ts'
import type { Plan } from '../../model/organization.ts'
import type { SuppressionReason } from '../../model/suppression.ts'
import type { SigningWebhook, Webhook } from '../../model/webhook.ts'
import type { MailCounts } from '../mail-counts.ts'
import type { Work } from '../sql.ts'
import type { EventKinds } from './event-kinds.ts'
import type { PendingFanOuts } from './pending-fan-outs.ts'
import type { QueueName } from './queue-tables.ts'

/** Tables with numbers of their own. */
export type Numbered =
  | 'messages'
  | 'deliveries'
  | 'events'
  | 'webhook_deliveries'
  | 'fan_out_targets'
  | 'reports'
  | 'claims'
  | 'large_contents'
  | 'inbound_raws'
  | 'inbound_messages'
  | 'inbound_deliveries'

/** A counter of an organization. `period`: a month, a day, or '' for all time. */
export interface Counted {
  organizationId: string
  counter:
    | 'volume' // recipients accepted for live sending
    | 'test_messages'
    | 'scheduled_messages'
    | 'stored_bytes'
    | 'stored_bytes_count' // of a recount of SQLite in progress (sqlite/stored-bytes.ts)
    | 'suppressions'
    | 'confirmation_mails'
    | 'forwards'
  period: string
}

/** Where bytes are stored. `answers`: responses stored for idempotency. */
export type StoredSource = 'templates' | 'answers'

export interface StoredRow {
  organizationId: string
  /** `ctid` of the row; null = that of the last insertion. A recount of SQLite needs it, which goes by row numbers. */
  place: unknown
  /** Negative for a removed row. */
  bytes: number
}

/** How much one step of removal does at most. SQLite holds the thread for it, and PostgreSQL locks rows. */
interface Pace {
  /** Records read at once. */
  slice: number
  /** Records removed at once: between them a step looks at the time. */
  together: number
  /** Content, which the commit overwrites; the caller's time limit does not cover the commit. */
  bytes: number
  /** Parts of large contents. */
  parts: number
  /** Deliveries to webhooks. */
  posts: number
}

/** What works on mail use beside statements: the same in each database. */
export interface MailInside {
  /** The next number of a table. They are known before the rows are written, so that no row waits for its parent's. */
  next(table: Numbered): number
  /** Counts of the transaction, which are written at its end. */
  counts: Pick<MailCounts, 'accepted' | 'reached' | 'event'>
  use(organizationId: string, counter: Counted['counter'], by: number, period: string): void
  /** A row with stored bytes was written, or removed (`bytes` negative). `place`: number of the message, or `ctid` of the
   *  row; null = that of the last insertion. */
  stored(source: 'messages' | 'inbound' | StoredSource, place: unknown, organizationId: string, bytes: number): void
  planOf(organizationId: string): Plan
  /** Counters → what was used of each, with what this transaction used. Other transactions that ask about one of these
   *  organizations wait until this one ends. */
  usedOf(counted: readonly Counted[]): Work<number[]>
  /** Part of the key of counters: writers at the same time do not wait for each other's. */
  writer(): number
  routes: { get(id: string): SigningRoute | null }
  webhooks: { get(id: string): SigningWebhook | null; activeOf(organizationId: string): readonly Webhook[] }
  /** This transaction pauses the webhook: it receives no event that is written after this. */
  pausing(webhookId: string): void
  /** An event was written. */
  noted(event: Event): void
  kinds: EventKinds
  /** A suppression was written. */
  suppressed(reason: SuppressionReason): void
  fanOut: {
    /** Whether that many deliveries to webhooks may be written with their events. */
    takes(organizationId: string, count: number): boolean
    /** Organizations whose deliveries wait behind others. */
    pending: PendingFanOuts
    /** Number of the set of webhooks that are subscribed now; the first time in a transaction, `add` writes it. */
    setOf(organizationId: string, add: (number: number) => void): number
  }
  /** The full text of PostgreSQL; null with SQLite, which reads it later. */
  words: SearchTextsInside | null
  /** Messages were removed, or their texts changed: their words leave the full text, with SQLite later. */
  outdated(messages: readonly { number: number }[]): Work<void>
  /** For works that remove. */
  pace: Pace
  /** A key has something due, once the transaction is committed. */
  offer(queue: QueueName, key: string, at: number): void
  afterCommit(work: () => void): void
  /** Numbers of contents that were written ahead of their owner (large-contents.ts). */
  writtenAhead: WeakMap<Uint8Array, number>
  /** So many bytes of parts of contents are about to be written. */
  writing(bytes: number): void
}

/** What the full text contains of a new message. */
export interface NewText {
  number: number
  message: Message
  emails: readonly string[]
}

/** Writes the full text of new messages. */
export interface SearchTextsInside {
  add(texts: readonly NewText[], afterCommit: MailInside['afterCommit']): Work<void>
  /** After messages of an organization from before a time were removed, ms UTC: removes what the full text notes about
   *  times of which it has no message any more. */
  removed(organizationId: string, before: number): Work<void>
}

/** What works on mail use, in the present transaction. */
export function* insideMail(): Work<MailInside> {
  return (yield { wants: 'mail' }) as MailInside // what both runners give for 'mail'
}
