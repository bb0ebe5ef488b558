import { randomBytes } from 'node:crypto'
import { decodeBase64 } from '../submission/checks.ts'

/** A body without its large texts, and what they were. */
export interface Extracted {
  /** The JSON with a short text in the place of each. */
  json: Uint8Array
  /** Puts their bytes into the value that the JSON becomes; to be called once it is known to be shallow. Changes the value in
   *  place. */
  put(value: unknown): void
}

/** JSON bytes → the same without the large texts in base64 (RFC 4648 §4) that are values of the
 *  last name of `path` (`*` is any entry of an array), decoded. As texts, such
 *  attachments would be in memory four times, and hold the thread for a tenth of a second; so they never become one: each
 *  megabyte is decoded in a turn of the event loop of its own. What is not base64 through and through, is escaped or is small
 *  stays where it is, and so does any fault of the JSON around it. Throws nothing. Leave `json` unchanged while it is awaited. */
export async function extractBase64(json: Uint8Array, path: readonly string[]): Promise<Extracted> {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength)
  const name = JSON.stringify(path.at(-1))
  const nonce = randomBytes(16).toString('hex') // nobody's own text is taken for one of these
  const extracted = new Map<string, Uint8Array>()
  const kept: Uint8Array[] = []
  let keptTo = 0
  let at = bytes.indexOf(name)
  for (let tries = 0; at >= 0 && tries < MOST_TRIES; tries++) {
    const start = startOfText(bytes, at, name.length)
    const end = start < 0 ? -1 : bytes.indexOf(QUOTE, start)
    const decoded = end - start >= LARGE_BYTES ? await decode(bytes.subarray(start, end)) : null
    if (decoded !== null) {
      const mark = `${nonce}-${extracted.size}`
      extracted.set(mark, decoded)
      kept.push(bytes.subarray(keptTo, start), Buffer.from(mark))
      keptTo = end
    }
    at = bytes.indexOf(name, Math.max(end, at + name.length))
  }
  if (extracted.size === 0) return { json, put: () => {} }
  kept.push(bytes.subarray(keptTo))
  return { json: Buffer.concat(kept), put: (value) => putBack(value, path, extracted) }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
/** Below this a text costs nothing. */
const LARGE_BYTES = 64 * 1024
/** Of base64, a multiple of four: decoded in two milliseconds. */
const SLICE_BYTES = 2 ** 20
/** Names that are looked at: a message has at most a hundred attachments, and a body of nothing but names is nobody's. */
const MOST_TRIES = 10_000

/** Where a name stands → where the text begins that is its value; -1 when it is no name, or has another value. */
function startOfText(bytes: Uint8Array, at: number, nameBytes: number): number {
  if (bytes[at - 1] === BACKSLASH) return -1 // the end of a longer one
  const colon = afterBlanks(bytes, at + nameBytes)
  if (bytes[colon] !== COLON) return -1
  const quote = afterBlanks(bytes, colon + 1)
  return bytes[quote] === QUOTE ? quote + 1 : -1
}

function afterBlanks(bytes: Uint8Array, from: number): number {
  let at = from
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++
  return at
}

/** Base64 in ASCII → its bytes, or null where it is anything else. */
async function decode(text: Buffer): Promise<Uint8Array | null> {
  if (text.length % 4 !== 0) return null
  const padding = text[text.length - 2] === EQUALS ? 2 : text[text.length - 1] === EQUALS ? 1 : 0
  const whole = new Uint8Array((text.length / 4) * 3 - padding)
  for (let at = 0; at < text.length; at += SLICE_BYTES) {
    const bytes = decodeBase64(text.toString('latin1', at, Math.min(at + SLICE_BYTES, text.length)))
    const start = (at / 4) * 3
    // Only the last slice may be padded.
    if (bytes === null || bytes.length !== Math.min((SLICE_BYTES / 4) * 3, whole.length - start)) return null
    whole.set(bytes, start)
    await new Promise(setImmediate)
  }
  return whole
}

const EQUALS = 0x3d

/** `path` is what is left of it; null beside it, where they become texts again. */
function putBack(value: unknown, path: readonly string[] | null, extracted: ReadonlyMap<string, Uint8Array>): void {
  if (typeof value !== 'object' || value === null) return
  const step = path?.[0]
  const entries = value as Record<string, unknown>
  for (const key in entries) {
    const entry = entries[key]
    const isOnPath = Array.isArray(value) ? step === '*' : step === key
    const bytes = typeof entry === 'string' ? extracted.get(entry) : undefined
    if (bytes === undefined) putBack(entry, isOnPath ? path!.slice(1) : null, extracted)
    else entries[key] = isOnPath && path!.length === 1 ? bytes : Buffer.from(bytes).toString('base64')
  }
}
