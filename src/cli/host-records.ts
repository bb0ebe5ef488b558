import { isIP } from 'node:net'
import { ownAddresses } from '../checkup/deps.ts'
import type { HostRecord } from '../domains/zone-file.ts'
import { isPublicUnicast } from '../net/ip.ts'

/** Hostname and addresses of this machine → its A and AAAA records, one per address family with a public
 *  address. Without a public address (NAT): one A record with UNKNOWN_ADDRESS. [] if the hostname is outside
 *  the domain's zone. */
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

/** Placeholder in an A record, for users to replace. */
export const UNKNOWN_ADDRESS = '<public IP address of this machine>'
