import type { AuditEntry } from '../../model/audit-entry.ts'
import type {
  DkimKeyRecord,
  DkimState,
  Domain,
  DomainStatus,
  FailureReason,
  Finding,
  Proof,
  Tracking,
} from '../../model/domain.ts'
import type { Remember } from './idempotency.ts'
import type { Page, RecordsRequest } from './paging.ts'

export interface DomainCheck {
  status: DomainStatus
  verifiedAt: number | null
  checkedAt: number
  findings: Finding[]
  /** Default: `dkim` for a verified domain, otherwise null. */
  provedBy?: Proof | null
  /** Default: null. */
  missingSince?: number | null
  /** Default: null. */
  reason?: FailureReason | null
  /** Default: unchanged. */
  nextCheckAt?: number | null
  /** `lastCheckedAt` of the domain that was checked. By default nothing is compared. */
  since?: number | null
  /** Audit entry, written with the change if the domain becomes verified (`domains_proved`) or an owned one fails
   *  (`domains_lost`). */
  audit?: Omit<AuditEntry, 'action'>
}

export interface DomainChange {
  before: DomainStatus
  after: DomainStatus
  reason: FailureReason | null
}

/** Change of the state of a DKIM key. `since` as in DkimKeyRecord. */
export interface DkimChange {
  selector: string
  from: DkimState
  to: DkimState
  since: number | null
}

export interface Domains {
  /** `conflict` if it clashes with a domain of the organization or a verified one of another organization (as
   *  `clashes`); `limit` if the organization already has `maxDomains` (-1 = unlimited). */
  create(domain: Domain, maxDomains: number, remember?: Remember): Promise<'created' | 'conflict' | 'limit'>
  get(id: string): Promise<Domain | null>
  /** The verified domain of that name; if none is verified, the oldest claim. isOwned distinguishes them. */
  findByName(name: string): Promise<Domain | null>
  /** The organization's own claim of the name, whatever its status. */
  findOf(organizationId: string, name: string): Promise<Domain | null>
  /** Every claim of the name, oldest first; at most `limit`. */
  claimsOf(name: string, limit: number): Promise<Domain[]>
  /** True if the name or a derived host (model/domain-names.ts) is the name or a derived host of another domain of
   *  the organization, or of a verified one of another organization; with `claims` also of an unverified one. Names
   *  of other organizations above and below the domain's own do not clash. */
  clashes(domain: Domain, claims: boolean): Promise<boolean>
  list(organizationId: string, page: RecordsRequest): Promise<Page<Domain>>
  count(organizationId: string): Promise<number>
  /** `conflict` as in `create`. */
  setTracking(id: string, tracking: Tracking): Promise<'changed' | 'conflict'>
  /** Writes the result of a DNS check. Of all claims of a name only the first proved one becomes `verified`, in the
   *  same transaction; the others become `failed` with reason `claimed` and are checked again once the name is free.
   *  A domain that becomes verified or failed gets an event, if an active webhook receives it.
   *  Null if the domain was deleted, or checked by another process meanwhile (`since`). */
  recordCheck(id: string, check: DomainCheck): Promise<DomainChange | null>
  /** Returns at most `limit` domains that are due for a check, and makes them due again at `againAt` unless a result
   *  is recorded. */
  claimDue(now: number, limit: number, againAt: number): Promise<Domain[]>
  /** Domains whose proof is missing or lost, longest first. */
  withoutProof(limit: number): Promise<Domain[]>
  /** Domains with pending DKIM keys, those with the oldest keys first. */
  rotating(limit: number): Promise<Domain[]>
  /** How many domains have pending keys, and when the oldest of them was made (ms UTC); null without any. */
  countRotating(): Promise<{ domains: number; oldestAt: number | null }>
  /** Rejects if the domain already has one of the selectors. `audit`: entry, written with the change. */
  addDkimKeys(id: string, keys: DkimKeyRecord[], audit?: AuditEntry): Promise<void>
  /** Changes the states of several keys at once. A key that is no longer in the state `from` stays as it is. `audit`:
   *  entry, written with the change, if there is one. */
  setDkimStates(id: string, changes: readonly DkimChange[], audit?: AuditEntry): Promise<void>
  removeDkimKey(id: string, selector: string): Promise<void>
  /** Removes the domain with its keys; `in_use` while it has open deliveries. */
  remove(id: string, now: number): Promise<'removed' | 'in_use'>
}
