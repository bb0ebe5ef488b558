import type { Mailbox } from './address.ts'

/** One attachment, decoded. `contentId` is without angle brackets; null when the html cannot refer to it. */
export interface Attachment {
  filename: string
  contentType: string
  contentId: string | null
  content: Uint8Array
}

/** Everything a message is made of, the same for each recipient; compose turns it into MIME. */
export interface MailContent {
  from: Mailbox
  to: Mailbox[]
  cc: Mailbox[]
  replyTo: Mailbox[]
  subject: string
  /** Milliseconds UTC. */
  dateAt: number
  /** With its angle brackets. */
  messageId: string
  html: string | null
  text: string | null
  headers: [name: string, value: string][]
  attachments: Attachment[]
  /** Any text that no part of the message holds by chance; the same seed gives the same bytes. */
  boundarySeed: string
}

/** Content → one blob: version byte, 4-byte big-endian length of the JSON, 4-byte CRC-32 of all that follows, zstd JSON of
 *  everything but the attachment bytes, then those bytes one after another (they are mostly compressed already).
 *  Never throws. */
export function packContent(content: MailContent): Uint8Array {
  const sizes = content.attachments.map(({ content: bytes, ...rest }) => ({ ...rest, sizeBytes: bytes.byteLength }))
  const json = Bun.zstdCompressSync(JSON.stringify({ ...content, attachments: sizes }), { level: ZSTD_LEVEL })
  const blob = Buffer.concat([Buffer.alloc(HEAD_BYTES), json, ...content.attachments.map((each) => each.content)])
  blob[0] = VERSION
  blob.writeUInt32BE(json.byteLength, 1)
  blob.writeUInt32BE(Bun.hash.crc32(blob.subarray(HEAD_BYTES)), 5)
  return blob
}

/** Blob → content. Attachment bytes are views into `bytes`, not copies: leave the blob unchanged while they are used.
 *  Throws on a blob that is cut, damaged or of another version. */
export function unpackContent(bytes: Uint8Array): MailContent {
  const blob = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (blob.length < HEAD_BYTES || blob[0] !== VERSION) throw new Error('stored content has an unknown form')
  const jsonEnd = HEAD_BYTES + blob.readUInt32BE(1)
  if (blob.readUInt32BE(5) !== Bun.hash.crc32(blob.subarray(HEAD_BYTES)) || jsonEnd > blob.length) {
    throw new Error('stored content is damaged')
  }
  const packed = JSON.parse(Bun.zstdDecompressSync(blob.subarray(HEAD_BYTES, jsonEnd)).toString()) as PackedContent
  let start = jsonEnd
  const attachments = packed.attachments.map(({ sizeBytes, ...rest }) => {
    const content = blob.subarray(start, start + sizeBytes)
    start += sizeBytes
    return { ...rest, content }
  })
  if (start !== blob.length) throw new Error('stored content is damaged')
  return { ...packed, attachments }
}

const VERSION = 1
const HEAD_BYTES = 9
const ZSTD_LEVEL = 3 // zstd's own default: 10 KB of HTML in some hundredths of a millisecond

type PackedContent = Omit<MailContent, 'attachments'> & {
  attachments: (Omit<Attachment, 'content'> & { sizeBytes: number })[]
}
