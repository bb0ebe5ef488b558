import type { Answer } from 'dns-packet'
import { dkimRecordValue } from '../mail/dkim.ts'
import type { DkimKeyRecord, Domain } from '../model/domain.ts'
import { createAsk } from '../net/dns/client.ts'
import { targetOf } from '../net/dns/follow.ts'
import { createResolver, type Lookup, type Resolver } from '../net/dns/resolver.ts'
import type { Clock } from '../os/clock.ts'
import type { Random } from '../os/random.ts'
import { showsKey } from './dkim-record.ts'

/** A DNS server that does not show a DKIM key. */
export interface NotShown {
  /** `ns1.example.net (192.0.2.1)`, or the `ip:port` of a public resolver. */
  server: string
  name: string
  /** `other`: it has something else at the name. `silent`: no answer, also SERVFAIL and REFUSED. */
  reason: 'missing' | 'other' | 'silent'
}

/** Domain and some of its keys → the servers that do not show all of them; [] if every one does. */
export type Survey = (domain: Pick<Domain, 'name'>, keys: readonly DkimKeyRecord[]) => Promise<NotShown[]>

export interface SurveyDeps {
  /** Finds the servers of a name. */
  resolver: Resolver
  /** Resolvers that must show a key too, `ip:port`. */
  publicResolvers: readonly string[]
  /** Name servers of a domain are data of its owner: false for addresses that must not be contacted. */
  mayAsk: (ip: string) => boolean
  clock: Clock
  random: Random
  /** Of name servers; 53 except in tests. */
  port?: number
  /** Of one question, which is asked twice. */
  timeoutMs?: number
}

/** Creates the survey of DNS servers before new keys sign: every authoritative server of a key's name and, if it has a CNAME
 *  there, of its target, and every public resolver. Caches nothing. Never rejects. */
export function createSurvey(deps: SurveyDeps): Survey {
  return async (domain, keys) => {
    const ask = askOnce(deps)
    const found = await Promise.all(
      keys.flatMap((key) => {
        const name = `${key.selector}._domainkey.${domain.name}`.toLowerCase()
        const value = dkimRecordValue(key.algorithm, key.publicKey)
        return [byAuthorities(name, value, ask), ...deps.publicResolvers.map((at) => byResolver(at, name, value, deps))]
      }),
    )
    return found.flat()
  }
}

async function byResolver(server: string, name: string, value: string, deps: SurveyDeps): Promise<NotShown[]> {
  const { clock, random, timeoutMs = TIMEOUT_MS } = deps
  const resolver = createResolver({
    servers: [server],
    clock,
    random,
    maxCacheEntries: 0,
    timeoutMs,
    tries: 2,
  })
  const reason = faultOf(await resolver.txt(name), value)
  resolver.close()
  return reason === null ? [] : [{ server, name, reason }]
}

/** What is wrong with a TXT lookup of a key; null if it shows the key. */
function faultOf(lookup: Lookup<string>, value: string): NotShown['reason'] | null {
  if (lookup.kind === 'temporary') return 'silent'
  if (lookup.kind !== 'records') return 'missing'
  return showsKey(lookup.records, value) ? null : 'other'
}

/** Asks every server of the name, and of each name that its CNAME records lead to. */
async function byAuthorities(name: string, value: string, ask: AskServers, step = 0): Promise<NotShown[]> {
  const answers = await ask(name)
  const targets = new Set(answers.flatMap(({ found }) => (found.kind === 'alias' ? [found.target] : [])))
  const faults = answers.flatMap(({ server, found }): NotShown[] => {
    if (found.kind === 'alias') return step < MOST_ALIASES ? [] : [{ server, name, reason: 'missing' }]
    const reason = faultOf(found, value)
    return reason === null ? [] : [{ server, name, reason }]
  })
  if (step >= MOST_ALIASES || faults.length > 0) return faults
  const next = [...targets].slice(0, MOST_TARGETS).map((target) => byAuthorities(target, value, ask, step + 1))
  return (await Promise.all(next)).flat()
}

/** The TXT records or the CNAME that one server has at exactly a name. */
type Found = Lookup<string> | { kind: 'alias'; target: string }
type AskServers = (name: string) => Promise<{ server: string; found: Found }[]>

function askOnce({ resolver, mayAsk, random, port = 53, timeoutMs = TIMEOUT_MS }: SurveyDeps): AskServers {
  const known = new Map<string, Promise<Server[] | null>>()
  const serversOf = (zone: string) => {
    const servers = known.get(zone) ?? serversOfZone(zone, resolver, mayAsk)
    known.set(zone, servers)
    return servers
  }
  const nearest = async (name: string) => {
    for (let at = name; at.includes('.'); at = at.slice(at.indexOf('.') + 1)) {
      const servers = await serversOf(at)
      if (servers !== null) return servers
    }
    return []
  }
  return async (name) => {
    const servers = await nearest(name)
    if (servers.length === 0) return [{ server: `the name servers of ${name}`, found: SILENT }]
    return Promise.all(
      servers.map(async ({ host, ip }) => {
        if (ip === null) return { server: host, found: SILENT }
        const at = [ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`]
        const reply = await createAsk({ servers: at, random, timeoutMs, tries: 2, isTrusted: () => false })(name, 'TXT')
        const found = reply.kind === 'temporary' ? SILENT : foundAt(name, reply.answers, reply.isNxdomain)
        return { server: `${host} (${ip})`, found }
      }),
    )
  }
}

const SILENT = { kind: 'temporary', reason: 'no answer' } as const

/** `ip` is null if DNS has no address of the host that may be asked. */
interface Server {
  host: string
  ip: string | null
}

/** The name servers of exactly this zone; null if the name is no zone. Each is asked at its IPv4 addresses, and at IPv6 only
 *  if it has no other: a machine without IPv6 would otherwise wait for ever. */
async function serversOfZone(
  zone: string,
  resolver: Resolver,
  mayAsk: (ip: string) => boolean,
): Promise<Server[] | null> {
  const hosts = await resolver.ns(zone)
  if (hosts.kind === 'temporary') return []
  if (hosts.kind !== 'records') return null
  const servers = await Promise.all(
    hosts.records.slice(0, MOST_HOSTS).map(async (host): Promise<Server[]> => {
      const [first, second] = [await resolver.a(host), await resolver.aaaa(host)]
      const addresses = [first, second].map((lookup) =>
        lookup.kind === 'records' ? lookup.records.filter(mayAsk) : [],
      )
      const usable = addresses.find((list) => list.length > 0) ?? []
      return usable.length === 0 ? [{ host, ip: null }] : usable.slice(0, MOST_ADDRESSES).map((ip) => ({ host, ip }))
    }),
  )
  return servers.flat()
}

function foundAt(name: string, answers: readonly Answer[], isNxdomain: boolean): Found {
  const own = answers.filter((answer) => answer.name.toLowerCase() === name)
  const alias = own.find(({ type }) => type === 'CNAME')
  if (alias !== undefined) return { kind: 'alias', target: targetOf(alias) }
  const records = own.flatMap((answer) =>
    answer.type === 'TXT' ? [Buffer.concat([answer.data].flat().map((part) => Buffer.from(part))).toString()] : [],
  )
  if (records.length > 0) return { kind: 'records', records, ttlSeconds: 0, authentic: false }
  return { kind: isNxdomain ? 'nxdomain' : 'no_data' }
}

const TIMEOUT_MS = 2_000
const MOST_HOSTS = 16
const MOST_ADDRESSES = 4
const MOST_ALIASES = 4
/** Servers of one name that disagree about its target hold a key anyway. */
const MOST_TARGETS = 2
