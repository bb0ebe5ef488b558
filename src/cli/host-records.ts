import { isIP } from 'node:net'
import { type Config, sendingAddressesOf } from '../config/load.ts'
import type { HostRecord } from '../domains/zone-file.ts'
import { isPublicUnicast } from '../net/ip.ts'
import { ownAddresses } from '../operating/checkup/deps.ts'

/** Hostname and addresses of this machine → its A and AAAA records, one per address family with a public
 *  address, then those of its sending addresses. Without a public address (NAT): one A record with UNKNOWN_ADDRESS.
 *  Leaves out names outside the domain's zone. */
export function hostRecords(
  config: Pick<Config, 'hostname' | 'sending'>,
  domain: string,
  addresses: readonly string[] = ownAddresses(),
): HostRecord[] {
  const { hostname } = config
  const first = (family: number) => addresses.find((ip) => isIP(ip) === family && isPublicUnicast(ip))
  const known = [first(4), first(6)].flatMap((ip) => (ip === undefined ? [] : [recordOf(hostname, ip)]))
  const ours: HostRecord[] = known.length > 0 ? known : [{ type: 'A', name: hostname, value: UNKNOWN_ADDRESS }]
  const sending = sendingAddressesOf(config).map((each) => recordOf(each.hostname, each.address))
  const more = sending.filter((record) =>
    ours.every(({ name, value }) => name !== record.name || value !== record.value),
  )
  return [...ours, ...more].filter(({ name }) => name === domain || name.endsWith(`.${domain}`))
}

const recordOf = (name: string, ip: string): HostRecord => ({ type: isIP(ip) === 4 ? 'A' : 'AAAA', name, value: ip })

/** The reverse DNS that mail from this machine needs, as an instruction: one sentence, or a line for each sending address. */
export function reverseDnsText(config: Pick<Config, 'hostname' | 'sending'>): string {
  const sending = sendingAddressesOf(config)
  const where = 'At the provider of this machine, set the reverse DNS (PTR) of'
  if (sending.length === 0) return `${where} its IP address to ${config.hostname}`
  return `${where} ${sending.map(({ address, hostname }) => `${address} to ${hostname}`).join(', ')}`
}

/** Placeholder in an A record, for users to replace. */
export const UNKNOWN_ADDRESS = '<public IP address of this machine>'
