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
  | 'era'
  | 'whk'
  | 'whd'
  | 'tpl'
  | 'sup'
  | 'rte'
  | 'inb'
  | 'blk'
  | 'alr'
  | 'cnr'
  | 'aud'
  | 'psk'
  | 'ses'
  | 'usr'
  | 'inv'
  | 'req'

/** Mints identifiers; created once per process from its Clock and Random. */
export type MintId = (prefix: IdPrefix) => string

/** Clock and Random → a function that mints `prefix_` + 26 characters of lower-case Crockford base32: 10 for the
 *  millisecond (IDs sort by time), 16 for 80 random bits (IDs cannot be guessed and do not reveal volume). Lower
 *  case, because some mail servers fold the case of a return path. Never throws. */
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

/** ID of a record that follows from two others: the same inputs give the same ID, so writing it twice is harmless.
 *  Takes the time part from `timeOf`, the random part from `digest`. */
export function derivedId(prefix: IdPrefix, timeOf: string, digest: Uint8Array): string {
  return `${prefix}_${timeOf.slice(4, 14)}${base32(digest.subarray(0, 10))}`
}

/** The smallest ID of a prefix for the time `atMs`. */
export function firstId(prefix: IdPrefix, atMs: number): string {
  return `${prefix}_${base32Time(atMs)}`
}

/** True if `text` has the form of an ID with that prefix; does not check existence. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.length === 30 && text.startsWith(`${prefix}_`) && ID_BODY.test(text.slice(4))
}

/** ID → its time in ms UTC. */
export function timeOfId(id: string): number {
  let ms = 0
  for (const character of id.slice(4, 14)) ms = ms * 32 + ALPHABET.indexOf(character)
  return ms
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

/** Two characters per ten bits, for speed: every request mints three IDs. */
const PAIRS = [...ALPHABET].flatMap((first) => [...ALPHABET].map((second) => first + second))

/** Bytes, their number a multiple of five → lower-case Crockford base32, five bits per character. */
export function base32(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let value = 0
  for (let at = 0; at < bytes.length; at++) {
    value = ((value << 8) | (bytes[at] ?? 0)) & 0x3ffff
    bits += 8
    if (bits < 10) continue
    bits -= 10
    text += PAIRS[(value >> bits) & 1023]
  }
  return text
}
