import type { Mailbox } from './address.ts'
import { ZSTD_LEVEL } from './blob.ts'

/** One decoded attachment. `contentId` is without angle brackets; null if the html cannot refer to it. */
export interface Attachment {
  filename: string
  contentType: string
  contentId: string | null
  content: Uint8Array
}

/** Content of a message, the same for each recipient; compose turns it into MIME. */
export interface MailContent {
  from: Mailbox
  to: Mailbox[]
  cc: Mailbox[]
  replyTo: Mailbox[]
  subject: string
  /** Milliseconds UTC. */
  dateAt: number
  /** With angle brackets. */
  messageId: string
  html: string | null
  text: string | null
  headers: [name: string, value: string][]
  attachments: Attachment[]
  /** Text that no part of the message contains by chance; the same seed gives the same bytes. */
  boundarySeed: string
}

/** Content → one blob: version byte, 4-byte big-endian length of the zstd part, 4-byte CRC-32 of all that follows, the
 *  zstd part, then the attachments' bytes (mostly compressed already). The zstd part holds one line of JSON with small
 *  fields and sizes, then html and text unescaped: JSON-encoding ten kilobytes of html would cost as much as
 *  compressing them. Never throws. */
export function packContent(content: MailContent): Uint8Array {
  const { from, to, cc, replyTo, subject, dateAt, messageId, html, text, headers, attachments, boundarySeed } = content
  const bodySizes = [html, text].map((body) => (body === null ? null : Buffer.byteLength(body)))
  const sized = attachments.map(({ content, ...rest }) => ({ ...rest, sizeBytes: content.byteLength }))
  const fields = { from, to, cc, replyTo, subject, dateAt, messageId, headers, boundarySeed }
  const head = `${JSON.stringify({ ...fields, attachments: sized, bodySizes } satisfies PackedHead)}\n`

  const packed = Bun.zstdCompressSync(inUtf8([head, html ?? '', text ?? '']), { level: ZSTD_LEVEL })
  const blob = Buffer.concat([Buffer.alloc(HEAD_BYTES), packed, ...attachments.map((each) => each.content)])
  blob[0] = VERSION
  blob.writeUInt32BE(packed.byteLength, 1)
  blob.writeUInt32BE(Bun.hash.crc32(blob.subarray(HEAD_BYTES)), 5)
  return blob
}

/** Blob → content. Attachment bytes are views into `bytes`: do not change the blob while they are used. Throws on a
 *  blob that is truncated, damaged or of another version. */
export function unpackContent(bytes: Uint8Array): MailContent {
  const blob = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (blob.length < HEAD_BYTES || blob[0] !== VERSION) throw new Error('stored content has an unknown format')
  const packedEnd = HEAD_BYTES + blob.readUInt32BE(1)
  if (blob.readUInt32BE(5) !== Bun.hash.crc32(blob.subarray(HEAD_BYTES)) || packedEnd > blob.length) {
    throw new Error('stored content is damaged')
  }
  const clear = Bun.zstdDecompressSync(blob.subarray(HEAD_BYTES, packedEnd))
  const headEnd = clear.indexOf(NEWLINE)
  const head: PackedHead = JSON.parse(clear.toString('utf8', 0, headEnd)) // packed above
  const { bodySizes, attachments, ...fields } = head
  const [htmlBytes = null, textBytes = null] = bodySizes
  const htmlEnd = headEnd + 1 + (htmlBytes ?? 0)
  const textEnd = htmlEnd + (textBytes ?? 0)

  let start = packedEnd
  const cut = attachments.map(({ sizeBytes, ...rest }) => {
    const content = blob.subarray(start, start + sizeBytes)
    start += sizeBytes
    return { ...rest, content }
  })
  if (start !== blob.length || textEnd !== clear.length) throw new Error('stored content is damaged')
  return {
    ...fields,
    html: htmlBytes === null ? null : clear.toString('utf8', headEnd + 1, htmlEnd),
    text: textBytes === null ? null : clear.toString('utf8', htmlEnd, textEnd),
    attachments: cut,
  }
}

const VERSION = 1
const HEAD_BYTES = 9
const NEWLINE = 0x0a

/** Buffer for content before compression. Three copies of ten kilobytes per mail, each garbage afterwards, took a sixth
 *  of packing. Larger content is rare and gets its own memory. */
const workspace = Buffer.allocUnsafeSlow(128 * 1024)

/** Texts → their consecutive bytes, valid until the next call. */
function inUtf8(texts: string[]): Uint8Array {
  const sizeBytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  const bytes = sizeBytes <= workspace.length ? workspace : Buffer.allocUnsafe(sizeBytes)
  let end = 0
  for (const text of texts) end += bytes.write(text, end)
  return bytes.subarray(0, end)
}

type PackedHead = Omit<MailContent, 'html' | 'text' | 'attachments'> & {
  attachments: (Omit<Attachment, 'content'> & { sizeBytes: number })[]
  bodySizes: (number | null)[]
}
