import { createHash, type KeyObject, sign } from 'node:crypto'

export type DkimAlgorithm = 'rsa-sha256' | 'ed25519-sha256'

/** A key that signs for `domain` (A-label), published at `selector`._domainkey. */
export interface DkimKey {
  domain: string
  selector: string
  algorithm: DkimAlgorithm
  privateKey: KeyObject
}

/** Message bytes (CRLF line ends) → one DKIM-Signature field per key, in key order, folded, ending in CRLF, to prepend
 *  to the message; no keys give no bytes. relaxed/relaxed, whole body, no i=, x= or l=. Each field that clients show is
 *  signed once more than it occurs, so that an added copy breaks the signature. `signedAt` in milliseconds. `signRsa`
 *  may replace the RSA operation: it hashes its input with SHA-256 and signs that, PKCS#1 v1.5. Throws on an invalid
 *  domain or selector and on a key of the other algorithm. RFC 6376 §3, §5; RFC 8463 */
export function signDkim(
  raw: Uint8Array,
  keys: readonly DkimKey[],
  signedAt: number,
  signRsa: (digestInput: Uint8Array, key: DkimKey) => Uint8Array = signWithNode,
): Uint8Array {
  if (keys.length === 0) return new Uint8Array(0)
  const message = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const blankLine = message.indexOf('\r\n\r\n')
  const headEnd = blankLine < 0 ? message.length : blankLine + 2
  const signed = signedFields(fieldsOf(message.toString('latin1', 0, headEnd)))
  const body = message.subarray(Math.min(headEnd + 2, message.length))
  const bodyHash = isRelaxedAlready(body) ? plainBodyHash(body) : relaxedBodyHash(body)
  const seconds = Math.floor(signedAt / 1000)
  return Buffer.from(keys.map((key) => signatureField(key, signed, bodyHash, seconds, signRsa)).join(''), 'latin1')
}

/** Public key → the TXT record to publish. RFC 6376 §3.6.1, RFC 8463 §4. */
export function dkimRecordValue(algorithm: DkimAlgorithm, publicKeyBase64: string): string {
  return `v=DKIM1; k=${algorithm === 'rsa-sha256' ? 'rsa' : 'ed25519'}; p=${publicKeyBase64}`
}

/** Lines of text, and their relaxed canonical form. */
interface Folded {
  folded: string
  relaxed: string
}

/** The part common to all signatures: the folded h= and the canonical fields it names. */
interface SignedFields {
  names: Folded
  canonical: string
}

/** Header fields that mail clients show or use. Each is listed once more than it occurs, absent ones included, so that
 *  an added copy breaks the signature (RFC 6376 §8.15). Beyond RFC 5322 §3.6 and RFC 2045: receipts (RFC 8098), list
 *  headers (RFC 2369, 2919, 8058), and Gmail's complaint groups. */
const OVERSIGNED_NAMES = [
  'from',
  'sender',
  'reply-to',
  'to',
  'cc',
  'subject',
  'date',
  'message-id',
  'in-reply-to',
  'references',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
  'content-disposition',
  'disposition-notification-to',
  'list-id',
  'list-post',
  'list-unsubscribe',
  'list-unsubscribe-post',
  'feedback-id',
]
/** Signed as often as they occur. Forwarders may add these: Resent fields (RFC 5322 §3.6.6), or a mark of automatic
 *  mail (RFC 3834); clients show the author's fields. */
const SIGNED_NAMES = [
  'auto-submitted',
  'resent-date',
  'resent-from',
  'resent-sender',
  'resent-to',
  'resent-cc',
  'resent-message-id',
]
const UNEVEN = /[\r\t]| {2}| $/
const LABELS = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9])?)*$/i
const LINE = 76
const CR = 13
const LF = 10
const SPACE = 32
const TAB = 9
// The canonical body is hashed in pieces of this size, whatever the message size; shared, because hashing is
// synchronous.
const piece = new Uint8Array(65_536)

/** Header section → values of its fields by lower-case name, in order. Bytes are kept as latin1. */
function fieldsOf(head: string): Map<string, string[]> {
  const fields = new Map<string, string[]>()
  for (let start = 0; start < head.length; ) {
    let end = head.indexOf('\r\n', start)
    while (end >= 0 && (head.charCodeAt(end + 2) === SPACE || head.charCodeAt(end + 2) === TAB)) {
      end = head.indexOf('\r\n', end + 2)
    }
    if (end < 0) end = head.length
    const colon = head.indexOf(':', start)
    if (colon > 0 && colon < end) {
      const name = head.slice(start, colon).trimEnd().toLowerCase()
      const same = fields.get(name)
      const value = head.slice(colon + 1, end)
      if (same) same.push(value)
      else fields.set(name, [value])
    }
    start = end + 2
  }
  return fields
}

/** Fields of one name are taken from the bottom up, as verifiers do. RFC 6376 §5.4.2 */
function signedFields(fields: Map<string, string[]>): SignedFields {
  const names: string[] = []
  let canonical = ''
  const sign = (name: string) => {
    const values = fields.get(name) ?? []
    for (const value of values.toReversed()) {
      names.push(name)
      canonical += `${name}:${relaxedValue(value)}\r\n`
    }
  }
  for (const name of OVERSIGNED_NAMES) {
    sign(name)
    names.push(name)
  }
  for (const name of SIGNED_NAMES) sign(name)
  return { names: foldedNames(names), canonical }
}

/** RFC 6376 §3.4.2. Only space and TAB count: trim() would also remove UTF-8 bytes that look like a no-break space. */
function relaxedValue(value: string): string {
  if (!UNEVEN.test(value)) return value.startsWith(' ') ? value.slice(1) : value
  return value
    .replaceAll('\r\n', '')
    .replace(/[ \t]+/g, ' ')
    .replace(/^ | $/g, '')
}

/** Whether relaxed would change no blank of the body, as in base64 and unindented HTML: three native searches that
 *  usually end early, instead of a pass over every byte. */
function isRelaxedAlready(body: Buffer): boolean {
  return !body.includes('\t') && !body.includes('  ') && !body.includes(' \r\n') && body.at(-1) !== SPACE
}

/** Relaxed canonicalization of such a body: final line ends become one, and an empty body stays empty. */
function plainBodyHash(body: Buffer): string {
  let end = body.length
  while (end >= 2 && body[end - 2] === CR && body[end - 1] === LF) end -= 2
  if (end === 0 || end < body.length) return Bun.SHA256.hash(body.subarray(0, end && end + 2), 'base64')
  return createHash('sha256').update(body).update('\r\n').digest('base64')
}

/** RFC 6376 §3.4.4 in one pass: blanks at line ends and empty lines at the end are removed, runs of blanks become one
 *  space. A body of only those is empty; any other ends in CRLF. Line ends and blanks are written only when content
 *  follows. */
function relaxedBodyHash(body: Uint8Array): string {
  const hash = createHash('sha256')
  const size = body.length
  const out = piece
  const full = out.length - 4
  let end = 0
  let isEmpty = true
  for (let at = 0; at < size; ) {
    if (end >= full) end = flush(hash, end)
    const byte = body[at]!
    if (byte === CR && body[at + 1] === LF) {
      let lineEnds = 1
      let next = afterBlanks(body, at + 2)
      for (at += 2; body[next] === CR && body[next + 1] === LF; next = afterBlanks(body, at)) {
        lineEnds++
        at = next + 2
      }
      if (next === size) break
      for (; lineEnds > 0; lineEnds--) {
        if (end >= full) end = flush(hash, end)
        out[end++] = CR
        out[end++] = LF
      }
    } else if (byte === SPACE || byte === TAB) {
      at = afterBlanks(body, at + 1)
      if (at < size && !(body[at] === CR && body[at + 1] === LF)) out[end++] = SPACE
    } else {
      out[end++] = byte
      at++
      isEmpty = false
    }
  }
  if (!isEmpty) {
    out[end++] = CR
    out[end++] = LF
  }
  flush(hash, end)
  return hash.digest('base64')
}

function afterBlanks(body: Uint8Array, start: number): number {
  let at = start
  while (body[at] === SPACE || body[at] === TAB) at++
  return at
}

function flush(hash: ReturnType<typeof createHash>, end: number): number {
  if (end > 0) hash.update(piece.subarray(0, end))
  return 0
}

function signatureField(
  key: DkimKey,
  signed: SignedFields,
  bodyHash: string,
  seconds: number,
  signRsa: (digestInput: Uint8Array, key: DkimKey) => Uint8Array,
): string {
  if (!LABELS.test(key.domain) || !LABELS.test(key.selector)) throw new Error('invalid DKIM domain or selector')
  if (key.privateKey.asymmetricKeyType !== (key.algorithm === 'rsa-sha256' ? 'rsa' : 'ed25519')) {
    throw new Error(`DKIM key of ${key.selector}._domainkey.${key.domain} is not for ${key.algorithm}`)
  }
  const { folded, relaxed } = signed.names
  const valueWith = (names: string, lineEnd: string) =>
    `v=1; a=${key.algorithm}; c=relaxed/relaxed; d=${key.domain};${lineEnd} s=${key.selector}; t=${seconds};${lineEnd}` +
    `${names};${lineEnd} bh=${bodyHash};${lineEnd} b=`
  const input = Buffer.from(`${signed.canonical}dkim-signature:${valueWith(relaxed, '')}`, 'latin1')
  // RFC 8463 §3: Ed25519 over the digest.
  const signature =
    key.algorithm === 'rsa-sha256' ? signRsa(input, key) : sign(null, Bun.SHA256.hash(input), key.privateKey)
  return `DKIM-Signature: ${valueWith(folded, '\r\n')}${foldedBase64(signature)}\r\n`
}

function signWithNode(digestInput: Uint8Array, key: DkimKey): Uint8Array {
  return sign('sha256', digestInput, key.privateKey)
}

/** h=, folded after its colons, where RFC 6376 §3.2 allows white space. Most mails of a sender have the same fields,
 *  and folding takes a tenth of an Ed25519 signature, so the last ones are cached. */
function foldedNames(names: readonly string[]): Folded {
  const key = names.join(':')
  const known = foldedBefore.get(key)
  if (known !== undefined) return known
  const folded = foldNames(names)
  const made = { folded, relaxed: ` ${relaxedValue(folded)}` }
  if (key.length > MAX_KEPT_CHARS) return made
  if (foldedBefore.size >= MAX_KEPT) foldedBefore.clear()
  foldedBefore.set(key, made)
  return made
}

const foldedBefore = new Map<string, Folded>()
const MAX_KEPT = 100
const MAX_KEPT_CHARS = 2_000

function foldNames(names: readonly string[]): string {
  let text = ' h='
  let column = text.length
  for (const [index, name] of names.entries()) {
    const token = index < names.length - 1 ? `${name}:` : name
    if (column + token.length > LINE) {
      text += '\r\n  '
      column = 2
    }
    text += token
    column += token.length
  }
  return text
}

/** The first line is shorter by ` b=`. White space in b= is ignored. */
function foldedBase64(bytes: Uint8Array): string {
  const chars = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  let text = chars.slice(0, LINE - 3)
  for (let at = LINE - 3; at < chars.length; at += LINE - 2) text += `\r\n  ${chars.slice(at, at + LINE - 2)}`
  return text
}
