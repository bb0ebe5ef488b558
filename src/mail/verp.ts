import { createHmac, timingSafeEqual } from 'node:crypto'

/** Purpose of a delivery's keyed address: its return path, or the mailto of its List-Unsubscribe header. */
export type VerpKind = 'bounce' | 'unsubscribe'

/** Delivery id ⇄ local part of its own address. */
export interface Verp {
  encode(deliveryId: string, kind: VerpKind): string
  decode(localPart: string): { kind: VerpKind; deliveryId: string } | null
}

/** Secret → encoder and decoder. `encode` turns `dlv_` + 26 characters into `b-` (bounce) or `u-` (unsubscribe) + those
 *  + `-` + 12 characters of tag (60 bits of HMAC-SHA256 over kind and id), 41 in all. So no one can forge a bounce for
 *  a delivery, or make an unsubscribe address from a return path. Throws on an invalid delivery id. `decode` takes the
 *  local part in any letter case, as some servers change it, and returns its meaning; null if it is not ours; compares
 *  in constant time. RFC 5321 §4.5.3.1.1 (64 octets); D. J. Bernstein 1997 */
export function createVerp(secret: Uint8Array): Verp {
  const tagOf = (kind: VerpKind, body: string) => keyedTag(secret, `verp ${kind} ${body}`)
  return {
    encode(deliveryId, kind) {
      const body = DELIVERY_ID.exec(deliveryId)?.[1]
      if (body === undefined) throw new Error(`invalid delivery ID: ${JSON.stringify(deliveryId.slice(0, 40))}`)
      return `${kind[0]}-${body}-${tagOf(kind, body)}`
    },
    decode(localPart) {
      const match = KEYED.exec(localPart)
      if (match === null) return null
      const [, letter = '', body = '', tag = ''] = match.map((part) => part.toLowerCase())
      const kind = letter === 'b' ? 'bounce' : 'unsubscribe'
      const isOurs = timingSafeEqual(Buffer.from(tag), Buffer.from(tagOf(kind, body)))
      return isOurs ? { kind, deliveryId: `dlv_${body}` } : null
    },
  }
}

/** 12 characters of lower-case Crockford base32: 60 bits of HMAC-SHA256 over a text. */
export function keyedTag(secret: Uint8Array, text: string): string {
  const digest = createHmac('sha256', secret).update(text).digest()
  let tag = ''
  for (let bits = digest.readBigUInt64BE() >> 4n, n = 0; n < TAG_CHARS; n++, bits >>= 5n) {
    tag += ALPHABET[Number(bits & 31n)]
  }
  return tag
}

const TAG_CHARS = 12
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz' // lower-case Crockford base32, as in the ids
const DELIVERY_ID = /^dlv_([0-9a-hjkmnp-tv-z]{26})$/
const KEYED = /^([bu])-([0-9a-hjkmnp-tv-z]{26})-([0-9a-hjkmnp-tv-z]{12})$/i
