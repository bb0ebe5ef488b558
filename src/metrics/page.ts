import { Refusal } from '../model/refusal.ts'
import type { ClientAddress } from '../net/client-address.ts'
import { canonicalIp, createNetworks } from '../net/ip.ts'
import { EXPOSITION_TYPE, type Registry } from './registry.ts'

/** Something that is answered without a key; the API mounts it as one of its pages. */
export interface MetricsPage {
  method: 'GET'
  path: '/metrics'
  whileStopping: true
  handle: (request: Request, params: Record<string, string>, peer: () => string | null) => Promise<Response>
}

/** What is known of who asks. */
export interface AskedBy {
  clientAddress: ClientAddress
  /** Host header → whether it names this server. */
  isKnownHost: (header: string | null) => boolean
}

/** `GET /metrics` for whoever asks from one of the networks (CIDRs); the client's own address counts, also behind a proxy
 *  of ours. Who asks for somebody else without being one shows nothing: behind a proxy that nobody named, all the world
 *  would have its address. `refresh` comes before the text. Not found for everybody else, as if there were nothing to
 *  ask for. A host name that is none of ours is 403: a page of that name would read it (DNS rebinding). */
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
      if (!isAllowed(address) || isForAnother(address, own, forwardedFor))
        throw new Refusal('not_found', 'there is nothing at this path')
      if (!options.isKnownHost(headers.get('host')))
        throw new Refusal('forbidden', 'this server has another host name; http.allowed_hosts adds one', {
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

/** Whether the header names somebody and was not believed, so that `address` is that of who passed the request on. */
function isForAnother(address: string, peer: string, forwardedFor: string | null): boolean {
  if (forwardedFor === null || address !== peer) return false
  return canonicalIp(forwardedFor.split(',').at(-1)!.trim()) !== peer
}
