import { Refusal } from '../model/refusal.ts'
import { lastEntry } from '../net/client-address.ts'
import { requestTarget } from '../net/request-target.ts'

/** Behind a TLS proxy: handles requests that reached the proxy without TLS. */
export interface PlaintextGuard {
  /** Null: the request used TLS or did not come through a trusted proxy. Pages are redirected to the same path over
   *  https. Throws for requests with a key, because the key was readable on the network. */
  turnAway(request: Request, peer: string | null, isPage: boolean): Response | null
}

/** Trusted proxy addresses and the public URL (https) → PlaintextGuard. A proxy sets `X-Forwarded-Proto: http`; from
 *  other peers the header is ignored. */
export function createPlaintextGuard(options: {
  isTrusted: (ip: string) => boolean
  publicUrl: () => string
}): PlaintextGuard {
  return {
    turnAway(request, peer, isPage) {
      const forwarded = request.headers.get('x-forwarded-proto')
      // The last entry comes from the proxy that connects to us.
      if (forwarded === null || lastEntry(forwarded).toLowerCase() !== 'http') return null
      if (peer === null || !options.isTrusted(peer)) return null
      if (!isPage) throw new Refusal('forbidden', 'This API requires HTTPS. Replace the key: it was sent unencrypted.')
      const { pathname, search } = requestTarget(request)
      return new Response(null, { status: 308, headers: { location: `${options.publicUrl()}${pathname}${search}` } })
    },
  }
}
