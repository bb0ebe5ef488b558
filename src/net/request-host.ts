import { canonicalIp } from './ip.ts'

/** `Host` of a request → the host name in lower case, without port and final dot; '' when there is none, or it is no name
 *  and no address. RFC 9110 §7.2. Never throws. */
export function requestHost(header: string | null): string {
  const host = HOST.exec((header ?? '').slice(0, MOST_CHARACTERS))?.[1]
  return host === undefined ? '' : host.toLowerCase().replace(/\.$/, '')
}

/** A request and the peer of its connection → the host that the client asked for. */
export type RequestHost = (request: Pick<Request, 'headers'>, peer: string | null) => string

/** Which addresses are proxies of ours → RequestHost. A proxy may keep the client's host in `X-Forwarded-Host` and put its
 *  own upstream name in `Host`; from anybody else that header means nothing. */
export function createRequestHost(isTrusted: (ip: string) => boolean): RequestHost {
  return ({ headers }, peer) => {
    const forwarded = headers.get('x-forwarded-host')
    const isFromProxy = forwarded !== null && peer !== null && isTrusted(canonicalIp(peer) ?? '')
    return requestHost(isFromProxy ? forwarded.split(',')[0]!.trim() : headers.get('host'))
  }
}

/** A name or an IPv4 address, or an IPv6 address in brackets. */
const HOST = /^([\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?$/
const MOST_CHARACTERS = 300
