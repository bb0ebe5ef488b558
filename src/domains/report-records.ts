import { readTlsRpt } from '../mail/tls-report.ts'
import type { Domain, RecordPurpose } from '../model/domain.ts'
import { registrableDomain } from './name.ts'
import { reportAddress } from './report-address.ts'

/** The DMARC record to publish: the one that DNS had at the last check with our report address added, so that policy and
 *  further addresses stay; otherwise one that only requests reports. A subdomain without a record of its own has that of
 *  its parent domain, whose `sp` applies to it (RFC 7489 §6.3). */
export function dmarcValue(domain: Domain): string {
  const found = onlyFound(domain, 'dmarc')
  if (found === null || !/^v=DMARC1\s*;/i.test(found)) return `v=DMARC1; p=none; rua=${uriOf(domain)}`
  return withAddress(registrableDomain(domain.name) === domain.name ? found : forSubdomain(found), domain)
}

/** The record that requests TLS reports, in the same way. RFC 8460 §3 */
export function tlsRptValue(domain: Domain): string {
  const found = onlyFound(domain, 'tls_rpt')
  if (found === null || readTlsRpt([found]).length === 0) return `v=TLSRPTv1; rua=${uriOf(domain)}`
  return withAddress(found, domain)
}

/** Whether a DMARC record of DNS asks for reports to us. */
export function requestsReports(record: string, domain: Domain): boolean {
  return uris(record).some((uri) => uri.toLowerCase().replace(/![0-9]{1,20}[kmgt]?$/, '') === uriOf(domain))
}

const uriOf = (domain: Domain) => `mailto:${reportAddress(domain)}`
/** Findings are cut at this length. A record that long is not proposed again, because its end is unknown. */
const LONGEST = 900
const RUA = /^rua\s*=/i

function onlyFound({ findings }: Domain, purpose: RecordPurpose): string | null {
  const found = findings.find((finding) => finding.purpose === purpose)?.found ?? []
  const [only] = found
  return only !== undefined && found.length === 1 && only.length <= LONGEST && /^[ -~]+$/.test(only) ? only : null
}

function uris(record: string): string[] {
  const field = partsOf(record).find((part) => RUA.test(part)) ?? ''
  return field
    .replace(RUA, '')
    .split(',')
    .map((uri) => uri.trim())
    .filter((uri) => uri !== '')
}

const partsOf = (record: string) =>
  record
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '')

function withAddress(record: string, domain: Domain): string {
  if (requestsReports(record, domain)) return record
  const others = partsOf(record).filter((part) => !RUA.test(part))
  return [...others, `rua=${[...uris(record), uriOf(domain)].join(',')}`].join('; ')
}

function forSubdomain(record: string): string {
  const parts = partsOf(record)
  const policy = parts.find((part) => /^sp\s*=/i.test(part))
  if (policy === undefined) return record
  const own = parts.filter((part) => !/^sp\s*=/i.test(part))
  return own.map((part) => (/^p\s*=/i.test(part) ? policy.slice(1) : part)).join('; ')
}
