import type { Domain, DomainStatus } from '../../model/domain.ts'
import { domainEvent } from '../../model/on-demand-event.ts'
import { CLAIMED, stateOf } from '../domain-state.ts'
import type { OnDemandEvents } from '../fan-out-targets.ts'
import type { DomainChange, DomainCheck } from '../store.ts'
import type { AuditRecorder } from './audit-log.ts'
import { clashes, type Names } from './domain-clashes.ts'
import type { SettingsStatements } from './writer.ts'

const PRESENT = `select id, organization_id as "organizationId", name, status, verified_at::float8 as "verifiedAt",
    last_checked_at::float8 as "lastCheckedAt", return_path_host as "returnPathHost",
    tracking_host as "trackingHost", next_check_at::float8 as "nextCheckAt"
  from domains where id = $1`
const RECORD = `update domains set status = $2, verified_at = $3, last_checked_at = $4, findings = $5, proved_by = $6,
    missing_since = $7, reason = $8, next_check_at = $9
  where id = $1`
const OWNER = `select id from domains where name = $1 and status = 'verified'`
const CLAIMS = 'select id from domains where name = $1'
const OUTRUN_BY = `select id, organization_id as "organizationId", name, status from domains where name = $1 and id <> $2`
const OUTRUN = `update domains set status = 'failed', reason = 'claimed', proved_by = null, missing_since = null,
    next_check_at = null
  where name = $1 and id <> $2`
// A claim waits for its proof again; a name that was owned once has lost it.
const FREE = `update domains set status = case when verified_at is null then 'pending' else 'failed' end,
    reason = case when verified_at is null then null else 'proof_lost' end, next_check_at = $2
  where name = $1 and reason = 'claimed'`

/** Decides who owns a name, inside a change: at most one claim of a name is verified at any time. As
 *  Domains.recordCheck. */
export async function recordOwnership(
  statements: SettingsStatements,
  id: string,
  check: DomainCheck,
  recorder: Pick<AuditRecorder, 'put'>,
  offer: OnDemandEvents['offer'],
): Promise<DomainChange | null> {
  const [domain] = await statements.query<Present>(PRESENT, [id])
  if (domain === undefined) return null
  if (check.since !== undefined && check.since !== domain.lastCheckedAt) return null
  const isClaimed = await isOutrun(statements, domain, check)
  const { status, provedBy, missingSince, reason, nextCheckAt } = isClaimed
    ? CLAIMED
    : stateOf(check, domain.nextCheckAt)
  const verifiedAt = isClaimed ? domain.verifiedAt : check.verifiedAt
  const state = [status, verifiedAt, check.checkedAt, JSON.stringify(check.findings), provedBy]
  await statements.run(RECORD, [id, ...state, missingSince, reason, nextCheckAt])
  const report = (claim: Claim, state: Pick<Domain, 'status' | 'reason' | 'provedBy'>) => {
    const event = domainEvent(claim, { before: claim.status, after: state.status, ...state }, check.checkedAt)
    if (event !== null) offer(event)
  }
  report(domain, { status, reason, provedBy })
  const [isGained, isLost] = [status === 'verified', domain.status === 'verified']
  if (isGained && !isLost) {
    for (const claim of await statements.query<Claim>(OUTRUN_BY, [domain.name, id])) report(claim, CLAIMED)
    await statements.run(OUTRUN, [domain.name, id])
  }
  if (isLost && !isGained) await freeName(statements, domain.name, check.checkedAt)
  await changedClaims(statements, domain.name)
  if (isGained !== isLost && check.audit !== undefined) {
    await recorder.put(statements, { ...check.audit, action: isGained ? 'domains_proved' : 'domains_lost' })
  }
  return { before: domain.status, after: status, reason }
}

/** The name has no owner any more: the other claims are checked from `now` on. */
export async function freeName(statements: SettingsStatements, name: string, now: number): Promise<void> {
  await statements.run(FREE, [name, now])
  await changedClaims(statements, name)
}

async function changedClaims({ query, changed }: SettingsStatements, name: string): Promise<void> {
  const claims = await query<{ id: string }>(CLAIMS, [name])
  changed('domain', ...claims.map(({ id }) => id))
}

async function isOutrun(statements: SettingsStatements, domain: Present, check: DomainCheck): Promise<boolean> {
  const [owner] = await statements.query<{ id: string }>(OWNER, [domain.name])
  if (owner !== undefined) return owner.id !== domain.id
  const names = { ...domain, tracking: { host: domain.trackingHost } }
  return check.status === 'verified' && clashes(statements, names, 'foreign')
}

/** A claim of a name as it was before the change. */
type Claim = Pick<Domain, 'id' | 'organizationId' | 'name' | 'status'>

interface Present extends Omit<Names, 'tracking'> {
  status: DomainStatus
  verifiedAt: number | null
  lastCheckedAt: number | null
  trackingHost: string | null
  nextCheckAt: number | null
}
