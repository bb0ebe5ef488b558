import { startZone, type Zone } from '../../src/cli/try/zone-server.ts'
import { dnsRecords } from '../../src/domains/records.ts'
import { zoneRecordsOf } from '../../src/domains/zone-records.ts'
import type { Domain } from '../../src/model/domain.ts'
import { ownServer } from '../support/own-server.ts'

export const START = Date.UTC(2026, 10, 21)
export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
export const MAX_AGE = 3 * DAY
export const EVERY = 90 * DAY
export const HOSTNAME = 'mail.example.net'
export const ZONE = 'pm.example.net'
export const SETTINGS = {
  zone: ZONE,
  hosts: [HOSTNAME],
  webHost: HOSTNAME,
  mtaSts: null,
  addresses: [],
  nameServers: [HOSTNAME],
  ownNames: [],
  ownAddresses: [],
}

/** The customer's DNS, two servers of the zone and a public resolver, each a DNS server of its own at one port. The resolver
 *  of this machine has everything. */
export async function startDns(undo: (() => unknown)[]) {
  const start = async (host: string, port: number) => {
    const zone = await startZone([], { host, port })
    undo.push(() => zone.stop())
    return zone
  }
  const customer = await start('127.0.0.1', 0)
  const port = Number(customer.address.split(':')[1])
  const [first, second] = [await start('127.0.0.2', port), await start('127.0.0.3', port)]
  const near = await start('127.0.0.4', port)
  const far = await start('127.0.0.5', port)
  const all = [customer, first, second, near, far]
  for (const [zone, hosts] of [
    ['acme.example', ['127.0.0.1']],
    [ZONE, ['127.0.0.2', '127.0.0.3']],
  ] as const) {
    near.set(
      zone,
      'NS',
      hosts.map((host) => `ns-${host}.example`),
    )
    for (const host of hosts) near.set(`ns-${host}.example`, 'A', [host])
  }
  return { customer, first, second, near, far, all, port }
}

export type Dns = Awaited<ReturnType<typeof startDns>>

/** The customer's CNAME records, once; the servers given get the present records of the zone. */
export function publish(domain: Domain, dns: Dns, at: readonly Zone[]): void {
  const records = zoneRecordsOf(domain, SETTINGS)
  const aliases = dnsRecords(domain, ownServer(HOSTNAME, { zone: ZONE })).filter(({ type }) => type === 'CNAME')
  for (const zone of [dns.customer, dns.near, dns.far])
    for (const { name, value } of aliases) zone.set(name, 'CNAME', [value])
  for (const zone of at) for (const { name, type, value } of records) if (type === 'TXT') zone.set(name, 'TXT', [value])
}

export const states = ({ dkim }: Domain) => dkim.map(({ state }) => state).join()
export const KEYS = 'active,active'
export const WAITING = `${KEYS},pending,pending`
export const SWITCHED = `retiring,retiring,${KEYS}`
