import type { Clock } from '../../os/clock.ts'
import type { Random } from '../../os/random.ts'
import { createResolver, type Lookup, type Resolver } from './resolver.ts'

/** Creates a resolver that asks the name servers of each name directly, so that no cache delays new records: a
 *  shared resolver may report for hours that a record is missing (RFC 2308). It finds those servers through `base`,
 *  and uses `base` for what they cannot answer: aliases, which may point into any zone, and names whose servers do
 *  not answer or have no address that `mayAsk` allows. Answers are not validated by DNSSEC: `authentic` is false.
 *  Use a new one for each check, because the servers of a name are looked up only once. */
export function createAuthoritativeResolver(options: {
  base: Resolver
  mayAsk: (ip: string) => boolean
  clock: Clock
  random: Random
  /** 53 except in tests. */
  port?: number
}): Resolver {
  const { base, mayAsk, clock, random, port = 53 } = options
  const found = new Map<string, Promise<Resolver | null>>()
  let isClosed = false

  const serversOf = async (name: string): Promise<Resolver | null> => {
    for (let at = fold(name); at.includes('.'); at = at.slice(at.indexOf('.') + 1)) {
      const hosts = await base.ns(at)
      if (hosts.kind === 'temporary') return null
      if (hosts.kind !== 'records') continue
      const lookups = await Promise.all(hosts.records.slice(0, MOST_SERVERS).map((host) => base.a(host)))
      const addresses = lookups.flatMap((lookup) => (lookup.kind === 'records' ? lookup.records : [])).filter(mayAsk)
      if (addresses.length === 0) return null
      const servers = addresses.slice(0, MOST_SERVERS).map((ip) => `${ip}:${port}`)
      return createResolver({ servers, clock, random, maxCacheEntries: 0, timeoutMs: TIMEOUT_MS })
    }
    return null
  }
  const authorities = (name: string) => {
    const known = found.get(fold(name)) ?? serversOf(name)
    found.set(fold(name), known)
    return known
  }
  const ask = async <T>(name: string, question: (resolver: Resolver) => Promise<Lookup<T>>): Promise<Lookup<T>> => {
    if (isClosed) return { kind: 'temporary', reason: 'resolver is closed' }
    const direct = await authorities(name)
    if (direct === null) return question(base)
    const alias = await direct.cname(name)
    if (alias.kind === 'records') return question(base)
    const answer = await question(direct)
    return answer.kind === 'temporary' ? question(base) : answer
  }

  return {
    mx: (name) => ask(name, (resolver) => resolver.mx(name)),
    a: (name) => ask(name, (resolver) => resolver.a(name)),
    aaaa: (name) => ask(name, (resolver) => resolver.aaaa(name)),
    txt: (name) => ask(name, (resolver) => resolver.txt(name)),
    txtStrings: (name) => ask(name, (resolver) => resolver.txtStrings(name)),
    cname: async (name) => {
      const direct = await authorities(name)
      const answer = await direct?.cname(name)
      return answer === undefined || answer.kind === 'temporary' ? base.cname(name) : answer
    },
    ns: base.ns,
    ptr: base.ptr,
    tlsa: base.tlsa,
    close: () => {
      isClosed = true
      base.close()
    },
  }
}

/** Further servers give the same answers. */
const MOST_SERVERS = 3
const TIMEOUT_MS = 1_500

const fold = (name: string) => name.replace(/\.$/, '').toLowerCase()
