import { createHmac, timingSafeEqual } from 'node:crypto'

/** Delivery id ⇄ local part of the return path that its bounces come back to. */
export interface Verp {
  encode(deliveryId: string): string
  decode(localPart: string): string | null
}

/** Secret → the two directions. `encode` turns `dlv_` + 26 characters into `b-` + those + `-` + 12 characters of tag
 *  (60 bits of HMAC-SHA256), 41 in all, so that nobody can invent a bounce for a delivery; throws on anything that is no
 *  delivery id. `decode` takes the local part in any letter case, as some servers fold it, and gives the delivery id,
 *  or null when it is none of ours; compares in constant time. RFC 5321 §4.5.3.1.1 (64 octets); D. J. Bernstein 1997. */
export function createVerp(secret: Uint8Array): Verp {
  const tagOf = (body: string) => {
    const digest = createHmac('sha256', secret).update(`verp ${body}`).digest()
    let tag = ''
    for (let bits = digest.readBigUInt64BE() >> 4n, n = 0; n < TAG_CHARS; n++, bits >>= 5n) {
      tag += ALPHABET[Number(bits & 31n)]
    }
    return tag
  }
  return {
    encode(deliveryId) {
      const body = DELIVERY_ID.exec(deliveryId)?.[1]
      if (body === undefined) throw new Error(`not a delivery id: ${JSON.stringify(deliveryId.slice(0, 40))}`)
      return `b-${body}-${tagOf(body)}`
    },
    decode(localPart) {
      const match = RETURN_PATH.exec(localPart)
      if (match === null) return null
      const body = match[1]!.toLowerCase()
      const isOurs = timingSafeEqual(Buffer.from(match[2]!.toLowerCase()), Buffer.from(tagOf(body)))
      return isOurs ? `dlv_${body}` : null
    },
  }
}

const TAG_CHARS = 12
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz' // lower-case Crockford base32, as in the ids
const DELIVERY_ID = /^dlv_([0-9a-hjkmnp-tv-z]{26})$/
const RETURN_PATH = /^b-([0-9a-hjkmnp-tv-z]{26})-([0-9a-hjkmnp-tv-z]{12})$/i
