import type { RecordPurpose, RecordStatus } from '../../model/domain.ts'
import type { DomainReadiness, Rule } from './mail.ts'

/** Checks whether receivers can authenticate the domain, by its last DNS check. */
export const authentication: Rule = ({ input: { domain } }, report) => {
  if (domain.findings.length === 0) {
    report('auth_not_checked')
    if (domain.status !== 'verified') report('auth_domain_unverified')
    return
  }
  const dkim = worst(domain, 'dkim')
  if (dkim === 'missing') report('auth_dkim_missing', `: ${namesOf(domain, 'dkim', 'missing')}`)
  else if (dkim === 'mismatch') report('auth_dkim_mismatch', `: ${namesOf(domain, 'dkim', 'mismatch')}`)
  else if (domain.status !== 'verified') report('auth_domain_unverified')

  const spf = worst(domain, 'spf')
  if (spf === 'missing') report('auth_spf_missing')
  if (spf === 'mismatch') report('auth_spf_mismatch')
  const returnPath = worst(domain, 'return_path')
  if (returnPath === 'missing' || returnPath === 'mismatch') report('auth_return_path_missing')

  const dmarc = domain.findings.find(({ purpose }) => purpose === 'dmarc')
  if (dmarc?.status === 'missing' || dmarc?.status === 'mismatch') report('auth_dmarc_missing')
  else if (dmarc?.found.some((record) => /;\s*p\s*=\s*none\b/i.test(record))) report('auth_dmarc_none')
}

const ORDER: RecordStatus[] = ['valid', 'pending', 'mismatch', 'missing']

function worst({ findings }: DomainReadiness, purpose: RecordPurpose): RecordStatus | null {
  const statuses = findings.filter((finding) => finding.purpose === purpose).map(({ status }) => status)
  return ORDER.findLast((status) => statuses.includes(status)) ?? null
}

function namesOf({ findings }: DomainReadiness, purpose: RecordPurpose, status: RecordStatus): string {
  const named = findings.filter((finding) => finding.purpose === purpose && finding.status === status)
  return named.map(({ name }) => name).join(', ')
}
