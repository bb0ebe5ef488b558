import { isIPv6 } from 'node:net'
import type { Config } from '../config/load.ts'
import { dkimRecordValue } from '../mail/dkim.ts'
import type { DnsRecord, Domain, Finding } from '../model/domain.ts'
import { freeSlots, zoneTarget } from './delegated-zone.ts'
import { type OwnMtaSts, publishedMtaSts } from './mta-sts.ts'
import { ownershipName, ownershipValue } from './ownership.ts'
import { dmarcValue, tlsRptValue } from './report-records.ts'

/** This server, as the DNS records of domains name it. */
export interface OwnServer {
  hostname: string
  /** Null if this server publishes no policy. */
  mtaSts: OwnMtaSts | null
  /** Configured addresses that mail is sent from. */
  sendingAddresses: readonly string[]
  /** The zone delegated to this server, or null. The records count as published either as CNAME to it or by themselves. */
  zone: string | null
  /** Zones that this server changes at their provider. */
  providerZones: readonly string[]
}

/** Config → this server with its own hostname, not with those of other nodes. */
export function ownServerOf(config: Config): OwnServer {
  const { hostname, sending, dns } = config
  const sendingAddresses = sending.addresses.map(({ address }) => address)
  const { zone, providerZones } = dns
  return { hostname, mtaSts: publishedMtaSts(config), sendingAddresses, zone, providerZones }
}

/** Domain and server → the DNS records to publish, signing keys first. With a delegated zone, CNAME records to it replace
 *  all but the ownership record and the MX of the domain itself. */
export function dnsRecords(domain: Domain, server: OwnServer): DnsRecord[] {
  return wantedRecords(domain, server).map(({ record }) => record)
}

/** A record to publish, and the records that its name must have: itself, or those behind its CNAME. */
export interface WantedRecord {
  record: DnsRecord
  contents: DnsRecord[]
}

/** As dnsRecords, each record with its contents. Behind a delegated zone, a domain may publish the contents themselves instead
 *  of the CNAME record to the zone. */
export function wantedRecords(domain: Domain, { hostname, mtaSts, sendingAddresses, zone }: OwnServer): WantedRecord[] {
  const us = { hosts: [hostname], webHost: hostname, mtaSts, addresses: sendingAddresses }
  if (zone === null) return recordsOf(domain, us).map((record) => ({ record, contents: [record] }))
  const wanted: WantedRecord[] = []
  for (const record of [...recordsOf(domain, us), ...standbyRecords(domain)]) {
    const target = zoneTarget(record, domain, zone)
    const same = target === null ? undefined : wanted.find((each) => each.record.value === target)
    if (same !== undefined) same.contents.push(record)
    else wanted.push({ record: target === null ? record : aliasOf(record, target), contents: [record] })
  }
  return wanted
}

/** This server, as the records name it. */
export interface PublishedServer {
  /** Names of the hosts that receive and send mail, the first one first. */
  hosts: readonly string[]
  /** Name of the host of links. */
  webHost: string
  mtaSts: OwnMtaSts | null
  /** Configured addresses that mail is sent from. */
  addresses: readonly string[]
}

/** Domain and server → the records that have the values themselves.
 *
 *  SPF is at the return path host, because SPF checks the domain of MAIL FROM (RFC 7208 §2.4); relaxed alignment makes
 *  it count for DMARC (RFC 7489 §3.1.2). It ends in `~all`, so that forwarded mail is not refused before its DKIM
 *  signature is checked. Retiring keys stay published but are not required. The ownership record proves the name where
 *  no DKIM key is published: for domains that only receive. The two MTA-STS records appear when a policy is published,
 *  for domains that receive mail here. The DMARC and TLS records request reports to this server. */
export function recordsOf(domain: Domain, { hosts, webHost, mtaSts, addresses }: PublishedServer): DnsRecord[] {
  const { name, returnPathHost, tracking } = domain
  const records: DnsRecord[] = domain.dkim.map((key) => ({
    ...txt('dkim', `${key.selector}._domainkey.${name}`, dkimRecordValue(key.algorithm, key.publicKey)),
    required: key.state !== 'retiring',
  }))
  records.push(
    { ...txt('ownership', ownershipName(name), ownershipValue(domain.id)), required: false },
    ...hosts.map((host) => mx('return_path', returnPathHost, host, true)),
    txt('spf', returnPathHost, `v=spf1 ${spfMechanisms(hosts, addresses).join(' ')} ~all`),
    { ...txt('dmarc', `_dmarc.${name}`, dmarcValue(domain)), required: false },
    ...hosts.map((host) => mx('mx', name, host, false)),
    { ...txt('tls_rpt', `_smtp._tls.${name}`, tlsRptValue(domain)), required: false },
  )
  if (tracking.host !== null) records.push(cname('tracking', tracking.host, webHost, true))
  if (mtaSts !== null) {
    records.push(
      { ...txt('mta_sts', `_mta-sts.${name}`, `v=STSv1; id=${mtaSts.policyId};`), required: false },
      cname('mta_sts_host', `mta-sts.${name}`, mtaSts.httpsHost, false),
    )
  }
  return records
}

/** The selectors that wait for the next keys, with empty keys. They are not required: rotation waits for them. */
export function standbyRecords(domain: Domain): DnsRecord[] {
  return freeSlots(domain).map(({ selector, algorithm }) => ({
    ...txt('dkim_standby', `${selector}._domainkey.${domain.name}`, dkimRecordValue(algorithm, '')),
    required: false,
  }))
}

/** SPF mechanisms that match this server: its names, and each configured address. */
export function spfMechanisms(hosts: readonly string[], addresses: readonly string[]): string[] {
  return [
    ...hosts.slice(0, MOST_SPF_LOOKUPS).map((host) => `a:${host}`),
    ...addresses.map((address) => `${isIPv6(address) ? 'ip6' : 'ip4'}:${address}`),
  ]
}

/** More terms that look up a name are an error. RFC 7208 §4.6.4 */
const MOST_SPF_LOOKUPS = 10

/** The last DNS check's finding for a record; null before the first check and for newer records. */
export function findingOf(domain: Domain, record: DnsRecord): Finding | null {
  const isSame = (finding: Finding) =>
    finding.purpose === record.purpose && finding.type === record.type && finding.name === record.name
  return domain.findings.find(isSame) ?? null
}

function txt(purpose: DnsRecord['purpose'], name: string, value: string): DnsRecord {
  return { purpose, type: 'TXT', name, value, priority: null, required: true }
}

function cname(purpose: DnsRecord['purpose'], name: string, value: string, required: boolean): DnsRecord {
  return { purpose, type: 'CNAME', name, value, priority: null, required }
}

const aliasOf = ({ purpose, name, required }: DnsRecord, target: string) => cname(purpose, name, target, required)

function mx(purpose: DnsRecord['purpose'], name: string, value: string, required: boolean): DnsRecord {
  return { purpose, type: 'MX', name, value, priority: 10, required }
}
