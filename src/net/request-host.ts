import { canonicalIp } from './ip.ts'

/** The host name in a `Host` header: lower case, without port and trailing dot; '' if missing or invalid. RFC 9110 §7.2.
 *  Never throws. */
export function requestHost(header: string | null): string {
  const host = HOST.exec((header ?? '').slice(0, MOST_CHARACTERS))?.[1]
  return host === undefined ? '' : host.toLowerCase().replace(/\.$/, '')
}

/** The host that the client asked for. */
export type RequestHost = (request: Pick<Request, 'headers'>, peer: string | null) => string

/** Creates a RequestHost from the trusted proxy addresses. A proxy may report the client's host in `X-Forwarded-Host` and put
 *  its own upstream name in `Host`; from other peers that header is ignored. */
export function createRequestHost(isTrusted: (ip: string) => boolean): RequestHost {
  return ({ headers }, peer) => {
    const forwarded = headers.get('x-forwarded-host')
    const isFromProxy = forwarded !== null && peer !== null && isTrusted(canonicalIp(peer) ?? '')
    const [first = ''] = forwarded?.split(',', 1) ?? []
    return requestHost(isFromProxy ? first.trim() : headers.get('host'))
  }
}

/** A name or an IPv4 address, or an IPv6 address in brackets. */
const HOST = /^([\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?$/
const MOST_CHARACTERS = 300
