import type { Lookup, Resolver } from '../net/dns/resolver.ts'
import { canonicalIp, isPublicUnicast } from '../net/ip.ts'
import type { Clock } from '../os/clock.ts'
import { setNewest } from '../os/set-newest.ts'
import { within } from '../os/within.ts'

/** Names of the servers that DMARC reports list. */
export interface SourceNames {
  /** Addresses → their confirmed names, as far as DNS answers within WAIT_MS; lookups continue, so that a later call
   *  finds more. At most MOST_LOOKED_UP of them are looked up, in order. Never rejects. */
  namesOf(addresses: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** Host → its addresses in their shortest form; empty without an answer within WAIT_MS. */
  addressesOf(host: string): Promise<ReadonlySet<string>>
}

/** How long a page waits for DNS. */
const WAIT_MS = 1_500
const MOST_LOOKED_UP = 100
/** At once, for all callers; each takes up to four questions. Further addresses wait for a later call. */
const MOST_AT_ONCE = 50
const MOST_KEPT = 10_000
const KEPT_MS = 24 * 3_600_000
/** Without a name, or without an answer. */
const RETRY_MS = 3_600_000
/** A PTR record set may have many names; the first ones are checked (RFC 1912 §2.1 expects one). */
const MOST_NAMES = 3

/** `resolver` needs no cache. Addresses that are not public have no name here: their names are those of the operator's
 *  own network. */
export function createSourceNames(deps: {
  resolver: Pick<Resolver, 'ptr' | 'a' | 'aaaa'>
  clock: Pick<Clock, 'now' | 'sleep'>
}): SourceNames {
  const { resolver, clock } = deps
  const kept = new Map<string, { name: string | null; until: number }>()
  const running = new Map<string, Promise<void>>()

  const lookUp = async (address: string) => {
    const name = await confirmedName(address, resolver).catch(() => null)
    setNewest(kept, address, { name, until: clock.now() + (name === null ? RETRY_MS : KEPT_MS) }, MOST_KEPT)
    running.delete(address)
  }
  const isFresh = (address: string) => (kept.get(address)?.until ?? 0) > clock.now()
  return {
    namesOf: async (addresses) => {
      const asked = addresses.slice(0, MOST_LOOKED_UP)
      for (const address of asked) {
        if (running.size >= MOST_AT_ONCE) break
        if (isFresh(address) || running.has(address) || !isPublicUnicast(address)) continue
        running.set(address, lookUp(address))
      }
      const awaited = asked.flatMap((address) => running.get(address) ?? [])
      if (awaited.length > 0) await within(clock, WAIT_MS, Promise.all(awaited))
      const names = addresses.map((address) => [address, kept.get(address)?.name ?? null] as const)
      return new Map(names.filter((entry): entry is [string, string] => entry[1] !== null))
    },
    addressesOf: async (host) => {
      const found = await within(clock, WAIT_MS, Promise.all([resolver.a(host), resolver.aaaa(host)]))
      return new Set((found ?? []).flatMap(recordsOf).map((address) => canonicalIp(address) ?? address))
    },
  }
}

/** The name whose address record leads back to the address: anybody can write any name into the PTR record. */
async function confirmedName(address: string, resolver: Pick<Resolver, 'ptr' | 'a' | 'aaaa'>): Promise<string | null> {
  const names = recordsOf(await resolver.ptr(address))
  for (const name of names.slice(0, MOST_NAMES)) {
    const host = name.toLowerCase().replace(/\.$/, '')
    if (!/^[a-z0-9._-]{1,253}$/.test(host)) continue
    const back = recordsOf(await (address.includes(':') ? resolver.aaaa(host) : resolver.a(host)))
    if (back.some((each) => canonicalIp(each) === canonicalIp(address))) return host
  }
  return null
}

const recordsOf = (lookup: Lookup<string>): string[] => (lookup.kind === 'records' ? lookup.records : [])
