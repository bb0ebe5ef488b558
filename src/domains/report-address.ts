import { createHash } from 'node:crypto'
import type { Domain } from '../model/domain.ts'

/** Domain → the address for DMARC and TLS reports about it, at its return path host: that is below the domain, so that
 *  reporters need no record of ours that permits it (RFC 7489 §7.1). DNS publishes the address; who does not look there
 *  cannot guess it. It is no secret: receiving/inbound/receive-report.ts accepts only authenticated reports, a limited
 *  number. */
export function reportAddress(domain: Pick<Domain, 'id' | 'returnPathHost'>): string {
  return `${localPart(domain.id)}@${domain.returnPathHost}`
}

/** Whether the local part, in any letter case, at the domain's return path host is that address. */
export function isReportAddress(local: string, domain: Pick<Domain, 'id'>): boolean {
  return local.toLowerCase() === localPart(domain.id)
}

function localPart(domainId: string): string {
  const digest = createHash('sha256').update(`postrider-reports ${domainId}`).digest('hex')
  return `reports-${digest.slice(0, 20)}`
}
