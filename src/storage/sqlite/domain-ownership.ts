import type { Domain, DomainStatus } from '../../model/domain.ts'
import { domainEvent } from '../../model/on-demand-event.ts'
import { CLAIMED, stateOf } from '../domain-state.ts'
import type { OnDemandEvents } from '../fan-out-targets.ts'
import type { DomainChange, DomainCheck } from '../store.ts'
import type { AuditRecorder } from './audit-log.ts'
import type { Names, Others } from './domain-clashes.ts'
import type { Connection } from './driver.ts'

const PRESENT = `select id, organization_id as organizationId, name, status, verified_at as verifiedAt,
    last_checked_at as lastCheckedAt,
    return_path_host as returnPathHost, tracking_host as trackingHost, next_check_at as nextCheckAt
  from domains where id = ?`
const RECORD = `update domains set status = ?, verified_at = ?, last_checked_at = ?, findings = ?, proved_by = ?,
    missing_since = ?, reason = ?, next_check_at = ?
  where id = ?`
const OWNER = `select id from domains where name = ? and status = 'verified'`
const OUTRUN = `update domains set status = 'failed', reason = 'claimed', proved_by = null, missing_since = null,
    next_check_at = null
  where name = ? and id <> ?`
const OUTRUN_BY = `select id, organization_id as organizationId, name, status from domains where name = ? and id <> ?`
// A claim waits for its proof again; a name that was owned once has lost it.
const FREE = `update domains set status = iif(verified_at is null, 'pending', 'failed'),
    reason = iif(verified_at is null, null, 'proof_lost'), next_check_at = ?
  where name = ? and reason = 'claimed'`

/** Decides who owns a name, inside a change: at most one claim of a name is verified at any time. */
export interface DomainOwnership {
  /** As Domains.recordCheck. */
  record(id: string, check: DomainCheck): DomainChange | null
  /** The name has no owner any more: the other claims are checked from `now` on. */
  free(name: string, now: number): void
}

export function domainOwnership(
  db: Connection,
  clashes: (domain: Names, others: Others) => boolean,
  auditRecorder: Pick<AuditRecorder, 'put'>,
  onDemand: OnDemandEvents,
): DomainOwnership {
  const present = db.prepare<unknown[], Present>(PRESENT)
  const owner = db.prepare<unknown[], string>(OWNER).pluck()
  const record = db.prepare(RECORD)
  const outrun = db.prepare(OUTRUN)
  const outrunBy = db.prepare<unknown[], Claim>(OUTRUN_BY)
  const free = db.prepare(FREE)

  const isOutrun = ({ trackingHost, ...domain }: Present, check: DomainCheck): boolean => {
    const ownerId = owner.get(domain.name)
    if (ownerId !== undefined) return ownerId !== domain.id
    return check.status === 'verified' && clashes({ ...domain, tracking: { host: trackingHost } }, 'foreign')
  }

  const report = (claim: Claim, state: Pick<Domain, 'status' | 'reason' | 'provedBy'>, at: number) => {
    const event = domainEvent(claim, { before: claim.status, after: state.status, ...state }, at)
    if (event !== null) onDemand.offer(event)
  }

  return {
    record: (id, check) => {
      const domain = present.get(id)
      if (domain === undefined) return null
      if (check.since !== undefined && check.since !== domain.lastCheckedAt) return null
      const result = isOutrun(domain, check) ? CLAIMED : stateOf(check, domain.nextCheckAt)
      const { status, provedBy, missingSince, reason, nextCheckAt } = result
      const verifiedAt = result === CLAIMED ? domain.verifiedAt : check.verifiedAt
      const findings = JSON.stringify(check.findings)
      record.run(status, verifiedAt, check.checkedAt, findings, provedBy, missingSince, reason, nextCheckAt, id)
      const [isGained, isLost] = [status === 'verified', domain.status === 'verified']
      report(domain, result, check.checkedAt)
      if (isGained && !isLost) {
        for (const claim of outrunBy.all(domain.name, id)) report(claim, CLAIMED, check.checkedAt)
        outrun.run(domain.name, id)
      }
      if (isLost && !isGained) free.run(check.checkedAt, domain.name)
      if (isGained !== isLost && check.audit !== undefined) {
        auditRecorder.put({ ...check.audit, action: isGained ? 'domains_proved' : 'domains_lost' })
      }
      return { before: domain.status, after: status, reason }
    },
    free: (name, now) => {
      free.run(now, name)
    },
  }
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
