import { isIPv6 } from 'node:net'
import type { Config } from '../config/load.ts'
import type { Domain } from '../model/domain.ts'
import { isInZone, zoneTarget } from './delegated-zone.ts'
import { publishedMtaSts } from './mta-sts.ts'
import { type PublishedServer, recordsOf, spfMechanisms, standbyRecords } from './records.ts'
import { serverNames } from './server-names.ts'

/** One record that the delegated zone holds. */
export interface ZoneRecord {
  /** Full name, lower-case A-labels, without the final dot. */
  name: string
  type: 'A' | 'AAAA' | 'CNAME' | 'MX' | 'NS' | 'SOA' | 'TXT'
  ttlSeconds: number
  /** An address, a name without the final dot, the text of TXT, or the fields of SOA as in a zone file. */
  value: string
  /** Of MX; null for other types. */
  priority: number | null
}

/** What the records of a zone depend on, beside the domains. */
export interface ZoneSettings extends PublishedServer {
  zone: string
  nameServers: readonly string[]
  /** Names of this server, which the zone answers for if they are inside it. */
  ownNames: readonly string[]
  /** Addresses of those names. */
  ownAddresses: readonly string[]
}

/** Config and the hostnames of all nodes (empty without nodes) → ZoneSettings, the same on every node whose config agrees;
 *  null without a zone. */
export function zoneSettings(config: Config, nodes: readonly string[]): ZoneSettings | null {
  const { hostname, dns, http, tls, sending } = config
  if (dns.zone === null) return null
  const hosts = [...new Set([hostname, ...nodes])].sort()
  // The policy of a node names the node's hostname, so all nodes answer with the policy of the first one.
  const mtaSts = publishedMtaSts({ ...config, hostname: hosts[0] ?? hostname })
  const [ofWeb] = serverNames({ hostname: '', publicUrl: http.publicUrl, names: [] }).filter((name) =>
    name.includes('.'),
  )
  const nameServers = dns.nameServers.length > 0 ? dns.nameServers : hosts
  return {
    zone: dns.zone,
    hosts,
    webHost: ofWeb ?? hosts[0] ?? hostname,
    mtaSts,
    addresses: sending.addresses.map(({ address }) => address),
    nameServers,
    ownNames: [...new Set([...hosts, ...nameServers, ...(ofWeb === undefined ? [] : [ofWeb]), ...tls.names])],
    ownAddresses: dns.addresses,
  }
}

/** Domain → the records that the zone holds for it: keys, also empty ones for the selectors of the next rotation, return
 *  path, links and policies. Only values that are public anyway; claims without proof have theirs too, because the DKIM
 *  keys are the proof. */
export function zoneRecordsOf(domain: Domain, settings: ZoneSettings): ZoneRecord[] {
  return [...recordsOf(domain, settings), ...standbyRecords(domain)].flatMap((record) => {
    const name = zoneTarget(record, domain, settings.zone)
    if (name === null) return []
    return [{ name, type: record.type, ttlSeconds: TTL_SECONDS, value: record.value, priority: record.priority }]
  })
}

/** The records of the zone itself, and of the server's names inside it. */
export function serverRecords(settings: ZoneSettings): ZoneRecord[] {
  const { zone, hosts, nameServers, ownNames, ownAddresses, addresses } = settings
  const [primary = zone] = nameServers
  const ofServer = hosts.filter((host) => isInZone(host, zone))
  const spf = `v=spf1 ${spfMechanisms(hosts, addresses).join(' ')} -all`
  return [
    record(zone, 'SOA', `${primary} postmaster.${hosts[0] ?? zone} ${SOA_NUMBERS}`, STABLE_SECONDS),
    ...nameServers.map((name) => record(zone, 'NS', name, STABLE_SECONDS)),
    ...[...new Set([zone, ...ownNames.filter((name) => isInZone(name, zone))])].flatMap((name) =>
      ownAddresses.map((address) => record(name, isIPv6(address) ? 'AAAA' : 'A', address)),
    ),
    ...ofServer.flatMap((host) => [{ ...record(host, 'MX', host), priority: 10 }, record(host, 'TXT', spf)]),
    ...(ofServer.includes(zone) ? [] : [record(zone, 'TXT', 'v=spf1 -all')]), // no mail comes from it
  ]
}

function record(name: string, type: ZoneRecord['type'], value: string, ttlSeconds = TTL_SECONDS): ZoneRecord {
  return { name, type, ttlSeconds, value, priority: null }
}

/** Short, because keys change and receivers should see it soon. */
const TTL_SECONDS = 300
const STABLE_SECONDS = 3600
/** Serial, refresh, retry, expire and the time of negative answers. Nothing transfers the zone, so the serial says nothing
 *  and is the same on every node. RFC 1035 §3.3.13, RFC 2308 §4 */
const SOA_NUMBERS = '1 3600 600 604800 60'
