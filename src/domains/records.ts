import { isIPv6 } from 'node:net'
import { dkimRecordValue } from '../mail/dkim.ts'
import type { DnsRecord, Domain, Finding } from '../model/domain.ts'
import type { OwnMtaSts } from './mta-sts.ts'
import { ownershipName, ownershipValue } from './ownership.ts'
import { dmarcValue, tlsRptValue } from './report-records.ts'

/** Domain, server name and configured sending addresses → the DNS records to publish, signing keys first.
 *
 *  SPF is at the return path host, because SPF checks the domain of MAIL FROM (RFC 7208 §2.4); relaxed alignment makes
 *  it count for DMARC (RFC 7489 §3.1.2). It ends in `~all`, so that forwarded mail is not refused before its DKIM
 *  signature is checked. Retiring keys stay published but are not required. The ownership record proves the name where
 *  no DKIM key is published: for domains that only receive. The two MTA-STS records appear when a policy is published,
 *  for domains that receive mail here. The DMARC and TLS records request reports to this server. */
export function dnsRecords(
  domain: Domain,
  hostname: string,
  mtaSts: OwnMtaSts | null = null,
  addresses: readonly string[] = [],
): DnsRecord[] {
  const { name, returnPathHost, tracking } = domain
  const records: DnsRecord[] = domain.dkim.map((key) => ({
    ...txt('dkim', `${key.selector}._domainkey.${name}`, dkimRecordValue(key.algorithm, key.publicKey)),
    required: key.state !== 'retiring',
  }))
  records.push(
    { ...txt('ownership', ownershipName(name), ownershipValue(domain.id)), required: false },
    mx('return_path', returnPathHost, hostname, true),
    txt('spf', returnPathHost, `v=spf1 ${spfMechanisms(hostname, addresses).join(' ')} ~all`),
    { ...txt('dmarc', `_dmarc.${name}`, dmarcValue(domain)), required: false },
    mx('mx', name, hostname, false),
    { ...txt('tls_rpt', `_smtp._tls.${name}`, tlsRptValue(domain)), required: false },
  )
  if (tracking.host !== null) {
    const cname = { purpose: 'tracking', type: 'CNAME', name: tracking.host, value: hostname } as const
    records.push({ ...cname, priority: null, required: true })
  }
  if (mtaSts !== null) {
    const host = { purpose: 'mta_sts_host', type: 'CNAME', name: `mta-sts.${name}`, value: mtaSts.httpsHost } as const
    records.push(
      { ...txt('mta_sts', `_mta-sts.${name}`, `v=STSv1; id=${mtaSts.policyId};`), required: false },
      { ...host, priority: null, required: false },
    )
  }
  return records
}

/** Terms that pass mail from this server: its name, and each configured address. */
function spfMechanisms(hostname: string, addresses: readonly string[]): string[] {
  return [`a:${hostname}`, ...addresses.map((address) => `${isIPv6(address) ? 'ip6' : 'ip4'}:${address}`)]
}

/** The last DNS check's finding for a record; null before the first check and for newer records. */
export function findingOf(domain: Domain, record: DnsRecord): Finding | null {
  const isSame = (finding: Finding) =>
    finding.purpose === record.purpose && finding.type === record.type && finding.name === record.name
  return domain.findings.find(isSame) ?? null
}

function txt(purpose: DnsRecord['purpose'], name: string, value: string): DnsRecord {
  return { purpose, type: 'TXT', name, value, priority: null, required: true }
}

function mx(purpose: DnsRecord['purpose'], name: string, value: string, required: boolean): DnsRecord {
  return { purpose, type: 'MX', name, value, priority: 10, required }
}
