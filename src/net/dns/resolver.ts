import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import type { Answer } from 'dns-packet'
import { getDomain } from 'tldts'
import type { Clock } from '../../os/clock.ts'
import type { Random } from '../../os/random.ts'
import { createNetworks, isIpLiteral } from '../ip.ts'
import { createFairQueue } from '../limiters/fair-queue.ts'
import { createDnsCache } from './cache.ts'
import { type Ask, createAsk, longestAskMs } from './client.ts'
import { canExist, followAliases, targetOf } from './follow.ts'
import type { Lookup, MxRecord, RecordType, Resolver, TlsaRecord } from './lookup.ts'
import { reverseName } from './reverse-name.ts'

export type { Lookup, MxRecord, RecordType, Resolver, TlsaRecord } from './lookup.ts'
export { mailauthResolver } from './mailauth-resolver.ts'

/** A resolver that many clients share. */
export interface SharedResolver extends Resolver {
  /** The same resolver for lookups that one client causes; the caller names the client (for example its network).
   *  Clients take turns, and one client or one domain that does not answer occupies only a part of the lookups. */
  forClient(client: string): Resolver
}

export interface ResolverOptions {
  /** `ip:port` or `[v6]:port`, asked in this order. */
  servers: string[]
  clock: Clock
  random: Random
  /** Networks (CIDR) of validating servers over a path that cannot be tampered with: their AD flag is trusted. */
  trustedServers?: readonly string[]
  /** Time limit of one question to one server, in ms. */
  timeoutMs?: number
  /** Queries to all servers together before it gives up. */
  tries?: number
  /** 0 disables the cache, to see records that were published a second ago. */
  maxCacheEntries?: number
  /** Maximum of concurrent queries. Further ones wait, at most as long as one lookup may take. */
  maxConcurrent?: number
}

/** Share of the concurrent questions for one client, and for one registered domain: a fifth each, so that five
 *  unresponsive ones are needed to delay others. Our own questions have no such limit. */
const SHARE = 1 / 5
/** Waiting questions per client. A mail causes some dozens, one after the other. */
const WAITING_PER_CLIENT = 500

/** Creates our own resolver, which has what the runtime's lacks: complete TXT records, a distinction between missing
 *  data and NXDOMAIN, TLSA, and AD. It caches answers for their TTL (1 s to 1 day), negative answers for the SOA's
 *  negative TTL (at most 5 min, RFC 2308), and failures for one second. Equal concurrent questions are asked once.
 *  Throws for a server that is not `ip:port`. */
export function createResolver(options: ResolverOptions): SharedResolver {
  const { clock, random, servers, timeoutMs = 2000, tries = 3, maxCacheEntries = 10_000, maxConcurrent = 100 } = options
  const cache = createDnsCache<Lookup<Answer>>({ clock, maxEntries: maxCacheEntries, maxBytes: CACHE_BYTES, bytesOf })
  const underWay = new Map<string, Promise<Lookup<Answer>>>()
  const patience = { servers, timeoutMs, tries }
  const isTrusted = createNetworks(options.trustedServers ?? [])
  const askServers = createAsk({ ...patience, random, isTrusted })
  const share = Math.max(1, Math.floor(maxConcurrent * SHARE))
  const limits = { total: maxConcurrent, perClient: share, perGroup: share, waitingPerClient: WAITING_PER_CLIENT }
  const queue = createFairQueue({ ...limits, longestWaitMs: longestAskMs(patience) }, () => performance.now())
  const askFor =
    (client: string | null): Ask =>
    async (name, type) =>
      (await queue.run(client, groupOf(name), () => askServers(name, type))) ?? TOO_MANY
  let isClosed = false

  const lookupFor = (client: string | null) => {
    const ask = askFor(client)
    return <T>(given: string, type: RecordType, read: (answer: Answer) => T[]): Promise<Lookup<T>> =>
      lookup(client, ask, given, type, read)
  }

  const lookup = async <T>(
    client: string | null,
    ask: Ask,
    given: string,
    type: RecordType,
    read: (answer: Answer) => T[],
  ): Promise<Lookup<T>> => {
    const name = given.replace(/\.$/, '').toLowerCase()
    if (!canExist(name)) return { kind: 'nxdomain' }
    if (isClosed) return { kind: 'temporary', reason: 'resolver is closed' }
    const key = `${type} ${name}`
    const cached = cache.get(key)
    if (cached) return withRecords(cached.value, read, cached.secondsLeft)
    // Not shared between clients: a client's question must not wait for an earlier one of another client.
    const place = client === null ? key : `${key} ${client}`
    const asking = underWay.get(place) ?? start(ask, place, key, name, type)
    return withRecords(await asking, read)
  }

  const start = (ask: Ask, place: string, key: string, name: string, type: RecordType) => {
    const asking = followAliases(ask, name, type)
      .then(({ lookup, keepSeconds }) => {
        cache.set(key, lookup, keepSeconds)
        return lookup
      })
      .finally(() => underWay.delete(place))
    underWay.set(place, asking)
    return asking
  }

  const close = () => {
    isClosed = true
  }
  return {
    ...methodsOf(lookupFor(null)),
    forClient: (client) => ({ ...methodsOf(lookupFor(client)), close }),
    close,
  }
}

type LookUp = <T>(given: string, type: RecordType, read: (answer: Answer) => T[]) => Promise<Lookup<T>>

const methodsOf = (lookUp: LookUp): Omit<Resolver, 'close'> => ({
  mx: (name) => lookUp(name, 'MX', readMx),
  a: (name) => lookUp(name, 'A', readText),
  aaaa: (name) => lookUp(name, 'AAAA', readText),
  txt: (name) => lookUp(name, 'TXT', readTxt),
  txtStrings: (name) => lookUp(name, 'TXT', readStrings),
  cname: (name) => lookUp(name, 'CNAME', readTarget),
  ns: (name) => lookUp(name, 'NS', readTarget),
  ptr: (ip) => lookUp(isIpLiteral(ip) ? reverseName(ip) : ip, 'PTR', readTarget),
  tlsa: (name) => lookUp(name, 'TLSA', readTlsa),
})

/** Ten thousand answers of usual size take about 5 MB. With 64 KiB each they would take 640 MB. */
const CACHE_BYTES = 20_000_000

/** Approximate memory of an answer. */
function bytesOf(lookup: Lookup<Answer>): number {
  if (lookup.kind !== 'records') return 0
  return lookup.records.reduce(
    (sum, record) => sum + RECORD_BYTES + dataBytes('data' in record ? record.data : null),
    0,
  )
}

const RECORD_BYTES = 200

function dataBytes(data: unknown): number {
  if (typeof data === 'string') return 2 * data.length
  if (data instanceof Uint8Array) return 100 + data.length
  if (Array.isArray(data)) return data.reduce<number>((sum, each) => sum + dataBytes(each), 0)
  return typeof data === 'object' && data !== null ? dataBytes(Object.values(data)) : 8
}

const TOO_MANY = { kind: 'temporary', reason: 'too many lookups' } as const

/** Group of names that the same name servers answer: the registered domain; for a reverse name roughly the zone of
 *  an IPv4 /24. */
function groupOf(name: string): string {
  if (name.endsWith('.arpa')) return name.split('.').slice(-5).join('.')
  return getDomain(name) ?? name
}

/** Text of a resolv.conf → its first three servers as `ip:port`; without an argument, this machine's file.
 *  127.0.0.1:53 if it names none. Never throws. resolv.conf(5) */
export function systemServers(resolvConf = readResolvConf()): string[] {
  const servers = resolvConf
    .split('\n')
    .map((line) => /^\s*nameserver\s+(\S+)/.exec(line)?.[1] ?? '')
    .filter(isIpLiteral)
    .map((ip) => (isIP(ip) === 6 ? `[${ip}]:53` : `${ip}:53`))
  return servers.length > 0 ? servers.slice(0, 3) : ['127.0.0.1:53']
}

function withRecords<T>(lookup: Lookup<Answer>, read: (answer: Answer) => T[], ttlSeconds?: number): Lookup<T> {
  if (lookup.kind !== 'records') return lookup
  return { ...lookup, ttlSeconds: ttlSeconds ?? lookup.ttlSeconds, records: lookup.records.flatMap(read) }
}

// Each reader returns [] for a record of another type.

const readText = (answer: Answer): string[] =>
  'data' in answer && typeof answer.data === 'string' ? [answer.data] : []

const readTarget = (answer: Answer): string[] => [targetOf(answer)]
const readTxt = (answer: Answer): string[] =>
  readStrings(answer).map((strings) => Buffer.from(strings.join(''), 'latin1').toString('utf8'))

function readStrings(answer: Answer): string[][] {
  if (answer.type !== 'TXT') return []
  return [[answer.data].flat().map((bytes) => (typeof bytes === 'string' ? bytes : bytes.toString('latin1')))]
}

function readMx(answer: Answer): MxRecord[] {
  if (answer.type !== 'MX') return []
  const { preference, exchange } = answer.data
  return [{ preference: preference ?? 0, exchange: exchange.toLowerCase() }]
}

function readTlsa(answer: Answer): TlsaRecord[] {
  if (answer.type !== 'TLSA') return []
  const { usage, selector, matchingType, certificate } = answer.data
  return [{ usage, selector, matchingType, certificate: new Uint8Array(certificate) }]
}

function readResolvConf(): string {
  try {
    return readFileSync('/etc/resolv.conf', 'utf8')
  } catch {
    return ''
  }
}
