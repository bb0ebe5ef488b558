import type { Outcome } from '../model/delivery.ts'
import type { Lookup, MxRecord, Resolver } from '../net/dns/resolver.ts'
import { isIpLiteral } from '../net/ip.ts'
import type { Random } from '../os/random.ts'

/** A mail domain → the hosts to try, best first; or what it means that there is none. `authentic`: DNSSEC does not speak
 *  against them: the MX records are validated, or there are none and the addresses decide (RFC 7672 §2.2.2). */
export type Route = { kind: 'hosts'; hosts: string[]; authentic: boolean } | { kind: 'nowhere'; outcome: Outcome }

/** A host → its addresses that may be connected to, in the order to try; empty with the reason. `authentic`: validated by
 *  DNSSEC, all that were found. */
export type Addresses = { addresses: string[]; reason: 'found' | 'none' | 'private' | 'temporary'; authentic: boolean }

/** Mail domain (A-label, or an address literal in brackets) → Route. MX hosts by preference, equal ones in random order,
 *  at most ten, each once; without MX the domain itself (RFC 5321 §5.1). A null MX (RFC 7505) and a domain that does not
 *  exist bounce hard; a DNS server that fails or is silent defers, always. Our own name among the hosts is no loop
 *  here: an inbound route may well be in this house. Never rejects. */
export async function findHosts(domain: string, resolver: Resolver, random: Random): Promise<Route> {
  const literal = ADDRESS_LITERAL.exec(domain)?.[1] ?? domain
  if (isIpLiteral(literal)) return { kind: 'hosts', hosts: [literal], authentic: false }
  return routeOf(domain, await resolver.mx(domain), random)
}

/** The same, of what DNS has said already. */
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

/** A domain part in brackets, which DNS is not asked about. */
export const isAddressLiteral = (domain: string) => ADDRESS_LITERAL.test(domain)

/** Host → its IPv4 and then its IPv6 addresses, at most four in all, both kinds present when both exist. Addresses that
 *  `mayConnect` refuses are left out: nobody's MX record may lead us into the operator's own network. `families`
 *  leaves one kind out (a fixed source address can only reach its own). A literal is its own address. Never rejects. */
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
  const room = Math.min(second.length, MAX_ADDRESSES / 2)
  const addresses = [...first.slice(0, MAX_ADDRESSES - room), ...second].slice(0, MAX_ADDRESSES)
  const authentic = lookups.every((lookup) => lookup.kind !== 'records' || lookup.authentic)
  if (addresses.length > 0) return { addresses, reason: 'found', authentic }
  if (lookups.some((lookup) => lookup.kind === 'temporary')) return { addresses, reason: 'temporary', authentic }
  return { addresses, reason: found.some((each) => each.length > 0) ? 'private' : 'none', authentic }
}

/** None of the hosts of a domain (null: of the operator's smarthost) had an address to connect to → what that means.
 *  When the host is the domain itself (no MX) the domain takes no mail: a hard bounce. MX hosts without an address are
 *  somebody's mistake that may be mended, and private addresses may be a DNS of the wrong side: deferred, given up by
 *  the schedule. */
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
    return deferred('4.4.4', `${names} has no public address; private ones are never connected to`, 'dns:private')
  }
  if (hosts.length === 1 && hosts[0] === domain) {
    return bounced('5.1.2', `domain ${domain} has neither MX nor address records`, 'dns:no_address')
  }
  return deferred(
    '4.4.4',
    `no address for ${domain === null ? 'smarthost' : `the mail servers of ${domain}:`} ${names}`,
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
  if (usable.length === 0) return nowhere(bounced('5.1.10', `domain ${domain} takes no mail (null MX)`, 'dns:null_mx'))
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
