import { BLOB_VERSIONS, packBlob, packBlobBeside, unpackBlob, unpackBlobBeside } from './blob.ts'
import type { WordBudget } from './encoded-words.ts'
import { decodeWords, type HeaderField } from './header-fields.ts'

/** The content of a mail in the webhook payload, beyond its record. */
export interface ParsedMail {
  /** Empty if there is none. */
  textBody: string
  htmlBody: string
  /** Names lower case, values unfolded and decoded; values of a repeated header joined by `\n`, in order. */
  headers: Record<string, string>
  attachments: ParsedAttachment[]
  /** What the author of an answer wrote, without quotes and signature. Null or absent: the mail is no answer of a person. */
  replyText?: string | null
  /** The same in HTML; null or absent if it cannot be cut safely. */
  replyHtml?: string | null
}

/** An attachment without its content. */
export interface ParsedAttachment {
  filename: string
  contentType: string
  sizeBytes: number
  /** Content-ID, by which the html shows it as `cid:`; without angle brackets, null if there is none. RFC 2392 §2 */
  contentId: string | null
}

/** Header fields → their payload form; names lower case, values decoded, those of one name joined by `\n`. */
export function headersOf(fields: readonly HeaderField[], words?: WordBudget): Record<string, string> {
  const values = new Map<string, string[]>()
  for (const { key, value } of fields) {
    const same = values.get(key)
    if (same === undefined) values.set(key, [decodeWords(value, words)])
    else same.push(decodeWords(value, words))
  }
  return Object.fromEntries([...values].map(([key, each]) => [key, each.join('\n')]))
}

/** Stored raw mail → one blob. Never throws. */
export function packRaw(raw: Uint8Array): Uint8Array<ArrayBuffer> {
  return packBlob(RAW, raw)
}

/** Like packRaw, off the thread. */
export function packRawBeside(raw: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return packBlobBeside(RAW, raw)
}

/** Blob → the raw mail in its own buffer. Throws on a blob that is truncated, damaged or of another kind. */
export function unpackRaw(blob: Uint8Array): Uint8Array<ArrayBuffer> {
  return unpackBlob(RAW, blob)
}

/** Like unpackRaw, off the thread. Rejects where unpackRaw throws. */
export function unpackRawBeside(blob: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  return unpackBlobBeside(RAW, blob)
}

/** ParsedMail → one blob. The two bodies are stored beside the JSON of the rest: escaping them would cost as much as
 *  compressing. Lone surrogates become U+FFFD. Never throws. */
export function packParsed({
  textBody,
  htmlBody,
  headers,
  attachments,
  replyText,
  replyHtml,
}: ParsedMail): Uint8Array<ArrayBuffer> {
  const text = Buffer.from(textBody)
  const html = Buffer.from(htmlBody)
  const rest: ParsedRest = {
    headers: Object.entries(headers),
    attachments,
    replyText,
    replyHtml,
    textBytes: text.length,
  }
  return packBlob(PARSED, Buffer.concat([Buffer.from(`${JSON.stringify(rest)}\n`), text, html]))
}

/** Blob → ParsedMail. Throws on a blob that is truncated, damaged or of another kind. */
export function unpackParsed(blob: Uint8Array): ParsedMail {
  const { clear, rest, restEnd } = restOf(unpackBlob(PARSED, blob))
  const { headers, attachments, textBytes, replyText = null, replyHtml = null } = rest
  const textEnd = restEnd + 1 + textBytes
  return {
    textBody: clear.toString('utf8', restEnd + 1, textEnd),
    htmlBody: clear.toString('utf8', textEnd),
    headers: Object.fromEntries(headers),
    attachments,
    replyText,
    replyHtml,
  }
}

/** Blob of a ParsedMail → its attachments, unpacked off the thread and without the bodies. Rejects where unpackParsed
 *  throws. */
export async function attachmentsIn(blob: Uint8Array): Promise<ParsedAttachment[]> {
  return restOf(await unpackBlobBeside(PARSED, blob)).rest.attachments
}

function restOf(bytes: Uint8Array): { clear: Buffer; rest: ParsedRest; restEnd: number } {
  const clear = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const restEnd = clear.indexOf(NEWLINE)
  return { clear, rest: JSON.parse(clear.toString('utf8', 0, restEnd)), restEnd } // of packParsed
}

type ParsedRest = Pick<ParsedMail, 'attachments' | 'replyText' | 'replyHtml'> & {
  /** Pairs, since a header may be named `__proto__`, which JSON keeps but an assignment does not. */
  headers: [name: string, value: string][]
  textBytes: number
}

const RAW = BLOB_VERSIONS.raw
const PARSED = BLOB_VERSIONS.parsed
const NEWLINE = 0x0a
