import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { setNewest } from '../os/set-newest.ts'

/** True for an IPv4 or IPv6 address without brackets. Shorthand such as 127.1, 0x7f000001 or 0177.0.0.1 is false; a parsed
 *  URL has already expanded it. */
export function isIpLiteral(text: string): boolean {
  return isIP(text) !== 0
}

/** Whether an address belongs to one machine of the public Internet. False for private, loopback, link-local, shared
 *  (CGNAT), documentation, multicast and reserved addresses, for anything that is not an address, and for IPv6 forms that
 *  contain an IPv4 address unless that one is public. 6to4, Teredo and ISATAP are always false: they are long retired and
 *  only help to get around firewalls. RFC 6890 and the IANA special-purpose registries. */
export function isPublicUnicast(ip: string): boolean {
  if (!isIpLiteral(ip) || ip.includes('%')) return false
  const address = ipaddr.process(ip)
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast'
  if (address.match(NAT64_WELL_KNOWN)) return isPublicUnicast(lastFourBytes(address))
  return address.match(GLOBAL_UNICAST) && address.range() === 'unicast' && !isIsatap(address)
}

/** Creates a check whether connections to an address are allowed: public addresses and the given networks. An IPv4 network
 *  also covers its IPv4-mapped IPv6 form. Throws for anything that is not a CIDR. */
export function createAddressGuard(allowedCidrs: string[]): (ip: string) => boolean {
  const isAllowed = createNetworks(allowedCidrs)
  return (ip) => isPublicUnicast(ip) || isAllowed(ip)
}

/** Creates a check whether an address is in one of the networks; false for anything that is not an address. An IPv4 network
 *  also covers its IPv4-mapped IPv6 form. Throws for anything that is not a CIDR. */
export function createNetworks(cidrs: readonly string[]): (ip: string) => boolean {
  const networks = cidrs.map(parseCidr)
  return (ip) => {
    if (networks.length === 0 || !isIpLiteral(ip)) return false
    const forms = formsOf(ip)
    return networks.some(([base, bits]) => forms.some((form) => form.kind() === base.kind() && form.match(base, bits)))
  }
}

/** Address → itself, and as IPv4 if it is a mapped one. */
const formsOf = keepingResults((ip) => [ipaddr.parse(ip), ipaddr.process(ip)])

/** Function of a short text → the same, keeping the newest results: an SMTP client's address is looked at several times a
 *  mail, and reading it takes microseconds. */
function keepingResults<T>(of: (text: string) => T): (text: string) => T {
  const kept = new Map<string, T>()
  return (text) => {
    const known = kept.get(text)
    if (known !== undefined) return known
    const result = of(text)
    if (text.length <= LONGEST_KEPT) setNewest(kept, text, result, MOST_KEPT)
    return result
  }
}

const MOST_KEPT = 1_000
const LONGEST_KEPT = 64

/** Canonical form of a network or address: host bits cleared, IPv6 shortened, IPv4-mapped networks as IPv4, an address as
 *  /32 or /128. Null for anything else. */
export function canonicalNetwork(text: string): string | null {
  try {
    const [base, bits] = parseCidr(text.includes('/') ? text : `${text}/${isIP(text) === 4 ? 32 : 128}`)
    if (base instanceof ipaddr.IPv6 && base.isIPv4MappedAddress() && bits >= MAPPED_BITS) {
      return `${masked(base.toIPv4Address(), bits - MAPPED_BITS)}/${bits - MAPPED_BITS}`
    }
    return `${masked(base, bits)}/${bits}`
  } catch {
    return null
  }
}

/** Whether the whole of a network is inside another; both as `canonicalNetwork` returns them. An IPv4 network is never inside
 *  an IPv6 one. Throws for anything that is not a CIDR. */
export function isNetworkWithin(inner: string, outer: string): boolean {
  const [base, bits] = parseCidr(inner)
  const [outerBase, outerBits] = parseCidr(outer)
  return base.kind() === outerBase.kind() && bits >= outerBits && base.match(outerBase, outerBits)
}

/** Canonical form of an address: IPv6 shortened, without zone, mapped IPv4 as IPv4. Null for anything else. */
export function canonicalIp(text: string): string | null {
  const [address = ''] = text.split('%', 1)
  return isIpLiteral(address) ? ipaddr.process(address).toString() : null
}

/** The client behind a remote address: an IPv4 address itself, also in IPv6 form (::ffff:…); for other IPv6 addresses the /64,
 *  because one customer has at least that. Anything else is returned unchanged. RFC 6177 §2. */
export const clientOf = keepingResults((address: string): string => {
  const canonical = canonicalIp(address)
  if (canonical === null) return address
  const parsed = ipaddr.parse(canonical)
  if (parsed instanceof ipaddr.IPv4) return canonical
  return parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')
})

/** The network that one sender usually controls, for limits: the /24 of an IPv4 address, the /56 of an IPv6 one, in CIDR
 *  form. Anything that is not an address is returned unchanged. RFC 6177 §2 for the /56. */
export const networkOf = keepingResults((address: string): string => {
  const canonical = canonicalIp(address)
  if (canonical === null) return address
  const parsed = ipaddr.parse(canonical)
  if (parsed instanceof ipaddr.IPv4) return `${parsed.octets.slice(0, 3).join('.')}.0/24`
  const [a = 0, b = 0, c = 0, d = 0] = parsed.parts
  return `${[a, b, c, d & 0xff00].map((part) => part.toString(16)).join(':')}::/56`
})

/** Parses `127.0.0.1:25`, `[::1]:25` or `host.example:25` into the host without brackets and a port 0–65535. Null for anything
 *  else, including an IPv6 address without brackets and a missing port. */
export function parseHostPort(text: string): { host: string; port: number } | null {
  const match = HOST_PORT.exec(text)
  if (!match) return null
  const [, v6, name = '', digits] = match
  const port = Number(digits)
  if (port > 65535 || (v6 !== undefined && isIP(v6) !== 6)) return null
  return { host: v6 ?? name, port }
}

/** ::ffff:0:0/96, RFC 4291 §2.5.5.2 */
const MAPPED_BITS = 96

function masked(address: ipaddr.IPv4 | ipaddr.IPv6, bits: number): string {
  const bytes = address.toByteArray().map((byte, at) => {
    const kept = Math.min(8, Math.max(0, bits - at * 8))
    return byte & (0xff00 >> kept) & 0xff
  })
  return ipaddr.fromByteArray(bytes).toString()
}

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number]

const HOST_PORT = /^(?:\[([0-9a-f:.%]+)\]|([a-z0-9._-]+)):(\d{1,5})$/i
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = ipaddr.IPv6.parseCIDR('2000::/3') // RFC 4291 §2.4, all IANA gives out
const NAT64_WELL_KNOWN: [ipaddr.IPv6, number] = ipaddr.IPv6.parseCIDR('64:ff9b::/96') // RFC 6052 §2.1

function lastFourBytes(address: ipaddr.IPv6): string {
  return address.toByteArray().slice(12).join('.')
}

/** Interface identifiers 0:5efe:v4 and 200:5efe:v4 reach a network's internal IPv4 addresses. RFC 5214 §6.1 */
function isIsatap(address: ipaddr.IPv6): boolean {
  return ((address.parts[4] ?? 0) & 0xfdff) === 0 && address.parts[5] === 0x5efe
}

function parseCidr(text: string): Network {
  const [base = '', bits = '', ...rest] = text.split('/')
  const version = isIP(base)
  const isSound = version !== 0 && !base.includes('%') && /^\d{1,3}$/.test(bits) && rest.length === 0
  if (!isSound || Number(bits) > (version === 4 ? 32 : 128)) throw new Error(`not a network in CIDR form: ${text}`)
  return [ipaddr.parse(base), Number(bits)]
}
