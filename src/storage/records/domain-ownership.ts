import type { AuditEntry } from '../../model/audit-entry.ts'
import type { Domain, DomainStatus, FailureReason, Finding, Proof } from '../../model/domain.ts'
import { domainEvent } from '../../model/on-demand-event.ts'
import { offer } from '../inside.ts'
import { changed, row, rows, run, sql, type Work } from '../sql.ts'
import { audit } from './audit-log.ts'
import { clashes, type Names } from './domain-clashes.ts'

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

interface Present extends Omit<Names, 'tracking'> {
  status: DomainStatus
  verifiedAt: number | null
  lastCheckedAt: number | null
  trackingHost: string | null
  nextCheckAt: number | null
}

/** What a check changes of a domain. */
interface DomainState {
  status: DomainStatus
  provedBy: Proof | null
  missingSince: number | null
  reason: FailureReason | null
  nextCheckAt: number | null
}

/** Another organization owns the name. */
const CLAIMED: DomainState = {
  status: 'failed',
  provedBy: null,
  missingSince: null,
  reason: 'claimed',
  nextCheckAt: null,
}

/** A claim of a name as it was before the change. */
type Claim = Pick<Domain, 'id' | 'organizationId' | 'name' | 'status'>

const PRESENT = sql<Present>(`select id, organization_id as "organizationId", name, status, verified_at as "verifiedAt",
    last_checked_at as "lastCheckedAt", return_path_host as "returnPathHost", tracking_host as "trackingHost",
    next_check_at as "nextCheckAt"
  from domains where id = $1`)
const RECORD =
  sql(`update domains set status = $2, verified_at = $3, last_checked_at = $4, findings = $5, proved_by = $6,
    missing_since = $7, reason = $8, next_check_at = $9
  where id = $1`)
const OWNER = sql<{ id: string }>(`select id from domains where name = $1 and status = 'verified'`)
const CLAIMS = sql<{ id: string }>('select id from domains where name = $1')
const OUTRUN_BY = sql<Claim>(
  'select id, organization_id as "organizationId", name, status from domains where name = $1 and id <> $2',
)
const OUTRUN = sql(`update domains set status = 'failed', reason = 'claimed', proved_by = null, missing_since = null,
    next_check_at = null
  where name = $1 and id <> $2`)
// A claim waits for its proof again; a name that was owned once has lost it.
const FREE = sql(`update domains set status = case when verified_at is null then 'pending' else 'failed' end,
    reason = case when verified_at is null then null else 'proof_lost' end, next_check_at = $2
  where name = $1 and reason = 'claimed'`)

/** Decides who owns a name, inside a change: at most one claim of a name is verified at any time. As
 *  domains.recordCheck. */
export function* recordOwnership(id: string, check: DomainCheck): Work<DomainChange | null> {
  const domain = yield* row(PRESENT, id)
  if (domain === null) return null
  if (check.since !== undefined && check.since !== domain.lastCheckedAt) return null
  const isClaimed = yield* isOutrun(domain, check)
  const state = isClaimed ? CLAIMED : stateOf(check, domain.nextCheckAt)
  const { status, provedBy, missingSince, reason, nextCheckAt } = state
  const verifiedAt = isClaimed ? domain.verifiedAt : check.verifiedAt
  const checked = [status, verifiedAt, check.checkedAt, JSON.stringify(check.findings), provedBy]
  yield* run(RECORD, id, ...checked, missingSince, reason, nextCheckAt)
  function* report(claim: Claim, { status, reason, provedBy }: Pick<Domain, 'status' | 'reason' | 'provedBy'>) {
    const event = domainEvent(claim, { before: claim.status, after: status, reason, provedBy }, check.checkedAt)
    if (event !== null) yield* offer(event)
  }
  yield* report(domain, state)
  const [isGained, isLost] = [status === 'verified', domain.status === 'verified']
  if (isGained && !isLost) {
    for (const claim of yield* rows(OUTRUN_BY, domain.name, id)) yield* report(claim, CLAIMED)
    yield* run(OUTRUN, domain.name, id)
  }
  if (isLost && !isGained) yield* run(FREE, domain.name, check.checkedAt)
  yield* changedClaims(domain.name)
  if (isGained !== isLost && check.audit !== undefined)
    yield* audit({ ...check.audit, action: isGained ? 'domains_proved' : 'domains_lost' })
  return { before: domain.status, after: status, reason }
}

/** The name has no owner any more: the other claims are checked from `now` on. */
export function* freeName(name: string, now: number): Work<void> {
  yield* run(FREE, name, now)
  yield* changedClaims(name)
}

function* changedClaims(name: string): Work<void> {
  const claims = yield* rows(CLAIMS, name)
  yield* changed('domain', ...claims.map(({ id }) => id))
}

function* isOutrun({ trackingHost, ...domain }: Present, check: DomainCheck): Work<boolean> {
  const owner = yield* row(OWNER, domain.name)
  if (owner !== null) return owner.id !== domain.id
  if (check.status !== 'verified') return false
  return yield* clashes({ ...domain, tracking: { host: trackingHost } }, 'foreign')
}

/** Check, and when the next one was due → the state of a domain whose name nobody else owns. */
function stateOf(
  { status, provedBy, missingSince, reason, nextCheckAt }: DomainCheck,
  before: number | null,
): DomainState {
  return {
    status,
    provedBy: provedBy === undefined ? (status === 'verified' ? 'dkim' : null) : provedBy,
    missingSince: missingSince ?? null,
    reason: reason ?? null,
    nextCheckAt: nextCheckAt === undefined ? before : nextCheckAt,
  }
}
