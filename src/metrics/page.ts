import { Refusal } from '../model/refusal.ts'
import type { ClientAddress } from '../platform/client-address.ts'
import { createNetworks } from '../platform/ip.ts'
import { EXPOSITION_TYPE, type Registry } from './registry.ts'

/** Something that is answered without a key; the API mounts it as one of its pages. */
export interface MetricsPage {
  method: 'GET'
  path: '/metrics'
  whileStopping: true
  handle: (request: Request, params: Record<string, string>, peer: () => string | null) => Promise<Response>
}

/** `GET /metrics` for whoever asks from one of the networks (CIDRs); the client's own address counts, also behind a proxy
 *  of ours. `refresh` comes before the text. Not found for everybody else, as if there were nothing to ask for. */
export function metricsPage(
  registry: Registry,
  options: { allowedNetworks: readonly string[]; clientAddress: ClientAddress; refresh: () => Promise<void> },
): MetricsPage {
  const isAllowed = createNetworks(options.allowedNetworks)
  return {
    method: 'GET',
    path: '/metrics',
    whileStopping: true,
    handle: async ({ headers }, _params, peer) => {
      const address = options.clientAddress(peer(), headers.get('x-forwarded-for'))
      if (!isAllowed(address)) throw new Refusal('not_found', 'there is nothing at this path')
      await options.refresh()
      return new Response(registry.text(), {
        headers: { 'content-type': EXPOSITION_TYPE, 'cache-control': 'no-store' },
      })
    },
  }
}
