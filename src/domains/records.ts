import { dkimRecordValue } from '../mail/dkim.ts'
import type { DnsRecord, Domain, Finding } from '../model/domain.ts'
import type { OwnMtaSts } from './mta-sts.ts'
import { ownershipName, ownershipValue } from './ownership.ts'

/** Domain and the name of this server → the DNS records to publish, signing keys first (contract §5).
 *
 *  SPF stands at the return path's host, because that is the domain of MAIL FROM, the only identity SPF looks at (RFC
 *  7208 §2.4); relaxed alignment makes it count for DMARC (RFC 7489 §3.1.2). It ends in `~all`: mail that is forwarded
 *  must not be refused before its DKIM signature was looked at. Keys that retire stay published but are not required.
 *  The ownership record proves the name where no DKIM key is published: for domains that only receive.
 *  The two of MTA-STS are there when we publish a policy; they are for domains that receive their mail here. */
export function dnsRecords(domain: Domain, hostname: string, mtaSts: OwnMtaSts | null = null): DnsRecord[] {
  const { name, returnPathHost, tracking } = domain
  const records: DnsRecord[] = domain.dkim.map((key) => ({
    ...txt('dkim', `${key.selector}._domainkey.${name}`, dkimRecordValue(key.algorithm, key.publicKey)),
    required: key.state !== 'retiring',
  }))
  records.push(
    { ...txt('ownership', ownershipName(name), ownershipValue(domain.id)), required: false },
    mx('return_path', returnPathHost, hostname, true),
    txt('spf', returnPathHost, `v=spf1 a:${hostname} ~all`),
    { ...txt('dmarc', `_dmarc.${name}`, 'v=DMARC1; p=none'), required: false },
    mx('mx', name, hostname, false),
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

/** What the last look at DNS found for one record; null before the first look and for a record that is newer. */
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
