import type { ZoneRecord } from '../../src/cli/try/zone-server.ts'

/** A backlog of failing destinations: due deliveries to destinations that refuse the connection, accept it and never
 *  answer, answer each command two seconds late, or defer every recipient. The top-level domain is the behaviour, so
 *  that every destination is a separate domain with its own host and shares no limits. */

/** Nothing listens at the first one. */
export const ADDRESSES = {
  refusing: '127.0.0.2',
  silent: '127.0.0.3',
  deferring: '127.0.0.4',
  slow: '127.0.0.5',
} as const

const MANNERS = Object.keys(ADDRESSES) as (keyof typeof ADDRESSES)[]

/** Their DNS records: an address and no MX. */
export const TROUBLED_ZONE: ZoneRecord[] = MANNERS.map((manner) => ({
  name: `*.${manner}`,
  type: 'A',
  data: ADDRESSES[manner],
}))

/** That many addresses, half of them at twelve destinations, half at one destination each, spread evenly over the
 *  behaviours. */
export function troubledAddresses(count: number): string[] {
  return Array.from({ length: count }, (_, at) => {
    const manner = MANNERS[at % MANNERS.length]
    const destination = at % 8 < 4 ? `few${(at >> 3) % 3}` : `d${at}`
    return `r${at}@${destination}.${manner}`
  })
}
