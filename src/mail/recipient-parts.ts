import { addressField } from './header-text.ts'
import { unsubscribeFields } from './list-unsubscribe.ts'
import type { ReplyAddresses } from './reply-address.ts'
import type { Tracking } from './track.ts'
import { createTrackingLinks, type LinkScope } from './tracking-link.ts'
import type { Verp } from './verp.ts'

/** The parts of one recipient's mail that other recipients of the message do not have; plain data, because it crosses a
 *  thread boundary. */
export interface RecipientParts {
  /** Header fields ending in CRLF, prepended and signed; '' for none. */
  fields: string
  /** Null: the author's HTML, byte for byte. */
  tracking: Tracking | null
  /** What replaces placeholders in text and HTML, by placeholder. Absent: nothing is replaced. */
  secrets?: Readonly<Record<string, string>>
}

/** Stands in stored content for the token of a link that signs somebody in, which no stored content has. */
export const LINK_TOKEN = '[sign-in-token]'

/** All recipients get the same bytes. */
export const NO_RECIPIENT_PARTS: RecipientParts = { fields: '', tracking: null }

/** Delivery id, message options and sender domain → the recipient's parts. The same at every attempt. Throws on an
 *  invalid delivery id. */
export type RecipientPartsOf = (
  deliveryId: string,
  message: {
    organizationId: string
    metadata: Readonly<Record<string, unknown>>
    unsubscribe: boolean
    trackOpens: boolean
    trackClicks: boolean
    replies: { routeId: string; domain: string; name: string | null } | null
  },
  /** `trackingHost`: null for links with this server's address. */
  sender: { returnPathHost: string; trackingHost: string | null },
) => RecipientParts

/** `publicUrl` is this server's public URL without a final slash; called each time, because it is known only once the
 *  listener is bound. */
export function createRecipientParts(deps: {
  verp: Pick<Verp, 'encode'>
  replyAddresses: Pick<ReplyAddresses, 'encode'>
  /** The secret of createTrackingLinks. */
  secret: Uint8Array
  publicUrl: () => string
}): RecipientPartsOf {
  const { verp, secret } = deps
  return (deliveryId, message, { returnPathHost, trackingHost }) => {
    const { unsubscribe, trackOpens: opens, trackClicks: clicks, replies, organizationId } = message
    let replyField = ''
    if (replies !== null) {
      const local = deps.replyAddresses.encode(deliveryId, replies.routeId, organizationId)
      const address = `${local}@${replies.domain}`
      replyField = addressField('Reply-To', [{ name: replies.name, local, domain: replies.domain, address }])
    }
    if (!unsubscribe && !opens && !clicks) {
      return replyField === '' ? NO_RECIPIENT_PARTS : { fields: replyField, tracking: null }
    }
    const baseUrl = trackingHost === null ? deps.publicUrl() : `https://${trackingHost}`
    const scope = trackingHost === null ? serverScope(baseUrl) : { host: trackingHost, organizationId }
    const link = baseUrl + createTrackingLinks(secret, scope).unsubscribe(deliveryId)
    return {
      fields: replyField + (unsubscribe ? unsubscribeFields(deliveryId, returnPathHost, verp, link) : ''),
      tracking: { deliveryId, secret, baseUrl, scope, opens, clicks, unsubscribe },
    }
  }
}

/** This server's URL → the scope of links that start with it. */
export function serverScope(publicUrl: string): LinkScope {
  return { host: URL.parse(publicUrl)?.hostname ?? '', organizationId: '' }
}
