import type { Random } from '../../os/random.ts'

/** Number of characters → that many random base62 characters, uniformly distributed. Bytes from 248 to 255 are
 *  discarded, because they would make some characters more likely than others. */
export function base62(characters: number, random: Random): string {
  let text = ''
  while (text.length < characters) {
    for (const byte of random.bytes(characters)) {
      if (byte < FAIR_BYTES && text.length < characters) text += BASE62[byte % 62]
    }
  }
  return text
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const FAIR_BYTES = 248 // 4 × 62, the largest multiple of 62 up to 256
