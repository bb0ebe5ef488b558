import type { ZoneRecord } from '../../src/cli/try/zone-server.ts'

/** A backlog of trouble: deliveries that are due, to destinations that refuse the connection, accept it and never speak,
 *  answer each command two seconds late, or defer every recipient. The manner is the top-level domain, so that every
 *  destination is a domain of its own with a host of its own, and no two share what is known of a site. */

/** Nobody listens at the first one. */
export const ADDRESSES = {
  refusing: '127.0.0.2',
  silent: '127.0.0.3',
  deferring: '127.0.0.4',
  slow: '127.0.0.5',
} as const

const MANNERS = Object.keys(ADDRESSES) as (keyof typeof ADDRESSES)[]

/** What DNS knows of them: an address and no MX. */
export const TROUBLED_ZONE: ZoneRecord[] = MANNERS.map((manner) => ({
  name: `*.${manner}`,
  type: 'A',
  data: ADDRESSES[manner],
}))

/** So many addresses, half of them at twelve destinations, half at one destination each; all manners alike. */
export function troubledAddresses(count: number): string[] {
  return Array.from({ length: count }, (_, at) => {
    const manner = MANNERS[at % MANNERS.length]
    const destination = at % 8 < 4 ? `few${(at >> 3) % 3}` : `d${at}`
    return `r${at}@${destination}.${manner}`
  })
}
