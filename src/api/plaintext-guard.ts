import { Refusal } from '../model/refusal.ts'
import { requestTarget } from '../net/request-target.ts'

/** Behind a proxy that speaks TLS: what to do with a request that came to the proxy without it. */
export interface PlaintextGuard {
  /** Null: the request came as it should, or it did not come through a proxy of ours. Pages are sent on to the same path
   *  by https, nowhere else; throws for what brings a key with it, which everybody on the way has read. */
  turnAway(request: Request, peer: string | null, isPage: boolean): Response | null
}

/** Which addresses are proxies of ours, and how the world reaches us (https) → ClearDoor. A proxy says so by
 *  `X-Forwarded-Proto: http`; from others the header means nothing. */
export function createPlaintextGuard(options: {
  isTrusted: (ip: string) => boolean
  publicUrl: () => string
}): PlaintextGuard {
  return {
    turnAway(request, peer, isPage) {
      const forwarded = request.headers.get('x-forwarded-proto')
      // The last one is of the proxy that asks us.
      if (forwarded === null || forwarded.split(',').at(-1)!.trim().toLowerCase() !== 'http') return null
      if (peer === null || !options.isTrusted(peer)) return null
      if (!isPage) throw new Refusal('forbidden', 'This API requires HTTPS. Replace the key: it was sent unencrypted.')
      const { pathname, search } = requestTarget(request)
      return new Response(null, { status: 308, headers: { location: `${options.publicUrl()}${pathname}${search}` } })
    },
  }
}
