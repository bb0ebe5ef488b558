import { Refusal } from '../../model/refusal.ts'
import { type ClientAddress, lastEntry } from '../../net/client-address.ts'
import { canonicalIp, createNetworks } from '../../net/ip.ts'
import { EXPOSITION_TYPE, type Registry } from './registry.ts'

/** A page without authentication; the API mounts it. */
export interface MetricsPage {
  method: 'GET'
  path: '/metrics'
  whileStopping: true
  handle: (request: Request, params: Record<string, string>, peer: () => string | null) => Promise<Response>
}

/** Context of a request. */
export interface AskedBy {
  clientAddress: ClientAddress
  /** Whether the Host header names this server. */
  isKnownHost: (header: string | null) => boolean
  /** Whether a connection from this address is the proxy's, through which every request comes (`http.behind_proxy`). */
  isProxy: (peer: string | null) => boolean
}

/** `GET /metrics` for clients in the allowed networks (CIDRs); behind a trusted proxy the client's own address counts. A
 *  request with X-Forwarded-For from an untrusted proxy gets 404, because every client would have the proxy's address; so
 *  does one without the header from the proxy of `http.behind_proxy`.
 *  Other clients get 404. An unknown hostname gets 403 (DNS rebinding). `refresh` runs before the page is rendered. */
export function metricsPage(
  registry: Registry,
  options: AskedBy & { allowedNetworks: readonly string[]; refresh: () => Promise<void> },
): MetricsPage {
  const isAllowed = createNetworks(options.allowedNetworks)
  return {
    method: 'GET',
    path: '/metrics',
    whileStopping: true,
    handle: async ({ headers }, _params, peer) => {
      const forwardedFor = headers.get('x-forwarded-for')
      const own = options.clientAddress(peer(), null)
      const address = options.clientAddress(peer(), forwardedFor)
      const isNameless = forwardedFor === null && options.isProxy(peer())
      if (isNameless || !isAllowed(address) || isForAnother(address, own, forwardedFor))
        throw new Refusal('not_found', 'no resource at this path')
      if (!options.isKnownHost(headers.get('host')))
        throw new Refusal('forbidden', 'unknown hostname. Add it to http.allowed_hosts.', {
          field: 'Host',
        })
      await options.refresh()
      return new Response(registry.text(), {
        headers: {
          'content-type': EXPOSITION_TYPE,
          'cache-control': 'private, no-store',
          'x-content-type-options': 'nosniff',
        },
      })
    },
  }
}

/** Whether the header names a client but the proxy is not trusted, so that `address` is that of the proxy. */
function isForAnother(address: string, peer: string, forwardedFor: string | null): boolean {
  if (forwardedFor === null || address !== peer) return false
  return canonicalIp(lastEntry(forwardedFor)) !== peer
}
