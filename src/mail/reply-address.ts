import { timingSafeEqual } from 'node:crypto'
import { keyedTag } from './verp.ts'

/** What a reply address stands for: an answer to one delivery, that is to a message to one recipient, for one route. */
export interface ReplyTarget {
  deliveryId: string
  /** The last characters of the route's ID: the whole one has no place in 64 octets. Compare with routeEndOf. */
  routeEnd: string
}

/** Delivery and inbound route of an organization ⇄ the local part of the address for answers. */
export interface ReplyAddresses {
  encode(deliveryId: string, routeId: string, organizationId: string): string
  decode(localPart: string, organizationId: string): ReplyTarget | null
}

/** Secret → encoder and decoder. `encode` turns `dlv_` + 26 characters and `rte_` + 26 into `reply+`, the 26 of the
 *  delivery, the last 8 of the route, and 12 characters of tag (60 bits of HMAC-SHA256 over all three IDs): 52 octets of
 *  the 64 that a local part may have. The organization is in the tag alone, so an address is valid only at the domains of
 *  the organization that sent the message. IDs have 80 random bits, so an address does not lead to another one. Throws
 *  on an invalid ID. `decode` takes any letter case and returns null for what is not ours; it compares in constant time.
 *  RFC 5321 §4.5.3.1.1, RFC 5233 (the form of subaddresses) */
export function createReplyAddresses(secret: Uint8Array): ReplyAddresses {
  const tagOf = (organizationId: string, body: string) => keyedTag(secret, `reply ${organizationId} ${body}`)
  return {
    encode(deliveryId, routeId, organizationId) {
      const ids = IDS.exec(`${deliveryId} ${routeId}`)
      if (ids === null) throw new Error(`invalid IDs: ${JSON.stringify([deliveryId, routeId]).slice(0, 100)}`)
      const body = `${ids[1]}${ids[2]}`
      return `${PREFIX}${body}${tagOf(organizationId, body)}`
    },
    decode(localPart, organizationId) {
      const [, delivery, routeEnd, tag] = LOCAL_PART.exec(localPart.toLowerCase()) ?? []
      if (delivery === undefined || routeEnd === undefined || tag === undefined) return null
      const wanted = tagOf(organizationId, `${delivery}${routeEnd}`)
      return timingSafeEqual(Buffer.from(tag), Buffer.from(wanted)) ? { deliveryId: `dlv_${delivery}`, routeEnd } : null
    },
  }
}

/** Route ID → the part of it that a reply address has. */
export const routeEndOf = (routeId: string): string => routeId.slice(-ROUTE_CHARS)

/** True for what looks like a reply address, of whatever organization. */
export const isLikeReplyAddress = (address: string): boolean => address.slice(0, PREFIX.length).toLowerCase() === PREFIX

const PREFIX = 'reply+'
/** 40 random bits, compared among the routes of one organization. */
const ROUTE_CHARS = 8
const IDS = /^dlv_([0-9a-hjkmnp-tv-z]{26}) rte_[0-9a-hjkmnp-tv-z]{18}([0-9a-hjkmnp-tv-z]{8})$/
const LOCAL_PART = /^reply\+([0-9a-hjkmnp-tv-z]{26})([0-9a-hjkmnp-tv-z]{8})([0-9a-hjkmnp-tv-z]{12})$/
