import { createTrackingLinks } from '../mail/tracking-link.ts'
import type { ClientAddress } from '../platform/client-address.ts'
import type { Clock } from '../platform/clock.ts'
import type { MintId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import { requestTarget } from '../platform/request-target.ts'
import type { Store } from '../storage/store.ts'
import { askPage, donePage, pixel, redirect, tooLargePage, unknownPage } from './answers.ts'
import { createEngagement, type UnsubscribeMethod, type Visit } from './engagement.ts'
import { machineOf } from './machines.ts'

/** Something that is answered to anybody; the API mounts it as one of its pages. */
export interface PublicPage {
  method: 'GET' | 'POST'
  path: string
  whileStopping: true
  handle: (request: Request, params: Record<string, string>, peer: () => string | null) => Promise<Response>
}

/** The public links of tracked mail, below `/t/`: pixel, redirect, unsubscribe page and one-click POST (RFC 8058).
 *
 *  A GET changes nothing but counters: programs that look at every link of a mail unsubscribe nobody. HEAD counts nothing.
 *  Whoever asks needs no key and gets no cookie; a path that was not made here is 404 without a word. A click is sent on
 *  even when nothing can be written. */
export function trackingPages(deps: {
  store: Pick<Store, 'deliveries'>
  /** Of createTrackingLinks. */
  secret: Uint8Array
  clock: Clock
  mintId: MintId
  log: Log
  wakeWebhooks: () => void
  clientAddress: ClientAddress
}): PublicPage[] {
  const links = createTrackingLinks(deps.secret)
  const engagement = createEngagement(deps)
  const linkOf = (request: Request) => links.read(requestTarget(request).pathname)
  const visitOf = ({ headers }: Request, peer: () => string | null): Visit => ({
    at: deps.clock.now(),
    userAgent: (headers.get('user-agent') ?? '').slice(0, MAX_USER_AGENT),
    ipAddress: deps.clientAddress(peer(), headers.get('x-forwarded-for')),
    machine: machineOf(headers) !== null,
  })

  return [
    {
      method: 'GET',
      path: '/t/*',
      whileStopping: true, // readers know nothing of our restarts
      async handle(request, _params, peer) {
        const link = linkOf(request)
        const isCounted = request.method === 'GET'
        switch (link?.kind) {
          case undefined:
            return unknownPage()
          case 'open':
            if (isCounted) await engagement.opened(link.deliveryId, visitOf(request, peer))
            return pixel()
          case 'click':
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
      async handle(request, _params, peer) {
        const link = linkOf(request)
        if (link?.kind !== 'unsubscribe') return unknownPage()
        const body = await shortBody(request)
        if (body === null) return tooLargePage()
        const isKnown = await engagement.unsubscribed(link.deliveryId, methodOf(body), visitOf(request, peer))
        return isKnown ? donePage() : unknownPage()
      },
    },
  ]
}

/** Nobody reads more of one, and it is stored with each event. */
const MAX_USER_AGENT = 500
/** `List-Unsubscribe=One-Click` with room for a form in parts and what a form adds. */
const MAX_BODY_BYTES = 4_096

/** RFC 8058 §3.2: as a form, in one piece or in parts. Anything else is the button of our page. */
function methodOf(body: string): UnsubscribeMethod {
  return /\blist-unsubscribe\b[\s\S]*\bone-click\b/i.test(body) ? 'one_click' : 'link'
}

/** The body as text; null when it is too long, and the rest is left where it is. */
async function shortBody({ body }: Request): Promise<string | null> {
  if (body === null) return ''
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > MAX_BODY_BYTES) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('latin1')
}
