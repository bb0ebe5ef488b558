import type { heldRecords } from './records/held.ts'
import type { recordRoles } from './records/roles.ts'
import type { Contents } from './roles/contents.ts'
import type { Deliveries } from './roles/deliveries.ts'
import type { Events } from './roles/events.ts'
import type { Inbound } from './roles/inbound.ts'
import type { InboundDeliveries } from './roles/inbound-deliveries.ts'
import type { Messages } from './roles/messages.ts'
import type { Leases, Nodes, Rates, SharedCertificates, Workers } from './roles/nodes.ts'
import type { Queues } from './roles/queues.ts'
import type { Snapshot } from './roles/snapshot.ts'
import type { Stats } from './roles/stats.ts'
import type { WebhookDeliveries } from './roles/webhook-deliveries.ts'

export type { Remember } from '../model/idempotency.ts'
export { AlreadyRemembered, StoreDamaged, StoreUnavailable } from './errors.ts'
export type { QueueName } from './mail/queue-tables.ts'
export { NodeParts } from './node-parts.ts'
export type { Page, PageRequest, RecordsRequest, TimeRange } from './page.ts'
export type { AddressCount } from './records/address-uses.ts'
export type { AuditNote } from './records/audit-log.ts'
export type { DomainChange, DomainCheck } from './records/domain-ownership.ts'
export type { DkimChange } from './records/domains.ts'
export type { ReportPeriod } from './records/policy-reports.ts'
export type { Access } from './records/single-sign-on.ts'
export type { ListedTemplate, ListedTemplateVersion, TemplateRef } from './records/templates.ts'
export type * from './roles/claims.ts'
export type * from './roles/contents.ts'
export type * from './roles/deliveries.ts'
export type * from './roles/events.ts'
export type * from './roles/inbound.ts'
export type * from './roles/inbound-deliveries.ts'
export type * from './roles/messages.ts'
export type * from './roles/nodes.ts'
export type * from './roles/queues.ts'
export type * from './roles/snapshot.ts'
export type * from './roles/stats.ts'
export type * from './roles/suppressions.ts'
export type * from './roles/webhook-deliveries.ts'

/** What survives a power cut. Promises of every role, kept by every backend and proved by test/storage/contract.ts:
 *
 *  1. A method is one transaction: all of it is there after the promise resolves, none of it after it rejects.
 *     Resolved means durable: it is on the disk, not in a buffer.
 *  2. No method hands out a transaction, a row id, a statement or an error of the database. An expected "no" is a value.
 *     What is thrown means: nothing was written. `StoreUnavailable` says that it may work later (disk full, busy).
 *  3. No method reads the clock or makes an id; both are parameters.
 *  4. A claim counts the attempt and names its worker before anything is tried. The lease ends with a record, when it is
 *     given back, or with its worker; no clock ends it.
 *  5. Events and their webhook deliveries are written with the change that causes them, or not at all.
 *  6. No statement walks a backlog: the cost of a claim does not depend on how much is waiting.
 *  7. Twice is harmless: a record for a lease that has ended changes nothing and says so. */
export interface Store extends ReturnType<typeof recordRoles> {
  snapshot: Snapshot
  messages: Messages
  contents: Contents
  deliveries: Deliveries
  events: Events
  webhookDeliveries: WebhookDeliveries
  inbound: Inbound
  inboundDeliveries: InboundDeliveries
  queues: Queues
  workers: Workers
  nodes: Nodes
  leases: Leases
  /** Null if this process is the only one. */
  rates: Rates | null
  /** The same; then the certificate is in the data directory. */
  certificates: SharedCertificates | null
  held: ReturnType<typeof heldRecords>
  stats: Stats
  /** A maintenance step of the backend, of some milliseconds; true while there is more of it. `recent` catches up with
   *  what was written (the full text of recent messages becomes searchable). `removed` gives back the space of what retention
   *  removed, for quiet moments; it asks `timeIsUp` when it begins and after each piece of work. `ended` tidies up what
   *  processes left that ended. */
  maintain(what: 'recent' | 'removed' | 'ended', timeIsUp: () => boolean): Promise<boolean>
  /** Rejects with StoreUnavailable if the store cannot write at present. */
  checkWritable(): Promise<void>
  /** Finishes pending writes, then closes the files. */
  close(): Promise<void>
}
