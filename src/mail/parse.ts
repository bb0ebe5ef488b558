import { charsetLabel } from './charset.ts'
import type { WordBudget } from './encoded-words.ts'
import { fileName, typeByName } from './file-name.ts'
import { withoutFlow } from './flowed-text.ts'
import { headersOf, type ParsedMail } from './inbound-content.ts'
import { contentOf, fieldOf, type MimePart, nameOf, partParameter, readMime, textOf } from './mime-parts.ts'
import { mediaType } from './parameters.ts'

/** Raw mail → what a payload shows of it, and why it could not be read whole (null = it could). Every leaf of the mail is in
 *  its texts or among its attachments; left out is what is beyond 2,000 parts, and what a reading does not reach before
 *  `late` resolves, which may be never. Attached mails stay attachments, as do pictures that the html shows. Never rejects.
 *
 *  By our own reader: mailparser lost parts of malformed mail, and its streams took ten times as long. Here nothing is a
 *  stream, since the mail is in memory, and each byte is looked at some times at most. */
export async function parseMail(
  raw: Uint8Array,
  late: Promise<unknown>,
): Promise<{ parsed: ParsedMail; parseError: string | null }> {
  const words = { left: MOST_WORDS }
  const headerWords = { left: MOST_WORDS } // its own, so that parseAttachments has as many for the parts
  const { mail, reached } = readMime(raw, { ...LIMITS, words })
  const headers = headersOf(mail.fields, headerWords)
  const { texts, htmls, attachments } = leavesByUse(mail, words)
  const shown: ParsedMail['attachments'] = []
  const isLate = await readEach(attachments, late, ({ name, contentType }, content) => {
    shown.push({ filename: fileName(name, contentType, shown.length + 1), contentType, sizeBytes: content.byteLength })
  })
  const textBody = joined(texts, '\n', words)
  const htmlBody = joined(htmls, '<br/>\n', words)
  return {
    parsed: { textBody, htmlBody, headers, attachments: shown },
    parseError: isLate
      ? 'reading it took too long'
      : (reached ?? (Math.min(words.left, headerWords.left) < 0 ? TOO_MANY_WORDS : null)),
  }
}

/** Raw mail → the bytes of its attachments, in the order of ParsedMail.attachments. Never rejects: what cannot be read
 *  is not in it. */
export async function parseAttachments(raw: Uint8Array, late: Promise<unknown>): Promise<Buffer[]> {
  const contents: Buffer[] = []
  const words = { left: MOST_WORDS }
  const { mail } = readMime(raw, { ...LIMITS, words })
  await readEach(leavesByUse(mail, words).attachments, late, (_, content) => {
    // Whoever sends a view to another thread sends all that it is a view of.
    const isView = content.byteLength < content.buffer.byteLength
    contents.push(Buffer.from(isView ? new Uint8Array(content).buffer : content.buffer))
  })
  return contents
}

const LIMITS = { bytes: Number.POSITIVE_INFINITY, parts: 2_000, levels: 50 }
const MOST_WORDS = 20_000 // a header of 100 KiB, the most that Postfix takes, has 5,000
const TOO_MANY_WORDS = `more than ${MOST_WORDS.toLocaleString('en')} encoded words`
/** Read sequence by sequence: of one mail only so many bytes, and what is beyond is left as it is: mostly ASCII in any
 *  case. */
const EXPLODING = /utf-?7|2022|^(?:cs)?jis|^hz/i
const EXPLODING_BYTES = 1_000_000
/** A reading pauses after so many, and lets others have the thread: some 10 ms. */
const BYTES_BETWEEN_PAUSES = 4_000_000

interface Leaf {
  part: MimePart
  /** As its author calls it; null for nothing. */
  name: string | null
  contentType: string
}

/** Decodes one after the other as long as it is not late; → whether it was. */
async function readEach(
  leaves: readonly Leaf[],
  late: Promise<unknown>,
  take: (leaf: Leaf, content: Uint8Array) => void,
): Promise<boolean> {
  if (leaves.length === 0) return false
  let isLate = false
  void late.then(() => {
    isLate = true
  })
  await null
  let sizeBytes = 0
  for (const leaf of leaves) {
    if (isLate) return true
    take(leaf, contentOf(leaf.part))
    sizeBytes += leaf.part.body.byteLength
    if (sizeBytes < BYTES_BETWEEN_PAUSES) continue
    sizeBytes = 0
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  return isLate
}

interface Leaves {
  texts: MimePart[]
  htmls: MimePart[]
  attachments: Leaf[]
  words: WordBudget
}

function leavesByUse(mail: MimePart, words: WordBudget): Leaves {
  const leaves: Leaves = { texts: [], htmls: [], attachments: [], words }
  sort(mail, leaves, false)
  return leaves
}

/** `isBody`: the part is one of those that make up the body, whatever it is called. */
function sort(part: MimePart, leaves: Leaves, isBody: boolean): void {
  if (part.parts.length > 0) {
    const isOfBody = part.type === 'multipart/alternative' || part.type === 'multipart/related'
    for (const below of part.parts) sort(below, leaves, isBody || isOfBody)
    return
  }
  const leaf = leafOf(part, leaves.words)
  const isFirst = leaves.texts.length + leaves.htmls.length === 0
  if (isAttached(leaf) || (leaf.name !== null && !isFirst && !isBody)) leaves.attachments.push(leaf)
  else if (part.type === 'text/html') leaves.htmls.push(part)
  else leaves.texts.push(part)
}

/** Its type is what its author says, and what the ending of its name stands for when that says nothing. */
function leafOf(part: MimePart, words: WordBudget): Leaf {
  const name = nameOf(part, words)
  const isSaid = fieldOf(part, 'content-type') !== ''
  if (isSaid && part.type !== OF_NO_KIND)
    return { part, name, contentType: MEDIA_TYPE.test(part.type) ? part.type : OF_NO_KIND }
  const byName = typeByName(name ?? '')
  if (isSaid || byName !== OF_NO_KIND) return { part, name, contentType: byName }
  return { part, name, contentType: dispositionOf(part) === 'attachment' ? OF_NO_KIND : part.type }
}

const OF_NO_KIND = 'application/octet-stream'
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/

/** All but text that wants to be shown. A multipart in which no delimiter was found is taken for the text that it mostly is.
 *  RFC 2183 §2.8. */
function isAttached({ part, contentType }: Leaf): boolean {
  if (!['', 'inline'].includes(dispositionOf(part))) return true
  if (part.type.startsWith('multipart/')) return part.isCut
  return part.type === 'text/html' ? contentType !== 'text/html' : contentType !== 'text/plain'
}

function dispositionOf(part: MimePart): string {
  return mediaType(fieldOf(part, 'content-disposition'))
}

function joined(parts: readonly MimePart[], separator: string, words: WordBudget): string {
  let explodingBytes = 0
  const texts = parts.map((part) => {
    if (EXPLODING.test(charsetLabel(partParameter(part, 'content-type', 'charset', words) ?? '')))
      explodingBytes += part.body.byteLength
    if (explodingBytes > EXPLODING_BYTES)
      return Buffer.from(contentOf(part)).toString('latin1').replaceAll('\r\n', '\n')
    const text = textOf(part, words)
    if (part.type !== 'text/plain' || partParameter(part, 'content-type', 'format', words)?.toLowerCase() !== 'flowed')
      return text
    return withoutFlow(text, partParameter(part, 'content-type', 'delsp', words)?.toLowerCase() === 'yes')
  })
  return texts.filter((text) => text !== '').join(separator)
}
