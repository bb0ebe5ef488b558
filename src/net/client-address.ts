import { isIP } from 'node:net'
import { canonicalIp, parseHostPort } from './ip.ts'

/** Who asks: the peer of the connection, or whom proxies of ours name. `X-Forwarded-For` is read from its end, for each
 *  proxy adds whom it saw, and only as far as those who added are trusted: everything before anybody can have written. */
export type ClientAddress = (peer: string | null, forwardedFor: string | null) => string

/** Which addresses are proxies of ours → ClientAddress. '' when the peer is not known; an entry that is no address ends
 *  the search. Never throws. */
export function createClientAddress(isTrusted: (ip: string) => boolean): ClientAddress {
  return (peer, forwardedFor) => {
    let address = peer === null ? '' : (canonicalIp(peer) ?? '')
    const hops = forwardedFor?.split(',') ?? []
    while (hops.length > 0 && address !== '' && isTrusted(address)) {
      const before = addressOf(hops.pop()!.trim())
      if (before === null) break
      address = before
    }
    return address
  }
}

/** Some proxies write the port behind it. */
function addressOf(hop: string): string | null {
  if (isIP(hop) !== 0) return canonicalIp(hop)
  return canonicalIp(parseHostPort(hop)?.host ?? '')
}
