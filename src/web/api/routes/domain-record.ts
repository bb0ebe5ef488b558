import { ownershipDetail } from '../../../domains/ownership.ts'
import { dnsRecords, findingOf, type OwnServer } from '../../../domains/records.ts'
import { nextRotationAt } from '../../../domains/rotation.ts'
import { type Domain, isReadyToSend } from '../../../model/domain.ts'
import { iso } from '../../../model/event.ts'

/** What this server publishes for a domain. */
export interface Published {
  server: OwnServer
  /** Interval of DKIM rotation (ms); 0 = never by itself. */
  rotateEveryMs: number
  /** Config `sending.require_verified_domain`: false, on one's own machine, lets every domain send. */
  requireVerified: boolean
}

/** A domain → its record in responses, with the DNS records to publish and what the last check found. */
export function domainRecord(domain: Domain, us: Published, now: number) {
  const time = (at: number | null) => (at === null ? null : iso(at))
  return {
    id: domain.id,
    name: domain.name,
    status: domain.status,
    detail: ownershipDetail(domain),
    sends_live: isReadyToSend(domain) || !us.requireVerified,
    proved_by: domain.provedBy,
    proof_missing_since: domain.status === 'verified' ? time(domain.missingSince) : null,
    created_at: iso(domain.createdAt),
    verified_at: time(domain.verifiedAt),
    last_checked_at: time(domain.lastCheckedAt),
    next_check_at: time(domain.nextCheckAt),
    dkim: domain.dkim.map(({ selector, algorithm, state, createdAt }) => ({
      selector,
      algorithm,
      state,
      created_at: iso(createdAt),
    })),
    next_dkim_rotation_at: time(nextRotationAt(domain, us.rotateEveryMs, now, us.server.providerZones)),
    return_path_host: domain.returnPathHost,
    tracking: domain.tracking,
    dns_records: dnsRecords(domain, us.server).map((record) => {
      const finding = findingOf(domain, record)
      return { ...record, status: finding?.status ?? 'pending', found: finding?.found ?? [] }
    }),
  }
}
