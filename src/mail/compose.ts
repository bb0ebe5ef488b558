import { isCalendar } from './calendar.ts'
import type { Attachment, MailContent } from './content.ts'
import {
  addressField,
  customField,
  encodedWords,
  foldField,
  parameter,
  textField,
  withoutControls,
} from './header-text.ts'
import { decodeAttribute } from './html-entities.ts'
import { textFromHtml } from './html-text.ts'
import { base64Length, encodeText, writeBase64 } from './transfer-encoding.ts'

/** Content → message in its wire form after SMTP DATA, without dot-stuffing: CRLF everywhere, no line over 998 bytes,
 *  7-bit ASCII unless an address has a UTF-8 local part (then that header field is UTF-8, RFC 6532). The same content
 *  always gives the same bytes. A missing text part is derived from the html. Bcc is never written. Without text and
 *  html the text part is empty. Invalid attachment fields are repaired, not refused: an unusable content type becomes
 *  application/octet-stream, an unusable content id is omitted. Throws on a header that would change the message's
 *  structure (customField, isComposedHeader), and on an invalid message id or date. RFC 5322, 2045–2047, 2231, 2387 */
export function compose(content: MailContent): Uint8Array {
  const pieces = piecesOf(content)
  const out = Buffer.allocUnsafe(sizeOf(pieces))
  let end = 0
  for (const piece of pieces) {
    end = typeof piece === 'string' ? end + out.write(piece, end) : writeBase64(piece, out, end)
  }
  return out
}

/** Exact size in bytes of compose's result; attachments are counted, not encoded. Throws where compose throws. */
export function composedSizeBytes(content: MailContent): number {
  return sizeOf(piecesOf(content))
}

/** The submitted size of the content, with attachments as base64 lines. Needs no composing; apart from headers, at
 *  least a third of compose's size. Never throws. */
export function submittedSizeBytes({ subject, html, text, attachments }: MailContent): number {
  const texts = [subject, html ?? '', text ?? ''].reduce((sum, each) => sum + Buffer.byteLength(each), 0)
  return attachments.reduce((sum, each) => sum + base64Length(each.content.byteLength), texts)
}

/** The plain text part: the author's own, or the text of the html; null if both are empty. */
export function textOf({ html, text }: Pick<MailContent, 'html' | 'text'>): string | null {
  return text ?? (html === null ? null : textFromHtml(html) || null)
}

/** Whether only compose may write this header, in any letter case; MailContent.headers must not contain it. */
export function isComposedHeader(name: string): boolean {
  return COMPOSED_HEADER.test(name)
}

/** Text written unchanged, or bytes written as base64 lines. */
type Piece = string | Uint8Array

/** A MIME entity: header fields ending in CRLF, and body without the final line end. */
interface Entity {
  fields: string
  body: Piece[]
}

const COMPOSED_HEADER =
  /^(?:from|to|cc|bcc|resent-bcc|reply-to|subject|date|message-id|mime-version|content-(?:type|transfer-encoding|disposition|id|description|location|base|md5|length))$/i
const MESSAGE_ID = /^<[!-;=?-~]{1,990}>$/
const CONTENT_ID = /^[!-;=?-~]{1,900}$/
const TOKEN = '[A-Za-z0-9!#$&^_.+-]{1,127}'
const CONTENT_TYPE = new RegExp(`^(${TOKEN})/${TOKEN}$`)
const TYPE_PARAMETER = new RegExp(`^(${TOKEN})=(?:(${TOKEN})|"([ !#-\\[\\]-~]{0,200})")$`)

function piecesOf(content: MailContent): Piece[] {
  const root = rootEntity(content)
  const pieces = [headOf(content), `MIME-Version: 1.0\r\n${root.fields}\r\n`, ...root.body]
  const last = pieces.at(-1) ?? ''
  if (typeof last !== 'string' || (!last.endsWith('\r\n') && last !== '')) pieces.push('\r\n')
  return pieces
}

function sizeOf(pieces: readonly Piece[]): number {
  let size = 0
  for (const piece of pieces) {
    size += typeof piece === 'string' ? Buffer.byteLength(piece) : base64Length(piece.length)
  }
  return size
}

function headOf(content: MailContent): string {
  if (!MESSAGE_ID.test(content.messageId)) throw new Error('invalid Message-ID')
  let head = addressField('From', [content.from])
  head += addressField('To', content.to)
  head += addressField('Cc', content.cc)
  head += addressField('Reply-To', content.replyTo)
  head += textField('Subject', content.subject)
  head += `Date: ${dateTime(content.dateAt)}\r\nMessage-ID: ${content.messageId}\r\n`
  for (const [name, value] of content.headers) {
    if (isComposedHeader(name)) throw new Error(`header ${name} is reserved for Postrider`)
    head += customField(name, value)
  }
  return head
}

/** Milliseconds UTC → RFC 5322 §3.3 date-time. Throws past the year 9999. */
export function dateTime(at: number): string {
  const text = new Date(at).toUTCString()
  if (!text.endsWith('GMT')) throw new Error('date is out of range')
  return text.replace('GMT', '+0000')
}

/** mixed [ alternative [ text, related [ html, inline… ], calendar ], attachment… ], each level only if needed. */
function rootEntity(content: MailContent): Entity {
  const { html } = content
  const attachments = content.attachments.filter((each) => !isCalendar(each))
  const calendars = content.attachments.filter(isCalendar).map(calendarEntity)
  const texts = [textOf(content), html].map((text) => (text === null ? null : encodeText(text)))
  const boundary = boundaryFor(
    content.boundarySeed,
    texts.map((text) => text?.body ?? ''),
  )
  const text = texts[0] && textEntity('plain', texts[0])
  let body = texts[1] && textEntity('html', texts[1])
  const referenced = attachments.some(({ contentId }) => contentId !== null) ? contentIdsIn(html ?? '') : NONE
  const isInline = ({ contentId }: Attachment) => contentId !== null && referenced.has(contentId)
  const inline = attachments.filter(isInline)
  const others = attachments.filter((each) => !isInline(each))

  if (body && inline.length > 0) {
    body = multipart('related', `${boundary}r`, [body, ...inline.map((each) => attachmentEntity(each, true))])
  }
  const alternatives = [text ?? [], body ?? [], calendars].flat()
  body = alternatives.length > 1 ? multipart('alternative', `${boundary}a`, alternatives) : alternatives[0]
  if (others.length === 0) return body ?? textEntity('plain', encodeText(''))
  const parts = others.map((each) => attachmentEntity(each, false))
  return multipart('mixed', `${boundary}m`, body ? [body, ...parts] : parts)
}

/** A boundary that none of the bodies contains; `=_` cannot occur in the encoded ones at all. RFC 2046 §5.1.1 */
function boundaryFor(seed: string, bodies: readonly string[]): string {
  for (let round = 0; ; round++) {
    const digest = new Bun.CryptoHasher('sha256').update(`${round} ${seed}`).digest('hex')
    const boundary = `=_${digest.slice(0, 32)}_`
    if (!bodies.some((body) => body.includes(boundary))) return boundary
  }
}

function textEntity(subtype: string, text: { encoding: string; body: string }): Entity {
  return {
    fields: `Content-Type: text/${subtype}; charset=utf-8\r\nContent-Transfer-Encoding: ${text.encoding}\r\n`,
    body: [text.body],
  }
}

function multipart(subtype: string, boundary: string, parts: readonly Entity[]): Entity {
  const body: Piece[] = []
  let lineEnd = ''
  for (const part of parts) {
    // Pieces stay separate until written: joining them would copy every body once more.
    body.push(`${lineEnd}--${boundary}\r\n${part.fields}\r\n`, ...part.body)
    lineEnd = '\r\n'
  }
  body.push(`\r\n--${boundary}--\r\n`)
  // RFC 2387 §3.1: related names the type of its root, which is always our html.
  const type = subtype === 'related' ? '; type="text/html"' : ''
  return { fields: `Content-Type: multipart/${subtype}${type};\r\n boundary="${boundary}"\r\n`, body }
}

/** HTML → the Content-IDs that its `cid:` URLs name, in attributes and styles, with and without what may end a URL in a
 *  style or a list. RFC 2392 §2 */
function contentIdsIn(html: string): ReadonlySet<string> {
  const found = new Set<string>()
  for (const [, written = ''] of html.matchAll(CID_URL)) {
    const id = decodeAttribute(written)
    for (const each of [id, /^[^"'()\s,;]*/.exec(id)![0]]) found.add(each).add(percentDecoded(each))
  }
  return found
}

const NONE: ReadonlySet<string> = new Set()
const CID_URL = /\bcid:([^\s"'<>]+)/gi

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Outlook and Gmail show buttons for such a part only beside the text, not for an attachment. */
function calendarEntity({ contentType, content }: Attachment): Entity {
  const fields = `Content-Type: ${contentType}\r\nContent-Transfer-Encoding: base64\r\n`
  return { fields, body: [content] }
}

function attachmentEntity(attachment: Attachment, isInline: boolean): Entity {
  const { filename, contentId } = attachment
  const disposition = isInline ? 'inline' : 'attachment'
  const file = filename === '' ? [] : parameter('filename', filename)
  let fields = parameters('Content-Type', [...contentType(attachment.contentType), ...plainName(filename)])
  fields += 'Content-Transfer-Encoding: base64\r\n'
  fields += parameters('Content-Disposition', [disposition, ...file])
  if (contentId !== null && CONTENT_ID.test(contentId)) fields += foldField('Content-ID', [`<${contentId}>`])
  return { fields, body: [attachment.content] }
}

/** The file name again for clients without RFC 2231; encoded words here are common practice, not a standard. */
function plainName(filename: string): string[] {
  if (filename === '') return []
  const plain = parameter('name', filename)
  return plain[0]?.startsWith('name="')
    ? plain
    : [`name="${encodedWords(withoutControls(filename), 68).join('\r\n ')}"`]
}

/** Declared type → type and parameters valid in a header. Composite types become octet-stream, because they do not
 *  allow base64, which all attachments use (RFC 2045 §6.4). */
function contentType(declared: string): string[] {
  const [type = '', ...rest] = declared.split(';').map((part) => part.trim())
  const main = CONTENT_TYPE.exec(type)?.[1]
  if (main === undefined || /^(?:multipart|message)$/i.test(main)) return ['application/octet-stream']
  const kept = rest.filter((part) => TYPE_PARAMETER.test(part) && !/^(?:name|boundary)=/i.test(part))
  return [type, ...kept]
}

/** A header with parameters, one per line. */
function parameters(name: string, values: readonly string[]): string {
  return `${name}: ${values.join(';\r\n ')}\r\n`
}
