import { Refusal } from '../../model/refusal.ts'
import { lastEntry } from '../../net/client-address.ts'
import { createKnownHosts } from '../../net/host-header.ts'

/** Checks host name, scheme and page origin of browser requests, to protect requests that authenticate with a
 *  cookie. */
export interface OwnOrigin {
  /** True if the browser uses HTTPS, with this server or a trusted proxy. If the connection does not show it, the
   *  scheme of `Origin` decides, else that of the public URL. */
  isSecure(request: Request): boolean
  /** True if a request over plaintext HTTP is acceptable: a trusted proxy reports it, the public URL is not https, or
   *  the host is a loopback name or an IP address. */
  mayBePlaintext(request: Request): boolean
  /** True if the `Host` header names this server, or is missing (net/host-header.ts). */
  isKnownHost(request: Request): boolean
  /** Throws `forbidden` if isKnownHost is false. Prevents DNS rebinding, where a foreign host name resolves to this
   *  server and the other headers look same-origin. */
  requireKnownHost(request: Request): void
  /** True unless `Sec-Fetch-Site` or `Origin` show that a page of another origin sent the request. */
  isOwnPage(request: Request): boolean
  /** Throws `forbidden` for an unknown host, and for a cross-site request according to `Sec-Fetch-Site` and `Origin`.
   *  Missing headers are accepted: all browsers send `Origin` with requests that change data. `Origin: null` is
   *  rejected; it comes from a file, a sandboxed frame or a redirect. */
  requireOwnPage(request: Request): void
  /** The origin of the page that sent the request: the public URL under its host name, else that of the requested host.
   *  Throws `forbidden` as requireOwnPage, and for a request without `Origin`. */
  pageOrigin(request: Request): string
}

export interface OriginOptions {
  /** Host names under which the operator signs in. The one of `publicUrl` is always included. */
  hostNames: readonly string[]
  publicUrl: () => string
  /** True if all requests come through a TLS proxy. */
  isBehindProxy: boolean
  /** True if the remote address of a connection is a trusted proxy. */
  isTrusted: (ip: string) => boolean
}

/** Options for an API that no browser uses. */
export const LOOPBACK_ORIGIN: OriginOptions = {
  hostNames: [],
  publicUrl: () => 'http://localhost',
  isBehindProxy: false,
  isTrusted: () => false,
}

/** Creates OwnOrigin from options and from functions that return the remote address of a request and whether it used
 *  our own TLS. */
export function createOwnOrigin(
  { hostNames, publicUrl, isBehindProxy, isTrusted }: OriginOptions,
  connection: { peerOf: (request: Request) => string | null; isTls: (request: Request) => boolean },
): OwnOrigin {
  const publicHost = () => URL.parse(publicUrl())?.hostname ?? ''
  const isKnown = createKnownHosts(() => [...hostNames, publicHost()])
  const isKnownHost = ({ headers }: Request) => isKnown(headers.get('host'))
  const requireKnownHost = (request: Request) => {
    if (isKnownHost(request)) return
    throw new Refusal('forbidden', 'This server does not serve this host name. Add it to http.allowed_hosts.', {
      field: 'Host',
    })
  }

  /** The scheme that the browser used: https with our own TLS, or the one that a trusted proxy reports. Null if
   *  unknown. */
  const provenScheme = (request: Request): 'https' | 'http' | null => {
    if (isBehindProxy || connection.isTls(request)) return 'https'
    const forwarded = request.headers.get('x-forwarded-proto')
    const peer = forwarded === null ? null : connection.peerOf(request)
    if (forwarded === null || peer === null || !isTrusted(peer)) return null
    // The last entry comes from the proxy that connects to us.
    return lastEntry(forwarded).toLowerCase() === 'https' ? 'https' : 'http'
  }
  const isOwnPage = ({ headers }: Request) => {
    const site = headers.get('sec-fetch-site')
    if (site !== null && site !== 'same-origin') return false
    const origin = headers.get('origin')
    return origin === null || isOwnOrigin(origin, headers.get('host'))
  }
  const requireOwnPage = (request: Request) => {
    requireKnownHost(request)
    if (!isOwnPage(request)) throw crossSiteRequest()
  }
  const isPublicSecure = () => publicUrl().startsWith('https:')

  return {
    isSecure: (request) => {
      const scheme = provenScheme(request)
      if (scheme !== null) return scheme === 'https'
      const origin = request.headers.get('origin')
      return origin === null ? isPublicSecure() : origin.startsWith('https:')
    },
    mayBePlaintext: (request) => {
      const scheme = provenScheme(request)
      if (scheme !== null) return scheme === 'http'
      // Through a tunnel to the plaintext listener of this machine, such as ssh -L, the host is a loopback name.
      return !isPublicSecure() || !isNamed(request.headers.get('host'))
    },
    isKnownHost,
    requireKnownHost,
    isOwnPage,
    requireOwnPage,
    pageOrigin: (request) => {
      requireOwnPage(request)
      const origin = request.headers.get('origin')
      const url = origin === null ? null : URL.parse(origin)
      // Another server on a port of the same host has pages too.
      if (url === null || (url.hostname === publicHost() && url.origin !== URL.parse(publicUrl())?.origin))
        throw crossSiteRequest()
      return url.origin
    },
  }

  /** True if the origin is the public URL, or has the requested host. A page with another scheme on that host is
   *  rejected by `Sec-Fetch-Site`, and browsers do not send it the cookie. */
  function isOwnOrigin(origin: string, host: string | null): boolean {
    if (origin === publicUrl()) return true
    const url = /^https?:\/\/[^/@\s]+$/i.test(origin) ? URL.parse(origin) : null
    if (url === null || host === null) return false
    return url.host === URL.parse(`${url.protocol}//${host}`)?.host
  }
}

/** True if a Host header is neither a loopback name nor an IP address. */
const isNamed = (header: string | null) => !isLoopbackOrAddress(header)
const isLoopbackOrAddress = createKnownHosts(() => [])

function crossSiteRequest(): Refusal {
  return new Refusal('forbidden', 'A dashboard session can be used from the dashboard only.')
}
