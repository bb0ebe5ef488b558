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
