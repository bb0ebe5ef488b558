import { timingSafeEqual } from 'node:crypto'
import { keyedTag } from './verp.ts'

/** Canary ID ⇄ the local part of its own address, which is also the word in its subject. */
export interface CanaryWords {
  encode(canaryId: string): string
  decode(localPart: string): string | null
}

/** Secret → encoder and decoder: `cnr_` with 26 characters becomes `canary-` with the same characters, `-` and a tag of
 *  12. Without the secret nobody can make such an address, so nobody can make a canary arrive. `encode` throws on another
 *  ID. `decode` takes any letter case and returns null for what is not ours; it compares in constant time. */
export function createCanaryWords(secret: Uint8Array): CanaryWords {
  const tagOf = (body: string) => keyedTag(secret, `canary ${body}`)
  return {
    encode: (canaryId) => {
      const body = ID.exec(canaryId)?.[1]
      if (body === undefined) throw new Error(`invalid canary ID: ${JSON.stringify(canaryId.slice(0, 40))}`)
      return `canary-${body}-${tagOf(body)}`
    },
    decode: (localPart) => {
      const [, body, tag] = WORD.exec(localPart.toLowerCase()) ?? []
      if (body === undefined || tag === undefined) return null
      return timingSafeEqual(Buffer.from(tag), Buffer.from(tagOf(body))) ? `cnr_${body}` : null
    },
  }
}

const ID = /^cnr_([0-9a-hjkmnp-tv-z]{26})$/
const WORD = /^canary-([0-9a-hjkmnp-tv-z]{26})-([0-9a-hjkmnp-tv-z]{12})$/
