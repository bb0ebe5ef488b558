import { cutText } from '../../mail/cut-text.ts'
import { Refusal } from '../../model/refusal.ts'
import type { ClientAddress } from '../../net/client-address.ts'
import type { RequestHost } from '../../net/request-host.ts'
import { requestTarget } from '../../net/request-target.ts'
import type { Clock } from '../../os/clock.ts'
import type { MintId } from '../../os/ids.ts'
import type { Log } from '../../os/log.ts'
import type { Notify } from '../../os/notifier.ts'
import type { Store } from '../../storage/store.ts'
import { createEngagement, type UnsubscribeMethod, type Visit } from './engagement.ts'
import { machineOf } from './machines.ts'
import { askPage, blockedPage, donePage, pixel, redirect, tooLargePage, unknownPage } from './responses.ts'
import { createLinkReader, type LinkReaderDeps } from './scope.ts'

/** A page without authentication; the API mounts it. */
export interface PublicPage {
  method: 'GET' | 'POST'
  path: string
  whileStopping: true
  /** As Page of web/api/route-table.ts. */
  handle: (
    request: Request,
    params: Record<string, string>,
    peer: () => string | null,
    readBody: (limit: number) => Promise<Uint8Array>,
  ) => Promise<Response>
}

/** The public links of tracked mail, below `/t/`: pixel, redirect, unsubscribe page and one-click POST (RFC 8058).
 *
 *  GET changes only counters, because mail scanners open every link; HEAD counts nothing. No key is needed and no cookie
 *  is set. A path that this server did not create for the request's host gets 404. A click redirects even if the event
 *  cannot be stored, except to a target that the operator has blocked: that gets 410 and no event. */
export function trackingPages(deps: {
  store: Pick<Store, 'snapshot' | 'deliveries' | 'domains'>
  /** The secret of createTrackingLinks. */
  secret: Uint8Array
  publicUrl: LinkReaderDeps['publicUrl']
  serverNames: LinkReaderDeps['serverNames']
  hostOf: RequestHost
  clock: Clock
  mintId: MintId
  log: Log
  notify: Notify
  clientAddress: ClientAddress
}): PublicPage[] {
  const readLink = createLinkReader(deps)
  const engagement = createEngagement(deps)
  const linkOf = (request: Request, peer: () => string | null) =>
    readLink(requestTarget(request).pathname, deps.hostOf(request, peer()))
  const visitOf = ({ headers }: Request, peer: () => string | null): Visit => ({
    at: deps.clock.now(),
    userAgent: cutText(headers.get('user-agent') ?? '', MAX_USER_AGENT),
    ipAddress: deps.clientAddress(peer(), headers.get('x-forwarded-for')),
    machine: machineOf(headers) !== null,
  })

  return [
    {
      method: 'GET',
      path: '/t/*',
      whileStopping: true, // recipients open links during restarts too
      async handle(request, _params, peer) {
        const link = await linkOf(request, peer)
        const isCounted = request.method === 'GET'
        switch (link?.kind) {
          case undefined:
            return unknownPage()
          case 'open':
            if (isCounted) await engagement.opened(link.deliveryId, visitOf(request, peer))
            return pixel()
          case 'click':
            if (deps.store.snapshot.isLinkBlocked(link.url)) return blockedPage()
            if (isCounted) await engagement.clicked(link.deliveryId, link.url, visitOf(request, peer))
            return redirect(link.url)
          case 'unsubscribe': {
            const sender = await engagement.senderOf(link.deliveryId)
            return sender === null ? unknownPage() : askPage(sender)
          }
        }
      },
    },
    {
      method: 'POST',
      path: '/t/*',
      whileStopping: true,
      async handle(request, _params, peer, readBody) {
        const link = await linkOf(request, peer)
        if (link?.kind !== 'unsubscribe') return unknownPage()
        const body = await shortBody(readBody)
        if (body === null) return tooLargePage()
        const isKnown = await engagement.unsubscribed(link.deliveryId, methodOf(body), visitOf(request, peer))
        return isKnown ? donePage() : unknownPage()
      },
    },
  ]
}

/** Stored with each event. */
const MAX_USER_AGENT = 500
/** Enough for `List-Unsubscribe=One-Click` as multipart form data. */
const MAX_BODY_BYTES = 4_096

/** RFC 8058 §3.2: URL-encoded or multipart. Anything else comes from the button of the page. */
function methodOf(body: string): UnsubscribeMethod {
  const field = /\blist-unsubscribe\b/i.exec(body)
  return field !== null && /\bone-click\b/i.test(body.slice(field.index + field[0].length)) ? 'one_click' : 'link'
}

/** The body as text; null if it is too long. Rejects with any other refusal of `readBody`. */
async function shortBody(readBody: (limit: number) => Promise<Uint8Array>): Promise<string | null> {
  const bytes = await readBody(MAX_BODY_BYTES).catch((error: unknown) => {
    if (error instanceof Refusal && error.reason === 'payload_too_large') return null
    throw error
  })
  return bytes && Buffer.from(bytes).toString('latin1')
}
