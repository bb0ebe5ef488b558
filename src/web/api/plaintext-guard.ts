import { Refusal } from '../../model/refusal.ts'
import { lastEntry } from '../../net/client-address.ts'
import { requestTarget } from '../../net/request-target.ts'

/** Rejects requests that reached the TLS proxy in front of this server without TLS. */
export interface PlaintextGuard {
  /** Request, remote address of its connection, and whether it is for a page → null to serve it, because the client
   *  used TLS or no trusted proxy is involved; otherwise, for a page, a redirect (308) to the same path with https.
   *  Throws `forbidden` for API requests, because their key was readable on the network. */
  turnAway(request: Request, peer: string | null, isPage: boolean): Response | null
}

/** Creates PlaintextGuard from the addresses of trusted proxies and the public URL (https). It uses the
 *  `X-Forwarded-Proto` header of trusted proxies and ignores that of other peers. */
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
