import { BlockList, isIPv6 } from 'node:net'
import { comparableHost } from '../mail/address.ts'
import { isSpf } from '../mail/spf-record.ts'
import type { Lookup, Resolver } from '../net/dns/resolver.ts'

/** The sender that SPF must allow: this server's name and addresses. */
export interface Sender {
  hostname: string
  /** Null if DNS gave no answer. */
  addresses: string[] | null
  /** True: the addresses must pass, and the name by itself says nothing about them. */
  isOnly?: boolean
}

/** SPF record at `host` → whether it passes the sender; `unknown` if DNS gave no answer. Follows include and redirect
 *  with at most ten lookups, as receivers do (RFC 7208 §4.6.4). Not a full evaluation: macros and `exists` count as no
 *  match. Never throws. */
export async function spfAllows(
  record: string,
  host: string,
  sender: Sender,
  resolver: Resolver,
  budget: { lookups: number } = { lookups: 10 },
): Promise<'yes' | 'no' | 'unknown'> {
  let isUncertain = false
  for (const term of record.trim().toLowerCase().split(/\s+/).slice(1)) {
    const answer = await termAllows(term, host, sender, resolver, budget)
    if (answer === 'yes') return 'yes'
    if (answer === 'unknown') isUncertain = true
  }
  return isUncertain ? 'unknown' : 'no'
}

type Verdict = 'yes' | 'no' | 'unknown'

async function termAllows(
  term: string,
  host: string,
  sender: Sender,
  resolver: Resolver,
  budget: { lookups: number },
): Promise<Verdict> {
  const match = TERM.exec(term)
  if (match === null) return 'no'
  const [, name, target = '', prefix] = match
  const domain = target === '' ? host : target
  switch (name) {
    case 'all':
      return 'yes'
    case 'ip4':
    case 'ip6':
      if (sender.addresses === null) return 'unknown'
      return sender.addresses.some((ip) => isInside(ip, target, prefix)) ? 'yes' : 'no'
    case 'a':
      if (domain === sender.hostname && sender.isOnly !== true) return 'yes'
      if (!spend(budget)) return 'no'
      return sharesAddress(await (isOnlyV6(sender) ? resolver.aaaa(domain) : resolver.a(domain)), sender)
    case 'mx':
      if (sender.isOnly === true || !spend(budget)) return 'no'
      return matches(await resolver.mx(domain), ({ exchange }) => sameHost(exchange, sender.hostname))
    default: {
      if (target === '' || !spend(budget)) return 'no'
      const lookup = await resolver.txt(target)
      if (lookup.kind === 'temporary') return 'unknown'
      const next = lookup.kind === 'records' ? lookup.records.find(isSpf) : undefined
      return next === undefined ? 'no' : spfAllows(next, target, sender, resolver, budget)
    }
  }
}

const isOnlyV6 = ({ isOnly = false, addresses }: Sender) => isOnly && (addresses ?? []).every(isIPv6)

/** Addresses of a host → whether one is the sender's. */
export function sharesAddress(lookup: Lookup<string>, sender: Sender): Verdict {
  const { addresses } = sender
  if (lookup.kind !== 'records') return matches(lookup, () => false)
  return addresses === null ? 'unknown' : matches(lookup, (ip) => addresses.includes(ip))
}

/** Compares host names without letter case and final dot, those with U-labels by their A-labels. */
export function sameHost(a: string, b: string): boolean {
  return comparableHost(a) === comparableHost(b)
}

// Terms that may pass: `+` or no qualifier. IPv6 addresses contain colons.
const TERM = /^\+?(all|a|mx|ip4|ip6|include|redirect)(?:[:=]([^/]+))?(?:\/(\d{1,3}))?(?:\/\/\d{1,3})?$/

function spend(budget: { lookups: number }): boolean {
  return budget.lookups-- > 0
}

function matches<T>(lookup: Lookup<T>, fits: (record: T) => boolean): Verdict {
  if (lookup.kind === 'temporary') return 'unknown'
  return lookup.kind === 'records' && lookup.records.some(fits) ? 'yes' : 'no'
}

function isInside(ip: string, network: string, prefix: string | undefined): boolean {
  const family = isIPv6(ip) ? 'ipv6' : 'ipv4'
  if ((isIPv6(network) ? 'ipv6' : 'ipv4') !== family) return false
  try {
    const list = new BlockList()
    list.addSubnet(network, prefix === undefined ? (family === 'ipv6' ? 128 : 32) : Number(prefix), family)
    return list.check(ip, family)
  } catch {
    return false // not an address or not a prefix
  }
}
