import type { Random } from '../os/random.ts'

/** Random base62 characters, uniformly distributed: bytes that would introduce a bias are discarded. */
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
const FAIR_BYTES = 248 // 4 × 62, the largest multiple below 256
