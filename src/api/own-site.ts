import { Refusal } from '../model/refusal.ts'
import { createKnownHosts } from '../net/host-header.ts'

/** How browsers reach this server, for what acts by a cookie: under which names, over TLS or not, and from which pages. */
export interface OwnSite {
  /** Whether the browser that asks uses HTTPS, here or at a proxy of ours. */
  isSecure(request: Request): boolean
  /** Whether the request may have come in clear: from a browser on this machine, or where nothing is https. */
  isMaybeClear(request: Request): boolean
  isKnownHost(request: Request): boolean
  /** Throws 403 for a host that is none of ours: a page of another name that DNS leads here (DNS rebinding) has an origin
   *  of its own that looks like ours in every other header. */
  requireKnownHost(request: Request): void
  /** Throws 403 for a request that a page of another site made, by `Sec-Fetch-Site` and by `Origin`, each where the browser
   *  sends it. All browsers send an Origin with what changes something. `Origin: null` is a page without one: a file, a
   *  sandboxed frame, the target of a redirect. */
  requireOwnPage(request: Request): void
}

export interface SiteOptions {
  /** The hostname and other names under which the operator wants to sign in; that of `publicUrl` need not be among them. */
  hostNames: readonly string[]
  publicUrl: () => string
  /** All requests come through a TLS proxy. */
  isBehindProxy: boolean
  /** Whether the address at the other end of a connection is a proxy of ours. */
  isTrusted: (ip: string) => boolean
}

/** Nobody's site: for an API without browsers. */
export const LOOPBACK_SITE: SiteOptions = {
  hostNames: [],
  publicUrl: () => 'http://localhost',
  isBehindProxy: false,
  isTrusted: () => false,
}

/** Names, proxies, and what is known of a request's connection → OwnSite. */
export function createOwnSite(
  { hostNames, publicUrl, isBehindProxy, isTrusted }: SiteOptions,
  connection: { peerOf: (request: Request) => string | null; isTls: (request: Request) => boolean },
): OwnSite {
  const publicHost = () => URL.parse(publicUrl())?.hostname ?? ''
  const isKnown = createKnownHosts(() => [...hostNames, publicHost()])
  const isKnownHost = ({ headers }: Request) => isKnown(headers.get('host'))
  const requireKnownHost = (request: Request) => {
    if (isKnownHost(request)) return
    throw new Refusal('forbidden', 'This server does not serve this host name. Add it to http.allowed_hosts.', {
      field: 'Host',
    })
  }

  /** What is known for sure: our own TLS, or what a proxy of ours says; null = nothing. */
  const provenScheme = (request: Request): 'https' | 'http' | null => {
    if (isBehindProxy || connection.isTls(request)) return 'https'
    const forwarded = request.headers.get('x-forwarded-proto')
    const peer = forwarded === null ? null : connection.peerOf(request)
    if (forwarded === null || peer === null || !isTrusted(peer)) return null
    // The last one is of the proxy that asks us.
    return forwarded.split(',').at(-1)!.trim().toLowerCase() === 'https' ? 'https' : 'http'
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
      // A tunnel to the clear listener of this machine, as ssh -L makes one, has a loopback name.
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

  /** Of the public URL, or of the very host that is asked: a page of another scheme at that host is told by `Sec-Fetch-Site`
   *  and does not get the cookie. */
  function isOwnOrigin(origin: string, host: string | null): boolean {
    if (origin === publicUrl()) return true
    const url = /^https?:\/\/[^/@\s]+$/i.test(origin) ? URL.parse(origin) : null
    if (url === null || host === null) return false
    return url.host === URL.parse(`${url.protocol}//${host}`)?.host
  }
}

/** Whether a Host header names something else than this machine or an address. */
const isNamed = (header: string | null) => !isLoopbackOrAddress(header)
const isLoopbackOrAddress = createKnownHosts(() => [])

function crossSiteRequest(): Refusal {
  return new Refusal('forbidden', 'A dashboard session can be used from the dashboard only.')
}
