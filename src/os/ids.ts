import type { Clock } from './clock.ts'
import type { Random } from './random.ts'

/** Prefixes of record ids. All appear in the API except `dlv`, which is internal. */
export type IdPrefix =
  | 'org'
  | 'dom'
  | 'key'
  | 'msg'
  | 'dlv'
  | 'evt'
  | 'whk'
  | 'whd'
  | 'tpl'
  | 'sup'
  | 'rte'
  | 'inb'
  | 'blk'
  | 'alr'
  | 'aud'
  | 'ses'
  | 'req'

/** Mints identifiers; made once per process from its Clock and Random. */
export type MintId = (prefix: IdPrefix) => string

/** Clock and Random → a minter of `prefix_` + 26 characters of lower-case Crockford base32:
 *  10 for the millisecond (so ids sort by time), 16 for 80 random bits (so they cannot be guessed
 *  and tell nothing about volume). Lower case throughout, because some mail servers fold the case
 *  of a return path. Never throws. */
export function createMintId(clock: Clock, random: Random): MintId {
  let lastMs = -1
  let lastTime = ''
  return (prefix) => {
    const now = clock.now()
    if (now !== lastMs) {
      lastMs = now
      lastTime = base32Time(now)
    }
    return `${prefix}_${lastTime}${base32(random.bytes(10))}`
  }
}

/** The id a record gets when its existence follows from two others: same inputs, same id, so that
 *  writing it twice is harmless. Keeps the time part of `timeOf`, takes the random part from `digest`. */
export function derivedId(prefix: IdPrefix, timeOf: string, digest: Uint8Array): string {
  return `${prefix}_${timeOf.slice(4, 14)}${base32(digest.subarray(0, 10))}`
}

/** The least id of a kind that can have been minted at `atMs`. */
export function firstId(prefix: IdPrefix, atMs: number): string {
  return `${prefix}_${base32Time(atMs)}`
}

/** True when `text` has the shape of an id with that prefix; says nothing about existence. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.length === 30 && text.startsWith(`${prefix}_`) && ID_BODY.test(text.slice(4))
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const ID_BODY = /^[0-9a-hjkmnp-tv-z]{26}$/

function base32Time(ms: number): string {
  let text = ''
  for (let rest = Math.max(0, Math.floor(ms)), i = 0; i < 10; i++, rest = Math.floor(rest / 32)) {
    text = ALPHABET[rest % 32] + text
  }
  return text
}

/** Two characters for each ten bits: every request mints three ids. */
const PAIRS = [...ALPHABET].flatMap((first) => [...ALPHABET].map((second) => first + second))

/** Bytes → lower-case Crockford base32 without padding, five bits a character. */
export function base32(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let value = 0
  for (let at = 0; at < bytes.length; at++) {
    value = ((value << 8) | bytes[at]!) & 0x3ffff
    bits += 8
    if (bits < 10) continue
    bits -= 10
    text += PAIRS[(value >> bits) & 1023]
  }
  if (bits >= 5) {
    bits -= 5
    text += ALPHABET[(value >> bits) & 31]
  }
  if (bits > 0) text += ALPHABET[(value << (5 - bits)) & 31]
  return text
}
