import { isIP } from 'node:net'
import { canonicalIp, parseHostPort } from './ip.ts'

/** The client of a request: the peer of the connection, or the address that trusted proxies report.
 *  `X-Forwarded-For` is read from its end, because each proxy appends the address it saw, and only as far as those
 *  proxies are trusted. Clients can forge everything before. */
export type ClientAddress = (peer: string | null, forwardedFor: string | null) => string

/** Creates a ClientAddress from the trusted proxy addresses. Returns '' for an unknown peer; an entry that is no address
 *  ends the search. Never throws. */
export function createClientAddress(isTrusted: (ip: string) => boolean): ClientAddress {
  return (peer, forwardedFor) => {
    let address = peer === null ? '' : (canonicalIp(peer) ?? '')
    for (const hop of forwardedFor?.split(',').reverse() ?? []) {
      const before = address !== '' && isTrusted(address) ? addressOf(hop.trim()) : null
      if (before === null) break
      address = before
    }
    return address
  }
}

/** Some proxies append the port. */
function addressOf(hop: string): string | null {
  if (isIP(hop) !== 0) return canonicalIp(hop)
  return canonicalIp(parseHostPort(hop)?.host ?? '')
}

/** `X-Forwarded-*` header → its last entry, which the proxy that connects to us has added. Empty is ''. */
export function lastEntry(header: string): string {
  return header.slice(header.lastIndexOf(',') + 1).trim()
}
