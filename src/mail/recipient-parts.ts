import { unsubscribeFields } from './list-unsubscribe.ts'
import type { Tracking } from './track.ts'
import { createTrackingLinks, type LinkScope } from './tracking-link.ts'
import type { Verp } from './verp.ts'

/** What one recipient's mail has and the others of the same message have not; crosses a thread boundary, so plain data. */
export interface RecipientParts {
  /** Header fields, CRLF ended; they stand in front and are signed. '' = none. */
  fields: string
  /** Null = the HTML is the author's, byte for byte. */
  tracking: Tracking | null
}

/** Every recipient gets the same bytes. */
export const NO_RECIPIENT_PARTS: RecipientParts = { fields: '', tracking: null }

/** Delivery id, what its message asks for and its sender's domain → its own parts. The same at every attempt. Throws on
 *  anything that is no delivery id. */
export type RecipientPartsOf = (
  deliveryId: string,
  message: { organizationId: string; unsubscribe: boolean; trackOpens: boolean; trackClicks: boolean },
  /** `trackingHost`: null = links have the address of this server. */
  sender: { returnPathHost: string; trackingHost: string | null },
) => RecipientParts

/** `publicUrl` is how the world reaches this server, without a final slash; asked for each time, because it is known only
 *  once the listener is bound. */
export function createRecipientParts(deps: {
  verp: Pick<Verp, 'encode'>
  /** Of createTrackingLinks. */
  secret: Uint8Array
  publicUrl: () => string
}): RecipientPartsOf {
  const { verp, secret } = deps
  return (deliveryId, message, { returnPathHost, trackingHost }) => {
    const { unsubscribe, trackOpens: opens, trackClicks: clicks } = message
    if (!unsubscribe && !opens && !clicks) return NO_RECIPIENT_PARTS
    const baseUrl = trackingHost === null ? deps.publicUrl() : `https://${trackingHost}`
    const scope =
      trackingHost === null ? serverScope(baseUrl) : { host: trackingHost, organizationId: message.organizationId }
    const link = baseUrl + createTrackingLinks(secret, scope).unsubscribe(deliveryId)
    return {
      fields: unsubscribe ? unsubscribeFields(deliveryId, returnPathHost, verp, link) : '',
      tracking: { deliveryId, secret, baseUrl, scope, opens, clicks, unsubscribe },
    }
  }
}

/** The address of this server → the scope of links that begin with it. */
export function serverScope(publicUrl: string): LinkScope {
  return { host: URL.parse(publicUrl)?.hostname ?? '', organizationId: '' }
}
