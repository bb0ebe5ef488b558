import { isIP } from 'node:net'
import { ownAddresses } from '../checkup.ts'
import type { HostRecord } from '../domains/zone-file.ts'
import { isPublicUnicast } from '../platform/ip.ts'

/** The machine's name → its address records; with one for people to fill in where the public address is not known (NAT).
 *  None when the name is not of the domain's zone, since then they stand elsewhere. */
export function hostRecords(hostname: string, domain: string): HostRecord[] {
  if (hostname !== domain && !hostname.endsWith(`.${domain}`)) return []
  const addresses = ownAddresses().filter(isPublicUnicast)
  const records = addresses.map(
    (value): HostRecord => ({ type: isIP(value) === 6 ? 'AAAA' : 'A', name: hostname, value }),
  )
  return records.length > 0 ? records : [{ type: 'A', name: hostname, value: UNKNOWN_ADDRESS }]
}

export const UNKNOWN_ADDRESS = '<the public address of this machine>'
