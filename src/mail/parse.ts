import { charsetLabel } from './charset-names.ts'
import type { WordBudget } from './encoded-words.ts'
import { fileName, typeByName } from './file-name.ts'
import { withoutFlow } from './flowed-text.ts'
import { headersOf, type ParsedMail } from './inbound-content.ts'
import {
  contentOf,
  fieldOf,
  type MimePart,
  type MimeReading,
  mimeSteps,
  nameOf,
  partParameter,
  textOf,
} from './mime-parts.ts'
import { mediaType } from './parameters.ts'

/** Raw mail → its payload content, why it could not be read completely (null if it could), and its parts. Every leaf is in its
 *  texts or attachments, except beyond 2,000 parts and beyond what is read before `late` resolves (it may never).
 *  Attached mails stay attachments, as do pictures that the html shows. Never rejects.
 *
 *  Uses our own reader: mailparser lost parts of malformed mail and its streams took ten times as long. Nothing is
 *  streamed here, since the mail is in memory; each byte is read a few times at most. */
export async function parseMail(
  raw: Uint8Array,
  late: Promise<unknown>,
): Promise<{ parsed: ParsedMail; parseError: string | null; mail: MimePart }> {
  const watch = watchOf(late)
  const words = { left: MAX_WORDS }
  const headerWords = { left: MAX_WORDS } // separate, so that parseAttachments has the same budget for the parts
  const { mail, reached } = await readTree(raw, words, watch)
  const headers = headersOf(mail.fields, headerWords)
  const { texts, htmls, attachments } = await leavesByUse(mail, words, watch)
  const shown: ParsedMail['attachments'] = []
  await readEach(attachments, watch, ({ part, name, contentType }, content) => {
    const filename = fileName(name, contentType, shown.length + 1)
    shown.push({ filename, contentType, sizeBytes: content.byteLength, contentId: contentIdOf(part) })
  })
  const textBody = await joined(texts, '\n', words, watch)
  const htmlBody = await joined(htmls, '<br/>\n', words, watch)
  return {
    parsed: { textBody, htmlBody, headers, attachments: shown },
    parseError: watch.isLate
      ? 'parsing took too long'
      : (reached ?? (Math.min(words.left, headerWords.left) < 0 ? TOO_MANY_WORDS : null)),
    mail,
  }
}

/** Raw mail → the bytes of its attachments, in the order of ParsedMail.attachments; with `place`, from 1, only of that
 *  one, or an empty list without it. Never rejects: unreadable ones are omitted. */
export async function parseAttachments(raw: Uint8Array, late: Promise<unknown>, place?: number): Promise<Buffer[]> {
  const contents: Buffer[] = []
  const watch = watchOf(late)
  const words = { left: MAX_WORDS }
  const { mail } = await readTree(raw, words, watch)
  const { attachments } = await leavesByUse(mail, words, watch)
  const wanted = place === undefined ? attachments : attachments.slice(place - 1, place)
  await readEach(wanted, watch, (_, content) => {
    // Posting a view to another thread sends the whole underlying buffer.
    const isView = content.byteLength < content.buffer.byteLength
    contents.push(Buffer.from(isView ? new Uint8Array(content).buffer : content.buffer))
  })
  return contents
}

const LIMITS = { bytes: Number.POSITIVE_INFINITY, parts: 2_000, levels: 50 }
const MAX_WORDS = 20_000 // a header of 100 KiB, Postfix's maximum, has 5,000
const TOO_MANY_WORDS = `more than ${MAX_WORDS.toLocaleString('en')} encoded words`
/** Charsets decoded sequence by sequence: only so many bytes per mail; the rest stays undecoded, which is mostly ASCII
 *  anyway. */
const EXPLODING = /utf-?7|2022|^(?:cs)?jis|^hz|^cp5022/i
const EXPLODING_BYTES = 1_000_000
/** Yields the thread after this many bytes, about 10 ms. */
const BYTES_BETWEEN_PAUSES = 4_000_000

interface Leaf {
  part: MimePart
  /** Its name in the mail; null if none. */
  name: string | null
  contentType: string
}

interface Watch {
  isLate: boolean
  /** Bytes read since the last pause. */
  sizeBytes: number
}

function watchOf(late: Promise<unknown>): Watch {
  const watch = { isLate: false, sizeBytes: 0 }
  void late.then(() => {
    watch.isLate = true
  })
  return watch
}

const pause = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Pauses when enough was read since the last pause. */
async function spend(sizeBytes: number, watch: Watch): Promise<void> {
  watch.sizeBytes += sizeBytes
  if (watch.sizeBytes < BYTES_BETWEEN_PAUSES) return
  watch.sizeBytes = 0
  await pause()
}

async function readTree(raw: Uint8Array, words: WordBudget, watch: Watch): Promise<MimeReading> {
  const steps = mimeSteps(raw, { ...LIMITS, words, isLate: () => watch.isLate })
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await pause()
  }
}

/** Decodes one after the other until it is late. */
async function readEach(
  leaves: readonly Leaf[],
  watch: Watch,
  take: (leaf: Leaf, content: Uint8Array) => void,
): Promise<void> {
  if (leaves.length > 0) await null
  for (const leaf of leaves) {
    if (watch.isLate) return
    take(leaf, contentOf(leaf.part))
    await spend(leaf.part.body.byteLength, watch)
  }
}

interface Leaves {
  texts: MimePart[]
  htmls: MimePart[]
  attachments: Leaf[]
  words: WordBudget
}

async function leavesByUse(mail: MimePart, words: WordBudget, watch: Watch): Promise<Leaves> {
  const leaves: Leaves = { texts: [], htmls: [], attachments: [], words }
  for (const { part, isBody } of bodiesOf(mail, false)) {
    sort(part, leaves, isBody)
    const last = part.fields.at(-1)?.end ?? 0
    await spend(last * 10, watch) // a header byte takes ten times as long as a body byte
    if (watch.isLate && leaves.texts.length + leaves.htmls.length > 0) break
  }
  return leaves
}

/** `isBody`: the part belongs to the body, whatever its name. */
function* bodiesOf(part: MimePart, isBody: boolean): Generator<{ part: MimePart; isBody: boolean }> {
  if (part.parts.length === 0) yield { part, isBody }
  const isOfBody = part.type === 'multipart/alternative' || part.type === 'multipart/related'
  for (const below of part.parts) yield* bodiesOf(below, isBody || isOfBody)
}

function sort(part: MimePart, leaves: Leaves, isBody: boolean): void {
  const leaf = leafOf(part, leaves.words)
  const isFirst = leaves.texts.length + leaves.htmls.length === 0
  if (isAttached(leaf) || (leaf.name !== null && !isFirst && !isBody)) leaves.attachments.push(leaf)
  else if (part.type === 'text/html') leaves.htmls.push(part)
  else leaves.texts.push(part)
}

/** Its declared type, or the type of its file extension if the declared type says nothing. */
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

/** Everything except text for display. A multipart without delimiters counts as the text that it usually is. RFC 2183
 *  §2.8 */
function isAttached({ part, contentType }: Leaf): boolean {
  if (!['', 'inline'].includes(dispositionOf(part)) || part.type === OF_NO_KIND) return true
  if (part.type.startsWith('multipart/')) return part.isCut
  return part.type === 'text/html' ? contentType !== 'text/html' : contentType !== 'text/plain'
}

/** Content-ID of a part without angle brackets, which some senders leave out; null for none and an unusable one. */
function contentIdOf(part: MimePart): string | null {
  const value = fieldOf(part, 'content-id').trim()
  return /^<?([!-;=?-~]{1,255})>?$/.exec(value)?.[1] ?? null
}

function dispositionOf(part: MimePart): string {
  return mediaType(fieldOf(part, 'content-disposition'))
}

async function joined(parts: readonly MimePart[], separator: string, words: WordBudget, watch: Watch): Promise<string> {
  let explodingBytes = 0
  const texts: string[] = []
  for (const part of parts) {
    if (watch.isLate && texts.length > 0) break
    const charset = partParameter(part, 'content-type', 'charset', words) ?? ''
    if (EXPLODING.test(charsetLabel(charset))) explodingBytes += part.body.byteLength
    texts.push(textIn(part, words, explodingBytes > EXPLODING_BYTES))
    await spend(part.body.byteLength, watch)
  }
  return texts.filter((text) => text !== '').join(separator)
}

function textIn(part: MimePart, words: WordBudget, isLeft: boolean): string {
  if (isLeft) return Buffer.from(contentOf(part)).toString('latin1').replaceAll('\r\n', '\n')
  const text = textOf(part, words)
  const format = partParameter(part, 'content-type', 'format', words)
  if (part.type !== 'text/plain' || format?.toLowerCase() !== 'flowed') return text
  return withoutFlow(text, partParameter(part, 'content-type', 'delsp', words)?.toLowerCase() === 'yes')
}
