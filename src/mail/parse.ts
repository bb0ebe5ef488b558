import { type AttachmentStream, MailParser, type MessageText } from 'mailparser'
import { fileName } from './file-name.ts'
import { type HeaderField, readHeaderFields } from './header-fields.ts'
import { headersOf, type ParsedMail } from './inbound-content.ts'
import { readTexts } from './mime-parts.ts'
import { plainTexts } from './plain-mail.ts'
import { QuotedDecoder } from './quoted-decoder.ts'

/** Raw mail → what a payload shows of it, and why it could not be read whole (null = it could). What cannot be read is
 *  left out: too many parts, a part's header over 1 MiB, a reading over `limitMs`. Attached mails stay attachments, as do
 *  pictures that the html shows. `late` resolves when the reading has taken too long; it may never do. Never rejects.
 *  Traps: mailparser throws on legal mail; makes links and html of all text unless told not to; utf-7 of some megabytes
 *  takes ten seconds. */
export async function parseMail(
  raw: Uint8Array,
  late: Promise<unknown>,
): Promise<{ parsed: ParsedMail; parseError: string | null }> {
  const { fields, bodyAt } = readHeaderFields(raw)
  const plain = plainTexts(raw, fields, bodyAt)
  if (plain !== null) {
    const parsed = { textBody: plain.text, htmlBody: plain.html, headers: headersOf(fields), attachments: [] }
    return { parsed, parseError: null }
  }
  const sizes: number[] = []
  const read = await readParts(raw, fields, bodyAt, late, (index) => {
    sizes[index] = 0
    return (chunk) => {
      sizes[index]! += chunk.byteLength
    }
  })
  const texts = read.texts ?? textsAnyway(raw)
  return {
    parsed: {
      textBody: texts.text,
      htmlBody: texts.html,
      headers: headersOf(fields),
      attachments: read.attachments.map(({ filename, contentType }, index) => ({
        filename,
        contentType,
        sizeBytes: sizes[index]!,
      })),
    },
    parseError: read.error,
  }
}

/** Raw mail → the bytes of its attachments, in the order of ParsedMail.attachments. Never rejects: what cannot be read
 *  is not in it. */
export async function parseAttachments(raw: Uint8Array, late: Promise<unknown>): Promise<Buffer[]> {
  const { fields, bodyAt } = readHeaderFields(raw)
  const contents: Buffer[][] = []
  const { attachments } = await readParts(raw, fields, bodyAt, late, (index) => {
    const chunks: Buffer[] = []
    contents[index] = chunks
    return (chunk) => chunks.push(chunk)
  })
  return attachments.map((_, index) => Buffer.concat(contents[index]!))
}

const OPTIONS = {
  skipHtmlToText: true,
  skipTextToHtml: true,
  skipTextLinks: true,
  skipImageLinks: true,
  keepDeliveryStatus: true, // as an attachment; else it would be mixed into the text
  // mailsplit: its 1,000 are too few for some real mails; a line may be compared with the delimiter of each.
  maxChildNodes: 2_000,
  ignoreEmbedded: true, // mailsplit: an attached mail stays whole
}
/** Only these steer the parser; the others we read ourselves, and decoding them twice would cost more than the body. */
const MIME_FIELD = /^(?:content-|mime-version$)/
/** Read character by character by their decoders: seconds, and some forty times the memory. */
const EXPLODING = /utf-?7|2022|^(?:cs)?jis|^hz/i
const EXPLODING_BYTES = 1_000_000

interface Parts {
  /** In order; an attachment that was cut short by the error is not in it. */
  attachments: { filename: string; contentType: string }[]
  /** null = not read. */
  texts: { text: string; html: string } | null
  error: string | null
}

/** Runs mailparser over the body; `attachment` is told the index of each attachment and gives who takes its bytes. */
function readParts(
  raw: Uint8Array,
  fields: readonly HeaderField[],
  bodyAt: number,
  late: Promise<unknown>,
  attachment: (index: number) => (chunk: Buffer) => unknown,
): Promise<Parts> {
  const parser = new MailParser(OPTIONS as object)
  leaveUndecoded(parser, raw.byteLength)
  decodeQuotedOurselves(parser)
  const read: Parts = { attachments: [], texts: null, error: null }
  const done = Promise.withResolvers<Parts>()
  const fail = (reason: string) => {
    read.error ??= reason
    done.resolve(read)
    parser.destroy()
  }
  parser.on('error', (error: Error) => fail(error.message))
  parser.on('end', () => done.resolve(read))
  parser.on('data', (part: AttachmentStream | MessageText) => {
    if (part.type === 'text') {
      read.texts = { text: textOf(part.text), html: textOf(part.html) }
      return
    }
    const index = read.attachments.length
    const take = attachment(index)
    const content = part.content as NodeJS.ReadableStream
    content.on('data', (chunk: Buffer) => take(chunk))
    content.on('error', (error: Error) => fail(error.message))
    content.on('end', () => {
      if (read.error !== null) return
      const contentType = mediaType(part.contentType)
      read.attachments.push({ filename: fileName(part.filename, contentType, index + 1), contentType })
      part.release()
    })
  })
  void late.then(() => fail('reading it took too long'))
  try {
    const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
    for (const { key, start, end } of fields) if (MIME_FIELD.test(key)) parser.write(bytes.subarray(start, end))
    parser.write('\r\n')
    parser.end(bytes.subarray(bodyAt))
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error))
  }
  return done.promise
}

/** Of a large mail, such a text is left as its bytes are: mostly ASCII in any case. */
function leaveUndecoded(parser: MailParser, sizeBytes: number): void {
  const { decoder } = parser as unknown as { decoder: { decodeStream: (charset: string) => unknown } }
  const decodeStream = decoder.decodeStream
  decoder.decodeStream = (charset) => {
    if (sizeBytes > EXPLODING_BYTES && EXPLODING.test(charset)) throw new Error(`${charset} is not decoded here`)
    return decodeStream(charset)
  }
}

function decodeQuotedOurselves(parser: MailParser): void {
  const inner = parser as unknown as { createNode: (node: MimeNode) => unknown }
  const createNode = inner.createNode
  inner.createNode = (node) => {
    if (node.encoding === 'quoted-printable') node.getDecoder = () => new QuotedDecoder()
    return createNode.call(parser, node)
  }
}

/** Of mailsplit. */
interface MimeNode {
  encoding: string
  getDecoder: () => NodeJS.ReadWriteStream
}

function textsAnyway(raw: Uint8Array): { text: string; html: string } {
  const { text, html } = readTexts(raw)
  return { text: text ?? '', html: html ?? '' }
}

const textOf = (text: unknown) => (typeof text === 'string' ? text : '')

function mediaType(said: unknown): string {
  const type = String(said ?? '').toLowerCase()
  return /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/.test(type) ? type : 'application/octet-stream'
}
