import { randomBytes } from 'node:crypto'
import { dataUrlStart, decodeBase64, LONGEST_DATA_URL_START } from '../../sending/submission/checks.ts'

/** A JSON body whose large base64 texts are replaced by placeholders. */
export interface Extracted {
  /** The JSON with a short placeholder string in place of each text. */
  json: Uint8Array
  /** Replaces the placeholders in the parsed JSON by the decoded bytes, in place. Recursive: check the nesting depth
   *  before. */
  put(value: unknown): void
}

/** JSON bytes → the same JSON without its large base64 texts (RFC 4648 §4, also in `data:` URLs) at `path`, and these
 *  texts decoded. `path` is a list of object keys; `*` stands for any array entry. Parsed as strings, such attachments
 *  would be in memory four times and block the thread for 0.1 s. Here each megabyte is decoded in a separate turn of the
 *  event loop. Texts of less than 64 KiB and escaped or invalid texts stay in the JSON. The JSON itself is not validated.
 *  Never rejects. Do not change `json` before the promise settles. */
export async function extractBase64(json: Uint8Array, path: readonly string[]): Promise<Extracted> {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength)
  const name = JSON.stringify(path.at(-1))
  const nonce = randomBytes(16).toString('hex') // random, so that no client text matches it
  const extracted = new Map<string, Uint8Array>()
  const kept: Uint8Array[] = []
  let keptTo = 0
  let at = bytes.indexOf(name)
  for (let tries = 0; at >= 0 && tries < MOST_TRIES; tries++) {
    const start = startOfText(bytes, at, name.length)
    const end = start < 0 ? -1 : bytes.indexOf(QUOTE, start)
    const decoded = end - start >= LARGE_BYTES ? await decode(base64In(bytes.subarray(start, end))) : null
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
/** Shorter texts take too little time and memory to matter. */
const LARGE_BYTES = 64 * 1024
/** Base64 characters to decode per turn of the event loop, a multiple of four. Takes 2 ms. */
const SLICE_BYTES = 2 ** 20
/** Maximum occurrences of the name to examine. A message has at most a hundred attachments. */
const MOST_TRIES = 10_000

/** Position of a quoted text → position of the string value after it; -1 if the text is not an object key or its value
 *  is not a string. */
function startOfText(bytes: Uint8Array, at: number, nameBytes: number): number {
  if (bytes[at - 1] === BACKSLASH) return -1 // the opening quote is escaped, so this is part of a longer string
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

/** The value without the start of a `data:` URL. */
function base64In(text: Buffer): Buffer {
  return text.subarray(dataUrlStart(text.toString('latin1', 0, LONGEST_DATA_URL_START)))
}

/** ASCII base64 → its bytes, or null if it is not base64. */
async function decode(text: Buffer): Promise<Uint8Array | null> {
  if (text.length % 4 !== 0) return null
  const padding = text[text.length - 2] === EQUALS ? 2 : text[text.length - 1] === EQUALS ? 1 : 0
  const whole = new Uint8Array((text.length / 4) * 3 - padding)
  for (let at = 0; at < text.length; at += SLICE_BYTES) {
    const bytes = decodeBase64(text.toString('latin1', at, Math.min(at + SLICE_BYTES, text.length)))
    const start = (at / 4) * 3
    // Only the last slice may have padding.
    if (bytes === null || bytes.length !== Math.min((SLICE_BYTES / 4) * 3, whole.length - start)) return null
    whole.set(bytes, start)
    await new Promise(setImmediate)
  }
  return whole
}

const EQUALS = 0x3d

/** Replaces placeholders in place. `path` is the rest of the path below `value`, or null if `value` is not on the path:
 *  there, placeholders become base64 strings again. */
function putBack(value: unknown, path: readonly string[] | null, extracted: ReadonlyMap<string, Uint8Array>): void {
  if (typeof value !== 'object' || value === null) return
  const [step, ...rest] = path ?? []
  const isList = Array.isArray(value)
  // Object.entries of an array of 490,000 numbers takes 0.3 s, its own entries a fraction of that.
  for (const [key, entry] of isList ? value.entries() : Object.entries(value)) {
    const inner = path !== null && step === (isList ? '*' : key) ? rest : null
    const bytes = typeof entry === 'string' ? extracted.get(entry) : undefined
    if (bytes === undefined) putBack(entry, inner, extracted)
    else Reflect.set(value, key, inner?.length === 0 ? bytes : Buffer.from(bytes).toString('base64'))
  }
}
