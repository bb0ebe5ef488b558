import type { Outcome } from '../../model/delivery.ts'
import type { Lookup, MxRecord, Resolver } from '../../net/dns/resolver.ts'
import { isIpLiteral } from '../../net/ip.ts'
import type { Random } from '../../os/random.ts'

/** Mail domain → hosts to try, best first, or the outcome when there are none. `authentic`: DNSSEC validated the MX
 *  records, or there are none and the addresses decide (RFC 7672 §2.2.2). */
export type Route = { kind: 'hosts'; hosts: string[]; authentic: boolean } | { kind: 'nowhere'; outcome: Outcome }

/** Host → addresses to connect to, in order; empty with the reason. `authentic`: DNSSEC validated all of them. */
export type Addresses = { addresses: string[]; reason: 'found' | 'none' | 'private' | 'temporary'; authentic: boolean }

/** Mail domain (A-label, or a bracketed address literal) → Route. MX hosts by preference, equal ones in random order,
 *  at most ten, each once; without MX the domain itself (RFC 5321 §5.1). A null MX (RFC 7505) or a nonexistent domain
 *  bounces hard. A DNS server that fails or does not answer always defers. Our own name among the hosts is not a loop:
 *  an inbound route may receive the mail. Never rejects. */
export async function findHosts(domain: string, resolver: Resolver, random: Random): Promise<Route> {
  const literal = ADDRESS_LITERAL.exec(domain)?.[1] ?? domain
  if (isIpLiteral(literal)) return { kind: 'hosts', hosts: [literal], authentic: false }
  return routeOf(domain, await resolver.mx(domain), random)
}

/** Like findHosts, from a completed MX lookup. */
export function routeOf(domain: string, lookup: Lookup<MxRecord>, random: Random): Route {
  switch (lookup.kind) {
    case 'records':
      return hostsOf(domain, lookup, random)
    case 'no_data':
      return { kind: 'hosts', hosts: [domain], authentic: true }
    case 'nxdomain':
      return nowhere(bounced('5.1.2', `domain ${domain} does not exist`, 'dns:nxdomain'))
    case 'temporary':
      return nowhere(deferred('4.4.3', `DNS lookup of ${domain} MX failed: ${lookup.reason}`, 'dns:temporary'))
  }
}

/** Whether the domain part is in brackets and needs no DNS lookup. */
export const isAddressLiteral = (domain: string) => ADDRESS_LITERAL.test(domain)

/** Host → IPv4, then IPv6 addresses, at most four, with both kinds if both exist. Omits addresses that `mayConnect`
 *  refuses: no MX record may lead into the operator's own network. `families` restricts the kinds (a fixed source
 *  address reaches only its own). A literal is its own address. Never rejects. */
export async function findAddresses(
  host: string,
  resolver: Resolver,
  mayConnect: (ip: string) => boolean,
  families: readonly (4 | 6)[] = [4, 6],
): Promise<Addresses> {
  const lookups = isIpLiteral(host)
    ? [literalLookup(host)]
    : await Promise.all(families.map((family) => (family === 4 ? resolver.a(host) : resolver.aaaa(host))))
  const found = lookups.map((lookup) => (lookup.kind === 'records' ? lookup.records : []))
  const allowed = found.map((addresses) => addresses.filter(mayConnect))
  const [first = [], second = []] = allowed
  const capacity = Math.min(second.length, MAX_ADDRESSES / 2)
  const addresses = [...first.slice(0, MAX_ADDRESSES - capacity), ...second].slice(0, MAX_ADDRESSES)
  const authentic = lookups.every((lookup) => lookup.kind !== 'records' || lookup.authentic)
  if (addresses.length > 0) return { addresses, reason: 'found', authentic }
  if (lookups.some((lookup) => lookup.kind === 'temporary')) return { addresses, reason: 'temporary', authentic }
  return { addresses, reason: found.some((each) => each.length > 0) ? 'private' : 'none', authentic }
}

/** The outcome when no host of a domain (null: a relay) has an address to connect to. If the domain is its own
 *  host (no MX), it accepts no mail: a hard bounce. MX hosts without an address may be a temporary mistake, and private
 *  addresses may come from an internal DNS view: both defer until the schedule gives up. */
export function withoutAddress(
  domain: string | null,
  hosts: readonly string[],
  reasons: readonly Addresses['reason'][],
): Outcome {
  const names = hosts.slice(0, 3).join(', ')
  if (reasons.includes('temporary')) {
    return deferred('4.4.3', `DNS lookup of the addresses of ${names} failed`, 'dns:temporary')
  }
  if (reasons.includes('private')) {
    return deferred(
      '4.4.4',
      `${names} has no public address; Postrider does not connect to private addresses`,
      'dns:private',
    )
  }
  if (hosts.length === 1 && hosts[0] === domain) {
    return bounced('5.1.2', `domain ${domain} has neither MX nor address records`, 'dns:no_address')
  }
  return deferred(
    '4.4.4',
    `no address for ${domain === null ? 'the relay' : `the mail servers of ${domain}:`} ${names}`,
    'dns:mx_without_address',
  )
}

const MAX_HOSTS = 10
const MAX_ADDRESSES = 4
const ADDRESS_LITERAL = /^\[(?:IPv6:)?([0-9a-f:.]+)\]$/i // RFC 5321 §4.1.3

function hostsOf(
  domain: string,
  { records, authentic }: { records: readonly MxRecord[]; authentic: boolean },
  random: Random,
): Route {
  const named = records.map(({ preference, exchange }) => ({
    preference,
    host: exchange.replace(/\.$/, '').toLowerCase(),
    order: random.fraction(),
  }))
  const usable = named.filter(({ host }) => host !== '')
  if (usable.length === 0)
    return nowhere(bounced('5.1.10', `domain ${domain} does not accept mail (null MX)`, 'dns:null_mx'))
  usable.sort((a, b) => a.preference - b.preference || a.order - b.order)
  const hosts = [...new Set(usable.map(({ host }) => host))]
  return { kind: 'hosts', hosts: hosts.slice(0, MAX_HOSTS), authentic }
}

function literalLookup(host: string): Lookup<string> {
  return { kind: 'records', records: [host], ttlSeconds: 0, authentic: false }
}

const nowhere = (outcome: Outcome): Route => ({ kind: 'nowhere', outcome })

function bounced(code: string, message: string, rule: string): Outcome {
  return { kind: 'bounced', bounceType: 'hard', code, message, cause: { class: 'no_domain', rule } }
}

function deferred(code: string, message: string, rule: string): Outcome {
  return { kind: 'deferred', code, message, aboutRecipient: false, cause: { class: 'dns', rule } }
}
