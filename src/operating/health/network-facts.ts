import { isIP } from 'node:net'
import type { Lookup } from '../../net/dns/resolver.ts'
import { canonicalIp, isPublicUnicast } from '../../net/ip.ts'
import type { CheckDeps, Greeting, Installation } from './deps.ts'

/** Facts that several checks need, determined once. No function rejects. */
export interface NetworkFacts {
  /** False: no DNS check can run. */
  hasDns: () => Promise<boolean>
  /** DNS lookups of our own host name. */
  ownName: () => Promise<Record<Family, Lookup<string>>>
  /** Connections to mail servers of large mailbox providers; empty if connections are disabled, a smarthost is used,
   *  or none has an address. */
  calls: () => Promise<Call[]>
  /** Our addresses as seen by a mail server. */
  seenAddresses: (family: Family) => Promise<string[]>
  /** Public addresses that mail leaves from: what a mail server sees. If none answers, the machine's own public addresses, or
   *  behind NAT those that its name has in DNS. Empty if unknown. */
  publicAddresses: (family: Family) => Promise<string[]>
}

export type Family = 4 | 6
export interface Call extends Greeting {
  host: string
  family: Family
}

/** Providers whose mail servers are contacted: large, on several networks, and used to such connections. */
export const MAILBOX_PROVIDERS = ['gmail.com', 'outlook.com', 'yahoo.com'] as const

export function createNetworkFacts(installation: Installation, deps: CheckDeps): NetworkFacts {
  const { resolver } = deps
  const ask = async () => (await Promise.all(MAILBOX_PROVIDERS.map((name) => resolver.mx(name)))).map(recordsOf)

  const providers = once(ask)
  const hasDns = once(async () => {
    const elsewhere = deps.looksOutside ? resolver.mx(MAILBOX_PROVIDERS[0]) : null
    const { 4: a, 6: aaaa } = await ownName()
    if (a.kind !== 'temporary' || aaaa.kind !== 'temporary') return true
    return elsewhere !== null && (await elsewhere).kind !== 'temporary'
  })
  const ownName = once(async () => {
    const [a, aaaa] = await Promise.all([resolver.a(installation.hostname), resolver.aaaa(installation.hostname)])
    return { 4: a, 6: aaaa }
  })
  const calls = once(async () => {
    if (!deps.looksOutside || installation.smarthost !== null || !(await hasDns())) return []
    const hosts = (await providers()).flatMap((records) => best(records))
    const families = await ownFamilies()
    const made = await Promise.all(hosts.map((host) => callAt(host, families)))
    return made.flat()
  })
  const seenAddresses = async (family: Family) => {
    const words = (await calls()).filter((call) => call.family === family).map((call) => call.words)
    return [...new Set(words.flatMap((text) => seenFrom(text, family)))]
  }
  const publicAddresses = async (family: Family) => {
    const { sourceAddress, sendingAddresses } = installation
    const configured = sendingAddresses.map(({ address }) => address)
    const chosen = sourceAddress === null ? configured : [sourceAddress]
    const own = chosen.length === 0 ? deps.ownAddresses() : chosen
    const isOurs = (ip: string) => isIP(ip) === family && isPublicUnicast(ip)
    const seen = configured.length > 0 ? [] : await seenAddresses(family)
    for (const known of [seen, own.filter(isOurs)]) if (known.length > 0) return known
    return own.some((ip) => isIP(ip) === family) ? recordsOf((await ownName())[family]).filter(isOurs) : []
  }

  const ownFamilies = async (): Promise<Family[]> => {
    if (installation.sourceAddress !== null) return [isIP(installation.sourceAddress) as Family]
    const hasV6 = deps.ownAddresses().some((ip) => isIP(ip) === 6 && isPublicUnicast(ip))
    return hasV6 ? [4, 6] : [4]
  }
  const callAt = async (host: string, families: readonly Family[]): Promise<Call[]> => {
    const made = families.map(async (family): Promise<Call[]> => {
      const addresses = recordsOf(await (family === 4 ? resolver.a(host) : resolver.aaaa(host)))
      const address = addresses.find(deps.mayConnect)
      return address === undefined ? [] : [{ host, family, ...(await deps.greet(host, address)) }]
    })
    return (await Promise.all(made)).flat()
  }
  return { hasDns, ownName, calls, seenAddresses, publicAddresses }
}

/** Records of an answer; [] for any other result. */
export function recordsOf<T>(lookup: Lookup<T>): T[] {
  return lookup.kind === 'records' ? lookup.records : []
}

/** Address that some servers show in their EHLO reply: `250-mx.example at your service, [203.0.113.10]`. */
function seenFrom(words: string, family: Family): string[] {
  const answers = words.split('\n').filter((line) => /^\d+ S: 250[ -]/.test(line))
  return answers
    .flatMap((line) => /\[(?:IPv6:)?([0-9a-f:.]+)\]/i.exec(line)?.[1] ?? [])
    .flatMap((text) => canonicalIp(text) ?? [])
    .filter((ip) => isIP(ip) === family && isPublicUnicast(ip))
}

function best(records: readonly { preference: number; exchange: string }[]): string[] {
  const [first] = records.filter(({ exchange }) => exchange !== '.').toSorted((a, b) => a.preference - b.preference)
  return first === undefined ? [] : [first.exchange]
}

function once<T>(find: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | undefined
  return () => {
    found ??= find()
    return found
  }
}
