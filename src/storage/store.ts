import type { ApiKey } from '../model/api-key.ts'
import type { AuditEntry } from '../model/audit-entry.ts'
import type { BlockedLink } from '../model/blocked-link.ts'
import type { Attempt, BounceType, Delivery, Outcome, RecipientType } from '../model/delivery.ts'
import type {
  DkimKeyRecord,
  DkimState,
  Domain,
  DomainStatus,
  FailureReason,
  Finding,
  Proof,
  Tracking,
} from '../model/domain.ts'
import type { Event, EventType } from '../model/event.ts'
import type { AskResult, ForwardTargetStatus } from '../model/forward-target.ts'
import type { InboundDelivery, InboundDeliveryStatus, InboundMessage } from '../model/inbound-message.ts'
import type { InboundRoute } from '../model/inbound-route.ts'
import type { LimitReached } from '../model/limits.ts'
import type { DeliveryStatus, Message, MessageStatus, Mode } from '../model/message.ts'
import type { KeptMtaSts } from '../model/mta-sts.ts'
import type { Organization } from '../model/organization.ts'
import type { PostAttempt } from '../model/post-attempt.ts'
import type { QualityAlert, QualityFigures } from '../model/quality.ts'
import type { Report } from '../model/report.ts'
import type { Session } from '../model/session.ts'
import type { Counts } from '../model/stats.ts'
import type { Suppression, SuppressionReason } from '../model/suppression.ts'
import type { Template, TemplateContent, TemplateVersion } from '../model/template.ts'
import type { TlsCount } from '../model/tls-session.ts'
import type { Unsubscribable } from '../model/unsubscribable.ts'
import type {
  Webhook,
  WebhookDelivery,
  WebhookDeliveryStatus,
  WebhookFormat,
  WebhookSecrets,
} from '../model/webhook.ts'

/** What survives a power cut. Promises of every role, kept by every backend and proved by test/storage/contract.ts:
 *
 *  1. A method is one transaction: all of it is there after the promise resolves, none of it after it rejects.
 *     Resolved means durable: it is on the disk, not in a buffer.
 *  2. No method hands out a transaction, a row id, a statement or an error of the database. An expected "no" is a value.
 *     What is thrown means: nothing was written. `StoreUnavailable` says that it may work later (disk full, busy).
 *  3. No method reads the clock or makes an id; both are parameters.
 *  4. A claim counts the attempt and sets the next time before anything is tried, as a lease with owner and end.
 *     A process that died is an ended lease.
 *  5. Events and their webhook deliveries are written with the change that causes them, or not at all.
 *  6. No statement walks a backlog: the cost of a claim does not depend on how much is waiting.
 *  7. Twice is harmless: a record for a lease that has ended changes nothing and says so. */
export interface Store {
  organizations: Organizations
  usage: UsageCounts
  domains: Domains
  blockedLinks: BlockedLinks
  apiKeys: ApiKeys
  sessions: Sessions
  messages: Messages
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
  held: Held
  stats: Stats
  quality: Quality
  mtaSts: MtaStsPolicies
  tlsSessions: TlsSessions
  retention: Retention
  idempotency: IdempotencyRecords
  auditLog: AuditLog
  /** A named secret of this installation, made from `fresh` the first time it is asked for. */
  secret(name: string, fresh: Uint8Array): Promise<Uint8Array>
  /** Brings the full text of recent messages into the search index, a small batch a call; true while more waits. */
  indexForSearch(): Promise<boolean>
  /** Rejects with StoreUnavailable when nothing can be written at present. */
  checkWritable(): Promise<void>
  /** Waits for what is being written, then lets go of the files. */
  close(): Promise<void>
}

/** What organizations have used of the limits of their plans, where it is not counted by looking (model/limits.ts). */
export interface UsageCounts {
  /** Of test recipients and forwards in the month and the day of `now`; the rest in all. */
  of(
    organizationId: string,
    now: number,
  ): Promise<Record<'storedBytes' | 'testMessages' | 'forwards' | 'scheduledMessages' | 'suppressions', number>>
  /** Whether nothing more may be stored for an organization. Synchronous: asked for at every RCPT. */
  isStorageFull(organizationId: string): boolean
  /** Whether so many recipients more may be forwarded to now: null, or the limit. Synchronous, like that. */
  forwardsReached(organizationId: string, recipients: number, now: number): LimitReached | null
  /** Begins to count all stored bytes from the beginning, to repair what went wrong; nothing while such a count is under
   *  way. */
  beginCount(): Promise<void>
  /** A step of a count under way, some milliseconds; true while there is more of it. */
  countSome(): Promise<boolean>
  /** Forgets at most `limit` counts of days that are long over; answers how many went. */
  prune(now: number, limit: number): Promise<number>
}

/** What waits, over all organizations, for whoever watches the house. */
export interface Queues {
  /** By queue, at `now` (ms UTC). Other work has its turns meanwhile, so what moves while it is counted may be missed or
   *  counted twice. */
  waiting(now: number): Promise<Record<'deliveries' | 'webhookDeliveries' | 'inboundDeliveries', Waiting>>
}

export interface Waiting {
  due: number
  /** Put off, scheduled, or under way. */
  later: number
  /** Null when nothing is due. */
  oldestDueAt: number | null
}

/** What a restored store does not send by itself, because it may have been sent after the backup was made. */
export interface Held {
  /** Says that this store comes from a backup. Whoever was signed in is no longer, since that may have been ended after it was
   *  made, and TLS sessions that were not reported yet are forgotten: their report may have gone. */
  noteRestored(restored: Restored): Promise<void>
  /** Takes everything that waits off its queue, and what was under way with it. For a store that nobody serves, since it walks
   *  all that waits. */
  hold(): Promise<void>
  /** Null when this store was never restored. */
  restored(): Promise<Restored | null>
  count(): Promise<Record<HeldQueue, number>>
  /** Whether any recipient of this message is held. */
  isHeld(messageId: string): Promise<boolean>
  /** Puts back what is held of a queue, each at its time and not before `now`; with `dueAfter` only what was due later than
   *  that. In many transactions: cut off, the rest is still held. Answers how much is waiting again. */
  release(queue: HeldQueue, request: { dueAfter: number | null; now: number }): Promise<number>
  /** Ends what is held without an attempt: mail is cancelled, posts have failed. In many transactions, too. */
  discard(queue: HeldQueue): Promise<number>
}

export type HeldQueue = 'deliveries' | 'webhookDeliveries' | 'inboundDeliveries'

export interface Restored {
  restoredAt: number
  /** When the backup was made. */
  madeAt: number
}

/** The store cannot write at present (disk full, locked, read-only); nothing was written. */
export class StoreUnavailable extends Error {
  /** For want of room on the disk. */
  readonly isFull: boolean
  constructor(message: string, options: ErrorOptions & { isFull?: boolean } = {}) {
    super(message, options)
    this.name = 'StoreUnavailable'
    this.isFull = options.isFull ?? false
  }
}

/** The files of the store are not what was written: mail would be missing. The message names the remedy. */
export class StoreDamaged extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreDamaged'
  }
}

/** One page of a list, newest first. `after` is the id of the last record of the page before. */
export interface PageRequest {
  limit: number
  after: string | null
}
export interface Page<T> {
  records: T[]
  hasMore: boolean
  /** The id after which the list goes on, where that is not the last record: it has looked far enough for once. */
  next?: string
}
/** Both ms UTC, null = open; the first inclusive, the second exclusive. */
export interface TimeRange {
  createdAfter: number | null
  createdBefore: number | null
}

/** A page of a list that nothing but time narrows. */
export type RecordsRequest = PageRequest & Partial<TimeRange>

/** An answer kept beside what it tells of, so that a repeated request gets the same bytes (contract §3). */
export interface Remember {
  organizationId: string
  /** SHA-256 of the Idempotency-Key. */
  keyHash: Uint8Array
  /** SHA-256 of method, operation and body. */
  requestHash: Uint8Array
  status: number
  /** Sealed by the caller where the answer shows a secret. */
  body: Uint8Array
  createdAt: number
}

export interface IdempotencyRecords {
  find(organizationId: string, keyHash: Uint8Array, since: number): Promise<Remember | null>
  /** Forgets at most `limit` records made before `before`; answers how many went. */
  prune(before: number, limit: number): Promise<number>
}

/** An action that is to be told of, and whether that is written. */
export interface AuditNote {
  /** As far as it is known when the change is made. */
  entry(): AuditEntry
  isKept: boolean
}

export interface AuditFilter extends TimeRange {
  /** Null = of all, and of the installation: for the operator alone. */
  organizationId: string | null
  actorId: string | null
  action: string | null
  resourceId: string | null
}

/** Who managed what. */
export interface AuditLog {
  /** Does `work`. The first change of this store that it makes has `note.entry()` in its transaction, so that nothing
   *  changes without its entry; `note.isKept` says afterwards whether anything changed. */
  during<T>(note: AuditNote, work: () => Promise<T>): Promise<T>
  /** Writes an entry, or tells how one that is there ended. */
  put(entry: AuditEntry): Promise<void>
  list(filter: AuditFilter, page: PageRequest): Promise<Page<AuditEntry>>
  /** Forgets at most `limit` entries from before `before`; answers how many went. */
  prune(before: number, limit: number): Promise<number>
}

export interface Organizations {
  /** `conflict` when another one has that name; nothing is written then. */
  create(organization: Organization): Promise<'created' | 'conflict'>
  get(id: string): Promise<Organization | null>
  /** The same. Synchronous: asked for at every request. */
  current(id: string): Organization | null
  /** By id or by name. */
  find(idOrName: string): Promise<Organization | null>
  list(): Promise<Organization[]>
  /** Newest first. */
  page(page: RecordsRequest): Promise<Page<Organization>>
  setPlan(id: string, plan: string): Promise<void>
  /** `conflict` when another organization has that name. */
  rename(id: string, name: string): Promise<'renamed' | 'conflict'>
}

/** How the operator of the appliance gets in: links that open once, sessions, and perhaps a password. Tokens come as
 *  SHA-256, the password as a hash that took its time. */
export interface Sessions {
  addLink(link: { tokenHash: Uint8Array; createdAt: number; expiresAt: number }): Promise<void>
  /** Uses the link up and opens the session, both or neither. `unknown` for a link that never was, was used or has
   *  expired, alike. */
  openByLink(linkHash: Uint8Array, session: Session, tokenHash: Uint8Array): Promise<'opened' | 'unknown'>
  open(session: Session, tokenHash: Uint8Array): Promise<void>
  /** Also one that has ended. Synchronous: asked for at every request. */
  findByToken(tokenHash: Uint8Array): Session | null
  get(id: string): Promise<Session | null>
  /** Those that have not ended, newest first. */
  list(now: number, page: RecordsRequest): Promise<Page<Session>>
  /** When sessions were last seen, and when they end now; what has ended meanwhile stays so. */
  recordSeen(seen: { id: string; at: number; endsAt: number }[]): Promise<void>
  /** Ends a session for good. */
  end(id: string): Promise<void>
  /** Null where there is none. */
  passwordHash(): Promise<string | null>
  /** Sets it (null: takes it away), and ends every session but `keep`. */
  setPassword(hash: string | null, keep: string | null, now: number): Promise<void>
  /** Forgets at most `limit` links and as many sessions that ended before `before`; answers how many went. */
  prune(before: number, limit: number): Promise<number>
}

/** Targets of clicks that the operator has blocked. */
export interface BlockedLinks {
  /** `conflict`: it is blocked already; `limit`: there are MOST_BLOCKED_LINKS. */
  add(link: BlockedLink): Promise<'added' | 'conflict' | 'limit'>
  get(id: string): Promise<BlockedLink | null>
  list(page: RecordsRequest): Promise<Page<BlockedLink>>
  remove(id: string): Promise<void>
  /** Whether clicks on the link must not be sent on. Synchronous and from memory. */
  isBlocked(url: string): boolean
}

export interface DomainCheck {
  status: DomainStatus
  verifiedAt: number | null
  checkedAt: number
  findings: Finding[]
  /** Left out: `dkim` for a verified domain, null for another. */
  provedBy?: Proof | null
  /** Left out: null. */
  missingSince?: number | null
  /** Left out: null. */
  reason?: FailureReason | null
  /** Left out: it stays. */
  nextCheckAt?: number | null
  /** `lastCheckedAt` of the domain that was looked at. Left out: nothing is compared. */
  since?: number | null
  /** Written with the change when the domain becomes verified (`domains_proved`) or an owned one fails (`domains_lost`). */
  audit?: Omit<AuditEntry, 'action'>
}

export interface DomainChange {
  before: DomainStatus
  after: DomainStatus
  reason: FailureReason | null
}

export interface Domains {
  /** `conflict` when it clashes with a domain of the organization, or with a verified one of any other (as `clashes`);
   *  `limit` when the organization already has `maxDomains` (-1 = any number). */
  create(domain: Domain, maxDomains: number, remember?: Remember): Promise<'created' | 'conflict' | 'limit'>
  get(id: string): Promise<Domain | null>
  /** The verified domain of that name; where nobody has proved it, the oldest claim. isOwned says which it is. */
  findByName(name: string): Promise<Domain | null>
  /** The organization's own claim of the name, whatever its status. */
  findOf(organizationId: string, name: string): Promise<Domain | null>
  /** Every claim of the name, oldest first; at most `limit`. */
  claimsOf(name: string, limit: number): Promise<Domain[]>
  /** Whether the name or a derived host (model/domain-names.ts) is the name, or a derived host, of another domain of the
   *  organization or of a verified one of another organization; with `claims` also of one that nobody has proved. The
   *  names of other organizations above and below the domain's own are no clash. */
  clashes(domain: Domain, claims: boolean): Promise<boolean>
  list(organizationId: string, page: RecordsRequest): Promise<Page<Domain>>
  count(organizationId: string): Promise<number>
  /** `conflict` as in `create`. */
  setTracking(id: string, tracking: Tracking): Promise<'changed' | 'conflict'>
  /** What a look at DNS means. In the same transaction: only one of all claims of a name becomes `verified`, the first; the
   *  others are then `failed` with reason `claimed`, and are looked at again once the name is free. Null when the domain is
   *  gone, or was looked at meanwhile (`since`). */
  recordCheck(id: string, check: DomainCheck): Promise<DomainChange | null>
  /** At most `limit` domains that are to be looked at, which are due again at `againAt` if nothing is recorded. */
  claimDue(now: number, limit: number, againAt: number): Promise<Domain[]>
  /** Domains whose proof is missing or was lost, longest first. */
  withoutProof(limit: number): Promise<Domain[]>
  addDkimKeys(id: string, keys: DkimKeyRecord[]): Promise<void>
  setDkimState(id: string, selector: string, state: DkimState): Promise<void>
  removeDkimKey(id: string, selector: string): Promise<void>
  /** Removes the domain with its keys; `in_use` while deliveries of it are still to be tried. */
  remove(id: string, now: number): Promise<'removed' | 'in_use'>
}

export interface ApiKeys {
  /** The oldest records of keys that no longer work go, beyond FIXED_LIMITS.deadKeys. */
  create(key: ApiKey, secretHash: Uint8Array, remember?: Remember): Promise<'created' | LimitReached>
  /** Keys that work at `now`, without those in the grace period of a rotation. */
  count(organizationId: string, now: number): Promise<number>
  /** Synchronous and cheap: asked for at every request. */
  findBySecret(secretHash: Uint8Array): ApiKey | null
  get(id: string): Promise<ApiKey | null>
  list(organizationId: string, page: RecordsRequest): Promise<Page<ApiKey>>
  /** Changes what is given; null when there is no such key. */
  update(id: string, change: Partial<Pick<ApiKey, 'name' | 'allowedNetworks'>>): Promise<ApiKey | null>
  /** Revokes at `at`; doing it again keeps the first time. */
  revoke(id: string, at: number): Promise<void>
  /** Adds the new key, and lets the old one end at `oldExpiresAt`; `invalid_state` when the old one was already
   *  rotated, revoked or has expired at `now`. Keys in their grace period have the plan's limit of keys for themselves, so
   *  that a rotation is possible when all keys are in use. */
  rotate(
    oldId: string,
    fresh: ApiKey,
    secretHash: Uint8Array,
    oldExpiresAt: number,
    now: number,
    remember?: Remember,
  ): Promise<'rotated' | 'invalid_state' | LimitReached>
  /** When keys were last used; gathered in memory and written now and then. */
  recordUse(uses: { id: string; at: number }[]): Promise<void>
}

/** A message as it is accepted, with everything that becomes true in that instant. */
export interface AcceptedMessage {
  message: Message
  /** As mail/content.ts packs it. */
  content: Uint8Array
  deliveries: NewDelivery[]
  /** For what is already over: simulated outcomes of sandbox mail. */
  attempts: { deliveryId: string; attempt: Attempt }[]
  events: Event[]
  suppressions: Suppression[]
}

export interface NewDelivery {
  id: string
  position: number
  email: string
  type: RecipientType
  /** What it shares connections with: the recipient's domain, or for test mail SANDBOX. */
  destination: string
  status: DeliveryStatus
  /** Null when nothing is to be tried. */
  nextAttemptAt: number | null
  attempts: number
  lastAttemptAt: number | null
  deliveredAt: number | null
  smtpResponse: string | null
  bounceType: BounceType | null
  bounceCode: string | null
  opens: number
  clicks: number
}

export interface MessageFilter extends TimeRange {
  organizationId: string
  status: MessageStatus | null
  /** Addresses, compared without case. */
  to: string | null
  from: string | null
  /** Part of the subject, without case. */
  subject: string | null
  tag: string | null
  metadata: { key: string; value: string }[]
  templateId: string | null
  domainId: string | null
  mode: Mode | null
  /** Words that must all occur in subject or addresses; the last may be a beginning. */
  text: string | null
}

export interface Messages {
  /** All messages, the counted volume and the remembered answer, or none of it. `volume_exceeded` when the
   *  organization's month would pass `volume.limit` (-1 = unlimited), a limit when the messages would pass another one of
   *  the plan; nothing is written then. */
  accept(
    accepted: AcceptedMessage[],
    volume: { organizationId: string; month: string; count: number; limit: number },
    remember?: Remember,
  ): Promise<{ kind: 'accepted' } | { kind: 'volume_exceeded'; used: number } | LimitReached>
  /** Recipients accepted for live sending in that month (`2026-11`). */
  volume(organizationId: string, month: string): Promise<number>
  /** Of all months that have any, newest first. */
  volumes(organizationId: string): Promise<{ month: string; accepted: number }[]>
  get(id: string): Promise<Message | null>
  list(filter: MessageFilter, page: PageRequest): Promise<Page<Message>>
  /** Null once retention has dropped it. */
  content(id: string): Promise<Uint8Array | null>
  /** In the order of the recipients. */
  deliveries(id: string): Promise<Delivery[]>
  /** Of all recipients, oldest first. */
  attempts(id: string): Promise<{ email: string; attempt: Attempt }[]>
  /** Cancels what is not final. `invalid_state` when one delivery is under way or has left, or nothing is open. */
  cancel(id: string, now: number): Promise<'cancelled' | 'invalid_state'>
  /** Only while every delivery is `scheduled`. */
  reschedule(id: string, at: number, now: number): Promise<'rescheduled' | 'invalid_state'>
}

/** What a claim may take. */
export interface Room {
  /** How many more of this key, the first of them due since `at`, may start; or what it has to wait for. A plain 0 is
   *  asked about again at every look. */
  freeFor(key: string, at: number): number | Obstacle
  /** A claim begins, perhaps once more: what an earlier run took counts for nothing. */
  begin?(): void
  /** So many were taken; `freeFor` knows it from now on. */
  took?(key: string, count: number): void
}

/** What keys wait for, some of them together: a full site, an answer of the DNS. `until` (ms UTC) is when it ends by
 *  itself; null = only by being freed. */
export interface Obstacle {
  name: string
  until: number | null
}

/** Which worker holds a row, and until when. */
export interface Lease {
  worker: string
  until: number
}

/** A delivery whose next attempt is counted and may start. */
export interface ClaimedDelivery {
  delivery: Delivery
  message: Message
  /** Null when the claim asked for smaller ones only: `content` reads it. */
  content: Uint8Array | null
  signingKeys: Pick<DkimKeyRecord, 'selector' | 'algorithm' | 'privateKeyPem'>[]
  domainName: string
  /** Its ownership as it is now; null when the domain is gone. */
  ownership: Pick<Domain, 'status' | 'provedBy'> | null
  returnPathHost: string
  /** As trackingHostOf. */
  trackingHost: string | null
  lease: Lease
}

export interface Deliveries {
  /** Takes up to `limit` deliveries that are due, oldest queue first, at most `freeFor(queue)` of each.
   *  Each has its attempt counted (`delivery.attempts`) and is not due again before the lease ends. Contents of messages
   *  larger than `contentBytes` do not come along. */
  claimDue(
    request: { now: number; limit: number; lease: Lease; contentBytes?: number } & Room,
  ): Promise<ClaimedDelivery[]>
  /** The same of what is due, has no lease and must not be tried any more (`expiresAt`), whatever has room; the longest
   *  expired first. No content comes along. */
  claimExpired(request: { now: number; limit: number; lease: Lease }): Promise<ClaimedDelivery[]>
  /** When the next delivery is due among queues that have room, or an obstacle ends; null when there is neither.
   *  Queues that are due after `now` count without being asked about. */
  nextDueAt(freeFor: Room['freeFor'], now?: number): number | null
  /** What waited behind this obstacle may have room. */
  freed(obstacle: string): void
  /** The content of a message with deliveries to be tried; null when the message is gone. */
  content(messageId: string): Promise<Uint8Array | null>
  /** What came of a claim. `lease_lost` when the row is no longer that attempt of that worker: nothing is written. */
  record(record: DeliveryRecord): Promise<'recorded' | 'lease_lost'>
  /** Gives back what was claimed and never tried: uncounts the attempt, due again at `now`. */
  release(claims: { id: string; attempt: number; worker: string }[], now: number): Promise<void>
  /** At start: leases of other workers end now. Their attempts stay counted; a delivery that saw its process
   *  die more than twice waits for its turn instead. Answers how many. */
  endForeignLeases(worker: string, now: number): Promise<number>
  /** Somebody set the clock by `byMs`, now it is `now`: what waits, and the leases, move along, so that each wait is as long
   *  as it was meant to be. Not what has a date of its own (scheduled messages). */
  leapt(byMs: number, now: number): Promise<void>
  /** At start: what waits beyond `latest`, longer than any wait can be, was written by a clock that was wrong; it waits until
   *  `latest`. */
  waitAtMostUntil(latest: number): Promise<void>
  /** With its message; null when retention has dropped it or it never was. */
  get(id: string): Promise<{ delivery: Delivery; message: Message } | null>
  /** What came to be known after the fact. `duplicate` when that very report (its digest) is already there, `changed`
   *  when the delivery is no longer in `expected`, so that the decision must be made anew: nothing is written then. */
  recordLate(record: LateRecord): Promise<'recorded' | 'duplicate' | 'changed' | 'unknown'>
  /** An open, a click or an unsubscription. Counted on the delivery, people and machines apart, and told: of each kind
   *  of opens and clicks 100 times, so that nobody fills the disk by loading a pixel; of unsubscriptions once, and again
   *  when the suppression had been taken back. A suppression that is there already stays. */
  recordEngagement(record: EngagementRecord): Promise<'told' | 'counted' | 'unknown'>
  /** What is kept of a delivery that retention removed while its recipient may still ask to stop; null when nothing is. */
  unsubscribable(id: string): Promise<Unsubscribable | null>
  /** The recipient of such a delivery asked to stop: told once, and again when the suppression had been taken back. */
  recordUnsubscribable(id: string, event: Event, suppression: Suppression): Promise<'told' | 'known' | 'unknown'>
  /** Of all recipients of a message, oldest first. */
  reports(messageId: string): Promise<{ email: string; report: Report }[]>
}

export interface EngagementRecord {
  deliveryId: string
  kind: 'opened' | 'clicked' | 'unsubscribed'
  /** By a program that nobody told to (tracking/machines.ts). */
  machine: boolean
  event: Event
  /** Of an unsubscription. */
  suppression: Suppression | null
  now: number
}

export interface LateRecord {
  deliveryId: string
  report: Report
  expected: DeliveryStatus
  /** Null = the report is kept and the delivery stays what it is. An open delivery that becomes final is not tried again. */
  change: {
    status: DeliveryStatus
    smtpResponse: string | null
    bounceType: BounceType | null
    bounceCode: string | null
  } | null
  events: Event[]
  suppression: Suppression | null
  now: number
}

export interface DeliveryRecord {
  deliveryId: string
  messageId: string
  worker: string
  attempt: Attempt
  outcome: Outcome
  status: DeliveryStatus
  nextAttemptAt: number | null
  smtpResponse: string | null
  /** This record also tells the first soft bounce of a delivery that goes on. */
  softBounceTold: boolean
  /** Opens and clicks that came with it: those of test mail. None when left out. */
  opens?: number
  clicks?: number
  events: Event[]
  suppression: Suppression | null
  now: number
}

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

export interface StatsFilter {
  organizationId: string
  /** Null = all of the organization, with those that were removed. */
  domainId: string | null
  /** Null = whatever the tags. */
  tag: string | null
  mode: Mode
}

/** Counters, kept in the very transactions that accept messages and tell events. They outlive what they count. */
export interface Stats {
  /** Counts of each hour that begins at one of `starts` (ms UTC), in their order. */
  hours(filter: StatsFilter, starts: readonly number[]): Promise<Counts[]>
  /** Counts of each span of whole days, midnight to midnight UTC; `before` is exclusive. */
  days(filter: StatsFilter, spans: readonly { from: number; before: number }[]): Promise<Counts[]>
}

/** Windows end at `now`; they begin a little early (5 s, or a quarter of an hour for those of more than two hours). */
export interface Quality {
  /** Ids of domains whose live mail had an outcome in the window. */
  domainsWithOutcomes(windowMs: number, now: number): Promise<string[]>
  figures(domainId: string, windowMs: number, now: number): Promise<QualityFigures>
  /** All that fire. */
  firing(): Promise<QualityAlert[]>
  /** Synchronous and from memory: asked for at every message where alerts stop mail. */
  firingOf(domainId: string): QualityAlert[]
  /** Newest first. */
  alerts(domainId: string, limit: number): Promise<QualityAlert[]>
  /** A new alert with the event that tells of it; `exists` while one of that domain and metric fires. */
  raise(alert: QualityAlert, event: Event): Promise<'raised' | 'exists'>
  /** Ends one that fires, with its last figures; `gone` when it does not fire. */
  resolve(alert: QualityAlert, event: Event): Promise<'resolved' | 'gone'>
  /** Forgets at most `limit` counts that no window reaches any more; answers how many went. */
  pruneOutcomes(now: number, limit: number): Promise<number>
}

/** MTA-STS policies of recipients' domains; they hold over a restart, for that is their worth. */
export interface MtaStsPolicies {
  get(domain: string): Promise<KeptMtaSts | null>
  /** In place of what was kept of the domain. */
  keep(policy: KeptMtaSts): Promise<void>
  remove(domain: string): Promise<void>
  /** Those whose `refreshAt` has come, longest due first. */
  due(now: number, limit: number): Promise<KeptMtaSts[]>
}

/** TLS sessions with recipients' domains, counted for the reports that these ask for. */
export interface TlsSessions {
  /** On top of what was counted of the same before. */
  add(counts: readonly TlsCount[]): Promise<void>
  /** The first domain and day behind the given ones, of the days before `before`; null at the end. */
  next(after: { domain: string; day: number }, before: number): Promise<{ domain: string; day: number } | null>
  of(domain: string, day: number): Promise<TlsCount[]>
  remove(domain: string, day: number): Promise<void>
}

/** Taking away what the plans no longer keep, and giving back the disk space it held. No call holds the store longer
 *  than it is given: it asks `timeIsUp` once when it begins and again after each record, of which it does at least one
 *  and at most a hundred. What comes back true has more to do. */
export interface Retention {
  /** Messages (due before `before`, and over), with content, deliveries, attempts and reports; events, with their
   *  webhook deliveries; inbound messages that are not pending. Of live mail with a way to unsubscribe that was sent at
   *  `unsubscribableSince` or later, `Deliveries.unsubscribable` stays. */
  remove(request: {
    organizationId: string
    before: number
    unsubscribableSince: number
    timeIsUp: () => boolean
  }): Promise<boolean>
  /** Forgets at most `limit` of what was sent before `before`; answers how many went. */
  pruneUnsubscribables(before: number, limit: number): Promise<number>
  /** Makes the files smaller, and takes what was removed out of the search index, in small steps: for quiet moments. A
   *  share of the space stays free, for what comes next. */
  giveBack(timeIsUp: () => boolean): Promise<boolean>
  /** Empties the log of changes into the file, whose end then goes back to the disk. Some milliseconds at once: for
   *  quiet moments. */
  truncateLog(): Promise<void>
}

export interface Suppressions {
  /** The one for that address and reach, if there is one already, stays: `exists` with it. */
  add(
    suppression: Suppression,
    remember?: Remember,
  ): Promise<{ kind: 'added' } | { kind: 'exists'; suppression: Suppression } | LimitReached>
  /** Many in one transaction, in order; answers how many were not there already, and the limit at which the first of them
   *  that did not fit was left out with all behind it. */
  addAll(suppressions: readonly Suppression[]): Promise<{ added: number; limit: LimitReached | null }>
  get(id: string): Promise<Suppression | null>
  /** Addresses (folded) → those of them that are suppressed for the domain or the whole organization. Suppressions of
   *  test keys hold for test mail, all others for both. Synchronous. */
  among(organizationId: string, domainId: string, emails: string[], mode?: Mode): Set<string>
  find(organizationId: string, email: string): Promise<Suppression[]>
  list(
    filter: {
      organizationId: string
      email: string | null
      reason: SuppressionReason | null
      /** With those of the whole organization; absent or null = of every domain. */
      domainId?: string | null
      mode?: Mode | null
    } & TimeRange,
    page: PageRequest,
  ): Promise<Page<Suppression>>
  /** Answers the number removed. */
  remove(ids: string[]): Promise<number>
}

export interface Templates {
  /** Its version is the first that is kept. `conflict` when the organization has another with that alias. */
  create(template: Template, remember?: Remember): Promise<'created' | 'conflict' | LimitReached>
  count(organizationId: string): Promise<number>
  get(id: string): Promise<Template | null>
  /** Live and test templates have their aliases apart; of live ones unless said. */
  findByAlias(organizationId: string, alias: string, mode?: Mode): Promise<Template | null>
  /** What may be sent under an id, whoever's it is, or an alias of the organization: which template, and which version
   *  of it stands. An alias names a live template, for test mail a test one if there is one. Synchronous and cheap:
   *  asked for at every message. */
  standing(organizationId: string, idOrAlias: string, mode?: Mode): StandingTemplate | null
  /** Without `html` and `text`: a page of whole ones may be fifty megabytes. */
  list(organizationId: string, page: RecordsRequest): Promise<Page<ListedTemplate>>
  /** Changes what is given; content is given whole and becomes the next version when a text of it differs from the
   *  present one; of the oldest versions some go beyond the number that the plan keeps. `changed` when version `expected` no longer stands, `conflict` when the alias is taken: nothing is
   *  written then. */
  update(
    id: string,
    expected: number,
    change: { alias?: string | null; name?: string; content?: TemplateContent },
    now: number,
  ): Promise<{ kind: 'updated'; template: Template } | { kind: 'changed' | 'conflict' | 'unknown' } | LimitReached>
  version(id: string, version: number): Promise<TemplateVersion | null>
  /** Newest first, those before version `before` (null = from the newest), without `html` and `text`. */
  versions(
    id: string,
    page: { limit: number; before: number | null },
  ): Promise<Page<Omit<TemplateVersion, 'html' | 'text'>>>
  /** With its versions, in several transactions. Messages made from it stay. */
  remove(id: string): Promise<void>
}

export type StandingTemplate = Pick<Template, 'id' | 'organizationId' | 'version' | 'mode'>
export type ListedTemplate = Omit<Template, 'html' | 'text'>

export interface Webhooks {
  create(webhook: Webhook, secret: string, remember?: Remember): Promise<'created' | LimitReached>
  count(organizationId: string): Promise<number>
  get(id: string): Promise<Webhook | null>
  list(organizationId: string, page: RecordsRequest): Promise<Page<Webhook>>
  update(
    id: string,
    change: Partial<Pick<Webhook, 'url' | 'events' | 'status' | 'description' | 'disabledReason'>>,
    now: number,
  ): Promise<Webhook | null>
  secrets(id: string): Promise<WebhookSecrets | null>
  rotateSecret(id: string, secret: string, previousExpiresAt: number, now: number, remember?: Remember): Promise<void>
  /** With its deliveries. Several transactions, since there may be many: it is paused in the first and gone after the
   *  last, and can be removed again after a crash in between. */
  remove(id: string): Promise<void>
}

/** A webhook delivery whose next attempt is counted and may start. */
export interface ClaimedWebhookDelivery {
  id: string
  webhookId: string
  organizationId: string
  eventId: string
  messageId: string | null
  type: EventType
  url: string
  format: WebhookFormat
  secrets: WebhookSecrets
  /** The event's envelope. */
  body: string
  /** Number of this attempt, from 1. */
  attempt: number
  lease: Lease
}

export interface WebhookDeliveryFilter extends TimeRange {
  webhookId: string
  status: WebhookDeliveryStatus | null
  type: EventType | null
}

export interface WebhookDeliveries {
  claimDue(request: { now: number; limit: number; lease: Lease } & Room): Promise<ClaimedWebhookDelivery[]>
  nextDueAt(freeFor: Room['freeFor']): number | null
  /** As for Deliveries. */
  freed(obstacle: string): void
  /** Whose the webhook is; null when it is gone. */
  organizationOf(webhookId: string): string | null
  /** Writes some of the deliveries of events that had more than one transaction takes; true while there are more. */
  fanOutSome(): Promise<boolean>
  /** What came of a claim; keeps the webhook's own counters (`last_success_at`, failures in a row), and pauses it
   *  with `pauseReason` if given. `lease_lost` when the row is no longer that attempt. */
  record(record: {
    deliveryId: string
    worker: string
    attempt: PostAttempt
    status: WebhookDeliveryStatus
    nextAttemptAt: number | null
    pauseReason: string | null
    now: number
  }): Promise<{ kind: 'recorded'; webhook: Webhook } | { kind: 'lease_lost' }>
  release(claims: { id: string; attempt: number; worker: string }[], now: number): Promise<void>
  endForeignLeases(worker: string, now: number): Promise<number>
  /** As for Deliveries. */
  leapt(byMs: number, now: number): Promise<void>
  waitAtMostUntil(latest: number): Promise<void>
  get(id: string): Promise<WebhookDelivery | null>
  list(filter: WebhookDeliveryFilter, page: PageRequest): Promise<Page<WebhookDelivery>>
  /** Of all webhooks, of the message's newest events first; at most `limit`. */
  ofMessage(organizationId: string, messageId: string, limit: number): Promise<Page<WebhookDelivery>>
  /** One more attempt now, whatever the state; the count goes on. `limit` after FIXED_LIMITS.webhookAttempts. */
  retry(id: string, now: number): Promise<'queued' | 'under_way' | 'limit'>
  /** Queues past events of the range once more for the webhook: new deliveries of the same events, five attempts
   *  each; an event still pending there, or queued FIXED_LIMITS.replaysOfEvent times, is left alone. At most `limit` events a call, oldest first; answers how
   *  many were queued, and the last event's id when more remain. */
  replay(
    webhookId: string,
    range: { from: number; before: number; type: EventType | null; afterEvent: string | null },
    limit: number,
    now: number,
  ): Promise<{ queued: number; more: string | null }>
}

export interface InboundRoutes {
  create(route: InboundRoute, secret: string, remember?: Remember): Promise<'created' | LimitReached>
  count(organizationId: string): Promise<number>
  get(id: string): Promise<InboundRoute | null>
  list(organizationId: string, page: RecordsRequest): Promise<Page<InboundRoute>>
  update(
    id: string,
    change: Partial<Pick<InboundRoute, 'name' | 'match' | 'action' | 'authentication' | 'enabled' | 'priority'>>,
  ): Promise<InboundRoute | null>
  /** Its open deliveries end as failed; messages stay. Several transactions, since there may be many: it is disabled in
   *  the first and gone after the last, and can be removed again after a crash in between. */
  remove(id: string): Promise<void>
  /** Enabled routes of an organization in no order. Synchronous and from memory: asked for at every RCPT. */
  enabledOf(organizationId: string): InboundRoute[]
  /** As Domains.findByName. Synchronous and from memory. */
  domainByName(name: string): Domain | null
  /** The domain whose return path host that is, a verified one before others. Synchronous and from memory. */
  domainByReturnPathHost(host: string): Domain | null
}

/** Addresses elsewhere that forward routes name: a confirmation is the organization's, whatever the route. Addresses are
 *  compared without case. */
export interface ForwardTargets {
  /** `pending` for one that nobody asked. Synchronous: asked for at every mail. */
  status(organizationId: string, email: string): ForwardTargetStatus
  /** Counts a confirmation mail that is about to be sent, unless nothing is to be asked or too much was asked today, of the
   *  address by all organizations together or by this organization (FIXED_LIMITS). */
  ask(organizationId: string, email: string, now: number): Promise<AskResult>
  set(organizationId: string, email: string, status: ForwardTargetStatus, now: number): Promise<void>
  /** Forgets at most `limit` that were asked last before `before` and never answered; answers how many went. */
  prune(before: number, limit: number): Promise<number>
  /** Those that count as confirmed because their routes were there before targets were asked. */
  countByUpgrade(): Promise<number>
}

/** One mail from the world with everything that becomes true when it is taken. */
export interface AcceptedInbound {
  /** As mail/inbound-content.ts packs them; stored once for all messages. */
  raw: Uint8Array
  parsed: Uint8Array
  taken: {
    message: InboundMessage
    /** Id of the webhook delivery that is owed, due at once; null for other actions. */
    deliveryId: string | null
    /** The outbound message it becomes. Its recipients count against the month's volume and the forwards of the day. */
    forward: AcceptedMessage | null
  }[]
}

export interface InboundFilter extends TimeRange {
  organizationId: string
  routeId: string | null
  domainId: string | null
  /** Addresses, compared without case. */
  from: string | null
  to: string | null
  status: InboundDeliveryStatus | null
}

export interface Inbound {
  /** A limit when one of the organizations may not store more, or not forward to so many more: nothing is written then. */
  accept(accepted: AcceptedInbound): Promise<'accepted' | LimitReached>
  get(id: string): Promise<InboundMessage | null>
  list(filter: InboundFilter, page: PageRequest): Promise<Page<InboundMessage>>
  /** Null once retention has dropped it. */
  raw(id: string): Promise<Uint8Array | null>
  parsed(id: string): Promise<Uint8Array | null>
}

/** An inbound delivery whose next attempt is counted and may start. */
export interface ClaimedInboundDelivery {
  id: string
  message: InboundMessage
  /** As it is now, not as it was when the mail came. */
  route: { id: string; url: string; includeAttachments: boolean; secret: string }
  attempt: number
  lease: Lease
}

export interface InboundDeliveries {
  /** Deliveries of routes that are disabled or no longer webhooks wait. */
  claimDue(request: { now: number; limit: number; lease: Lease } & Room): Promise<ClaimedInboundDelivery[]>
  nextDueAt(freeFor: Room['freeFor']): number | null
  /** As for Deliveries. */
  freed(obstacle: string): void
  /** Whose the route is; null when it is gone. */
  organizationOf(routeId: string): string | null
  record(record: {
    deliveryId: string
    worker: string
    attempt: PostAttempt
    status: InboundDeliveryStatus
    nextAttemptAt: number | null
    now: number
  }): Promise<'recorded' | 'lease_lost'>
  release(claims: { id: string; attempt: number; worker: string }[], now: number): Promise<void>
  endForeignLeases(worker: string, now: number): Promise<number>
  /** As for Deliveries. */
  leapt(byMs: number, now: number): Promise<void>
  waitAtMostUntil(latest: number): Promise<void>
  /** Newest first. */
  ofMessage(inboundMessageId: string): Promise<InboundDelivery[]>
  /** A new delivery of the message, five attempts, due at once; `under_way` while one is still pending, `limit` after
   *  FIXED_LIMITS.redeliveries. */
  redeliver(inboundMessageId: string, deliveryId: string, now: number): Promise<'queued' | 'under_way' | 'limit'>
}
