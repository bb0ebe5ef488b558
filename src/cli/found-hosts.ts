import type { RecordStatus } from '../model/domain.ts'
import type { Lookup } from '../net/dns/lookup.ts'
import type { Resolver } from '../net/dns/resolver.ts'
import type { DnsHost } from './dns-table.ts'
import { UNKNOWN_ADDRESS } from './host-records.ts'

/** An address record of this machine, compared with DNS. `required` until its name has an address: bounces, and SPF by
 *  name, lead nowhere without one. A name may have one address family only. */
export interface FoundHost extends DnsHost {
  priority: null
  required: boolean
  status: RecordStatus
  found: string[]
}

/** Asks DNS for the address records of this machine. Behind NAT the address is unknown, and any is right. Never rejects. */
export async function findHosts(
  hosts: readonly DnsHost[],
  resolver: Pick<Resolver, 'a' | 'aaaa'>,
): Promise<FoundHost[]> {
  const all = await Promise.all(
    hosts.map(async (host) => {
      const lookup = await (host.type === 'A' ? resolver.a(host.name) : resolver.aaaa(host.name))
      const found = lookup.kind === 'records' ? lookup.records : []
      return { ...host, priority: null, status: statusOf(host, lookup), found }
    }),
  )
  const hasAddress = new Set(all.filter(({ found }) => found.length > 0).map(({ name }) => name))
  return all.map((host) => ({ ...host, required: !hasAddress.has(host.name) }))
}

function statusOf({ value }: DnsHost, lookup: Lookup<string>): RecordStatus {
  if (lookup.kind === 'temporary') return 'pending'
  if (lookup.kind !== 'records') return 'missing'
  return value === UNKNOWN_ADDRESS || lookup.records.includes(value) ? 'valid' : 'mismatch'
}
