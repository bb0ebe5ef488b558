import { isIP } from 'node:net'
import { ownAddresses } from '../checkup/deps.ts'
import type { HostRecord } from '../domains/zone-file.ts'
import { isPublicUnicast } from '../net/ip.ts'

/** Address records of this machine, one per address family; a placeholder if no public address is known (NAT). None if
 *  the hostname is outside the domain's zone. */
export function hostRecords(
  hostname: string,
  domain: string,
  addresses: readonly string[] = ownAddresses(),
): HostRecord[] {
  if (hostname !== domain && !hostname.endsWith(`.${domain}`)) return []
  const first = (family: number) => addresses.find((ip) => isIP(ip) === family && isPublicUnicast(ip))
  const [a, aaaa] = [first(4), first(6)]
  if (a === undefined && aaaa === undefined) return [{ type: 'A', name: hostname, value: UNKNOWN_ADDRESS }]
  return [
    ...(a === undefined ? [] : [{ type: 'A' as const, name: hostname, value: a }]),
    ...(aaaa === undefined ? [] : [{ type: 'AAAA' as const, name: hostname, value: aaaa }]),
  ]
}

export const UNKNOWN_ADDRESS = '<public IP address of this machine>'
