import type { AddressRests } from './roles/address-rests.ts'
import type { Alerts } from './roles/alerts.ts'
import type { ApiKeys } from './roles/api-keys.ts'
import type { AuditLog } from './roles/audit-log.ts'
import type { BlockedLinks } from './roles/blocked-links.ts'
import type { Canaries } from './roles/canaries.ts'
import type { SharedCertificates } from './roles/certificates.ts'
import type { Contents } from './roles/contents.ts'
import type { DedicatedAddresses } from './roles/dedicated-addresses.ts'
import type { Deliveries } from './roles/deliveries.ts'
import type { Domains } from './roles/domains.ts'
import type { Erasures } from './roles/erasures.ts'
import type { Events } from './roles/events.ts'
import type { Factors } from './roles/factors.ts'
import type { ForwardTargets } from './roles/forward-targets.ts'
import type { Held } from './roles/held.ts'
import type { IdempotencyRecords } from './roles/idempotency.ts'
import type { Inbound } from './roles/inbound.ts'
import type { InboundDeliveries } from './roles/inbound-deliveries.ts'
import type { InboundRoutes } from './roles/inbound-routes.ts'
import type { Invitations } from './roles/invitations.ts'
import type { Leases } from './roles/leases.ts'
import type { Messages } from './roles/messages.ts'
import type { MtaStsPolicies } from './roles/mta-sts-policies.ts'
import type { Nodes } from './roles/nodes.ts'
import type { Organizations } from './roles/organizations.ts'
import type { PolicyReports } from './roles/policy-reports.ts'
import type { Quality } from './roles/quality.ts'
import type { Queues } from './roles/queues.ts'
import type { Rates } from './roles/rates.ts'
import type { Relays } from './roles/relays.ts'
import type { Retention } from './roles/retention.ts'
import type { Sessions } from './roles/sessions.ts'
import type { SingleSignOn } from './roles/single-sign-on.ts'
import type { Snapshot } from './roles/snapshot.ts'
import type { Stats } from './roles/stats.ts'
import type { Suppressions } from './roles/suppressions.ts'
import type { Templates } from './roles/templates.ts'
import type { TlsSessions } from './roles/tls-sessions.ts'
import type { UsageCounts } from './roles/usage-counts.ts'
import type { Users } from './roles/users.ts'
import type { Warmups } from './roles/warmups.ts'
import type { WebhookDeliveries } from './roles/webhook-deliveries.ts'
import type { Webhooks } from './roles/webhooks.ts'
import type { Workers } from './roles/workers.ts'

export { AlreadyRemembered, StoreDamaged, StoreUnavailable } from './errors.ts'
export type * from './roles/address-rests.ts'
export type * from './roles/alerts.ts'
export type * from './roles/api-keys.ts'
export type * from './roles/audit-log.ts'
export type * from './roles/blocked-links.ts'
export type * from './roles/canaries.ts'
export type * from './roles/certificates.ts'
export type * from './roles/claims.ts'
export type * from './roles/contents.ts'
export type * from './roles/dedicated-addresses.ts'
export type * from './roles/deliveries.ts'
export type * from './roles/domains.ts'
export type * from './roles/erasures.ts'
export type * from './roles/events.ts'
export type * from './roles/factors.ts'
export type * from './roles/forward-targets.ts'
export type * from './roles/held.ts'
export type * from './roles/idempotency.ts'
export type * from './roles/inbound.ts'
export type * from './roles/inbound-deliveries.ts'
export type * from './roles/inbound-routes.ts'
export type * from './roles/invitations.ts'
export type * from './roles/leases.ts'
export type * from './roles/messages.ts'
export type * from './roles/mta-sts-policies.ts'
export type * from './roles/nodes.ts'
export type * from './roles/organizations.ts'
export type * from './roles/paging.ts'
export type * from './roles/policy-reports.ts'
export type * from './roles/quality.ts'
export type * from './roles/queues.ts'
export type * from './roles/rates.ts'
export type * from './roles/relays.ts'
export type * from './roles/retention.ts'
export type * from './roles/sessions.ts'
export type * from './roles/single-sign-on.ts'
export type * from './roles/snapshot.ts'
export type * from './roles/stats.ts'
export type * from './roles/suppressions.ts'
export type * from './roles/templates.ts'
export type * from './roles/tls-sessions.ts'
export type * from './roles/usage-counts.ts'
export type * from './roles/users.ts'
export type * from './roles/warmups.ts'
export type * from './roles/webhook-deliveries.ts'
export type * from './roles/webhooks.ts'
export type * from './roles/workers.ts'

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
export interface Store {
  snapshot: Snapshot
  organizations: Organizations
  usage: UsageCounts
  domains: Domains
  blockedLinks: BlockedLinks
  dedicatedAddresses: DedicatedAddresses
  warmups: Warmups
  addressRests: AddressRests
  relays: Relays
  apiKeys: ApiKeys
  users: Users
  factors: Factors
  invitations: Invitations
  singleSignOn: SingleSignOn
  sessions: Sessions
  messages: Messages
  contents: Contents
  deliveries: Deliveries
  events: Events
  suppressions: Suppressions
  templates: Templates
  webhooks: Webhooks
  webhookDeliveries: WebhookDeliveries
  inboundRoutes: InboundRoutes
  inbound: Inbound
  forwardTargets: ForwardTargets
  inboundDeliveries: InboundDeliveries
  queues: Queues
  workers: Workers
  nodes: Nodes
  leases: Leases
  /** Null if this process is the only one. */
  rates: Rates | null
  /** The same; then the certificate is in the data directory. */
  certificates: SharedCertificates | null
  held: Held
  stats: Stats
  quality: Quality
  alerts: Alerts
  canaries: Canaries
  mtaSts: MtaStsPolicies
  tlsSessions: TlsSessions
  policyReports: PolicyReports
  retention: Retention
  erasures: Erasures
  idempotency: IdempotencyRecords
  auditLog: AuditLog
  /** A named secret of this installation, created from `fresh` on first use. */
  secret(name: string, fresh: Uint8Array): Promise<Uint8Array>
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
