import { Refusal } from '../model/refusal.ts'
import { lastEntry } from '../net/client-address.ts'
import { createKnownHosts } from '../net/host-header.ts'

/** How browsers reach this server, to protect requests that authenticate with a cookie: host names, TLS, and page
 *  origins. */
export interface OwnOrigin {
  /** True if the browser uses HTTPS, with us or with a trusted proxy. */
  isSecure(request: Request): boolean
  /** True if plaintext is acceptable: from a browser on this machine, or if HTTPS is not used at all. */
  isMaybeClear(request: Request): boolean
  isKnownHost(request: Request): boolean
  /** Throws 403 for a host that is not ours. After DNS rebinding, a page of another name would otherwise look
   *  same-origin in every header. */
  requireKnownHost(request: Request): void
  /** Throws 403 for a cross-site request, by `Sec-Fetch-Site` and `Origin` where the browser sends them. All browsers
   *  send Origin with requests that change something. `Origin: null` is a page without an origin: a file, a sandboxed
   *  frame, or the target of a redirect. */
  requireOwnPage(request: Request): void
}

export interface OriginOptions {
  /** The hostname and other names under which the operator signs in; the name in `publicUrl` is always included. */
  hostNames: readonly string[]
  publicUrl: () => string
  /** True if all requests come through a TLS proxy. */
  isBehindProxy: boolean
  /** True if the peer address is a trusted proxy. */
  isTrusted: (ip: string) => boolean
}

/** For an API without browsers. */
export const LOOPBACK_ORIGIN: OriginOptions = {
  hostNames: [],
  publicUrl: () => 'http://localhost',
  isBehindProxy: false,
  isTrusted: () => false,
}

/** Names, proxies and connection facts → OwnOrigin. */
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

  /** Known scheme: our own TLS, or what a trusted proxy reports; null = unknown. */
  const provenScheme = (request: Request): 'https' | 'http' | null => {
    if (isBehindProxy || connection.isTls(request)) return 'https'
    const forwarded = request.headers.get('x-forwarded-proto')
    const peer = forwarded === null ? null : connection.peerOf(request)
    if (forwarded === null || peer === null || !isTrusted(peer)) return null
    // The last entry comes from the proxy that connects to us.
    return lastEntry(forwarded).toLowerCase() === 'https' ? 'https' : 'http'
  }
  const isPublicSecure = () => publicUrl().startsWith('https:')

  return {
    isSecure: (request) => {
      const scheme = provenScheme(request)
      if (scheme !== null) return scheme === 'https'
      const origin = request.headers.get('origin')
      return origin === null ? isPublicSecure() : origin.startsWith('https:')
    },
    isMaybeClear: (request) => {
      const scheme = provenScheme(request)
      if (scheme !== null) return scheme === 'http'
      // A tunnel to the plaintext listener of this machine, for example with ssh -L, has a loopback name.
      return !isPublicSecure() || !isNamed(request.headers.get('host'))
    },
    isKnownHost,
    requireKnownHost,
    requireOwnPage: (request) => {
      requireKnownHost(request)
      const { headers } = request
      const site = headers.get('sec-fetch-site')
      if (site !== null && site !== 'same-origin') throw crossSiteRequest()
      const origin = headers.get('origin')
      if (origin !== null && !isOwnOrigin(origin, headers.get('host'))) throw crossSiteRequest()
    },
  }

  /** The origin of the public URL, or of the requested host. A page with another scheme on that host is caught by
   *  `Sec-Fetch-Site` and does not get the cookie. */
  function isOwnOrigin(origin: string, host: string | null): boolean {
    if (origin === publicUrl()) return true
    const url = /^https?:\/\/[^/@\s]+$/i.test(origin) ? URL.parse(origin) : null
    if (url === null || host === null) return false
    return url.host === URL.parse(`${url.protocol}//${host}`)?.host
  }
}

/** True if a Host header is neither loopback nor an address. */
const isNamed = (header: string | null) => !isLoopbackOrAddress(header)
const isLoopbackOrAddress = createKnownHosts(() => [])

function crossSiteRequest(): Refusal {
  return new Refusal('forbidden', 'A dashboard session can be used from the dashboard only.')
}
