import { type HeaderField, readHeaderFields } from './header-fields.ts'
import { bytesOfBase64, bytesOfQuotedPrintable } from './transfer-decoding.ts'

/** The texts of a mail; '' for what it has not. */
export interface PlainTexts {
  text: string
  html: string
}

/** Raw mail with its fields → its texts, when it is as plain as most mail: one text, or the same as text and HTML
 *  (multipart/alternative); in ASCII or UTF-8, CRLF lines, and not one byte out of order. Null for all else, which mailparser
 *  reads ten times as slowly: other charsets, flowed text, attachments, dispositions, malformed encodings, a preamble, more
 *  than 1 MiB. A test holds it to what mailparser says. Linear, never throws. RFC 2045, RFC 2046 §5.1.4. */
export function plainTexts(raw: Uint8Array, fields: readonly HeaderField[], bodyAt: number): PlainTexts | null {
  if (raw.byteLength > MOST_BYTES) return null
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const said = contentOf(bytes, fields)
  if (said === null) return null
  const body = bytes.subarray(bodyAt)
  const boundary = ALTERNATIVE.exec(said.type)
  if (boundary === null) return textsOf([textOf(said, body)])
  if (!UNENCODED.test(said.encoding)) return null
  const parts = twoParts(body, boundary[1] ?? boundary[2]!)
  return parts && textsOf(parts.map(textOfPart))
}

const MOST_BYTES = 1_048_576
const TEXT = /^text\/(plain|html)(?:;[ \t]*charset=("?)(?:utf-8|us-ascii)\2)?$/i
const ALTERNATIVE = /^multipart\/alternative;[ \t]*boundary=(?:"([\w.=+/:-]{1,70})"|([\w.+-]{1,70}))$/i
const UNENCODED = /^(?:7bit|8bit|binary)?$/i

interface Content {
  /** Values of the two fields, '' when missing. */
  type: string
  encoding: string
}

interface Text {
  kind: 'text' | 'html'
  text: string
}

/** Null when there is more to it, or one of them twice. */
function contentOf(bytes: Buffer, fields: readonly HeaderField[]): Content | null {
  const mime = fields.filter(({ key }) => key.startsWith('content-'))
  const types = mime.filter(({ key }) => key === 'content-type')
  const encodings = mime.filter(({ key }) => key === 'content-transfer-encoding')
  if (types.length > 1 || encodings.length > 1 || mime.length > types.length + encodings.length) return null
  if (!mime.every(({ name, start }) => bytes[start + name.length] === COLON)) return null
  return { type: types[0]?.value ?? 'text/plain', encoding: encodings[0]?.value ?? '' }
}

const COLON = 58

function textOf({ type, encoding }: Content, body: Buffer): Text | null {
  const said = TEXT.exec(type)
  const bytes = said && decoded(encoding.toLowerCase(), body)
  if (bytes === null) return null
  const text = bytes.toString()
  return {
    kind: said![1]!.toLowerCase() === 'html' ? 'html' : 'text',
    text: text.includes('\r') ? text.replaceAll('\r\n', '\n') : text,
  }
}

function decoded(encoding: string, body: Buffer): Buffer | null {
  if (UNENCODED.test(encoding)) return body
  const written = body.toString('latin1')
  const isQuoted = encoding === 'quoted-printable' && !MALFORMED_QUOTED.test(written)
  const isBase64 = encoding === 'base64' && !MALFORMED_BASE64.test(written)
  if (!isQuoted && !isBase64) return null
  const bytes = isQuoted ? bytesOfQuotedPrintable(body) : bytesOfBase64(body)
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Blanks that a line ends with, bare LF, and an `=` that escapes nothing; words, padding that is not at the end. */
const MALFORMED_QUOTED = /=(?![0-9A-F]{2}|\r\n.)|[ \t](?:\r?\n|$)|(?<!\r)\n/
const MALFORMED_BASE64 = /[^A-Za-z0-9+/=\r\n]|=(?!=?(?:\r\n){0,9}$)|(?<!\r)\n|\r(?!\n)/

/** What stands between the delimiter lines, when these are three, the last one closing, and nothing is around them. */
function twoParts(body: Buffer, boundary: string): [Buffer, Buffer] | null {
  const delimiter = `--${boundary}`
  const second = body.indexOf(`\r\n${delimiter}\r\n`)
  const last = body.indexOf(`\r\n${delimiter}--\r\n`, second)
  const begin = delimiter.length + 2
  if (second < begin || last < 0 || body.toString('latin1', 0, begin) !== `${delimiter}\r\n`) return null
  const between = second + begin + 2
  const isMore = body.indexOf(delimiter, 1) !== second + 2 || body.indexOf(delimiter, between) !== last + 2
  if (isMore || last < between || body.length !== last + begin + 4) return null
  return [body.subarray(begin, second), body.subarray(between, last)]
}

/** Null when its header is not made of fields alone, or it is empty. */
function textOfPart(part: Buffer): Text | null {
  const { fields, bodyAt } = readHeaderFields(part)
  let at = 0
  for (const { start, end } of fields) {
    if (start !== at) return null
    at = end
  }
  if (at + 2 !== bodyAt || part[at] !== CR || bodyAt === part.length) return null
  const said = contentOf(part, fields)
  return said && textOf(said, part.subarray(bodyAt))
}

const CR = 13

function textsOf(texts: readonly (Text | null)[]): PlainTexts | null {
  const found: PlainTexts = { text: '', html: '' }
  const kinds = new Set<string>()
  for (const each of texts) {
    if (each === null || kinds.has(each.kind)) return null
    kinds.add(each.kind)
    found[each.kind] = each.text
  }
  return found
}
