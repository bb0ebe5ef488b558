import { isCalendar } from './calendar.ts'
import { isComposedHeader, textOf } from './compose.ts'
import { type Attachment, unpackContent } from './content.ts'
import { fileName } from './file-name.ts'
import { decodeWords, readHeaderFields } from './header-fields.ts'
import { isMime, unpackMime } from './mime-content.ts'
import { contentOf, fieldOf, isAttachment, leavesOf, nameOf, readParts, readTexts } from './mime-parts.ts'

/** The displayed content of a stored mail, composed here or by its author. */
export interface ShownContent {
  subject: string
  html: string | null
  text: string | null
  /** Headers beyond the standard ones, in order; names may repeat. */
  headers: [name: string, value: string][]
  attachments: Attachment[]
}

/** Fields of the record that are not in the stored mail. */
export interface RecordFacts {
  id: string
  unsubscribe: boolean
}

/** Reads stored mail for `owner`, in a separate thread where available. Rejects on damaged content. */
export interface StoredMail {
  /** Returns the JSON of the record (shownRecord) with these fields first, in UTF-8. */
  record(packed: Uint8Array, facts: RecordFacts, owner: string): Promise<Uint8Array>
  /** Returns the text in UTF-8; null without such a part. */
  part(packed: Uint8Array, part: 'html' | 'text', owner: string): Promise<Uint8Array | null>
  /** By position, from 1; null if there is none. */
  attachment(packed: Uint8Array, place: number, owner: string): Promise<Uint8Array | null>
}

/** The API representation, without the attachments' bytes. */
export function shownRecord(mail: ShownContent) {
  return {
    subject: mail.subject,
    html: mail.html,
    text: mail.text,
    headers: Object.fromEntries([...repeatsJoined(mail.headers)]),
    attachments: mail.attachments.map(({ filename, contentType, contentId, content }) => ({
      filename,
      content_type: contentType,
      content_id: contentId,
      size_bytes: content.byteLength,
    })),
  }
}

/** An author's own mail may repeat a header: joins its values, one per line. */
function repeatsJoined(headers: ShownContent['headers']): Map<string, string> {
  const values = new Map<string, string>()
  for (const [name, value] of headers) values.set(name, values.has(name) ? `${values.get(name)}\n${value}` : value)
  return values
}

/** Stored content, packed by content.ts or mime-content.ts → its displayed form. In an author's mail all parts except
 *  its text and html are attachments. Throws on damaged content. */
export function shownContent(packed: Uint8Array): ShownContent {
  if (isMime(packed)) return shownMime(unpackMime(packed))
  const { subject, html, text, headers, attachments } = unpackContent(packed)
  const named = attachments.map((each) => (isCalendar(each) ? { ...each, filename: 'calendar.ics' } : each))
  return { subject, html, text: textOf({ html, text }), headers, attachments: named }
}

function shownMime(mime: Uint8Array): ShownContent {
  const { fields } = readHeaderFields(mime)
  const subject = fields.find(({ key }) => key === 'subject')?.value ?? ''
  const others = fields.filter(({ key }) => !isComposedHeader(key))
  return {
    subject: decodeWords(subject),
    ...readTexts(mime),
    headers: others.map(({ name, value }) => [name, decodeWords(value)]),
    attachments: attachmentsOf(mime),
  }
}

function attachmentsOf(mime: Uint8Array): Attachment[] {
  const seen = new Set<string>()
  return leavesOf(readParts(mime, mime.byteLength))
    .filter((part) => {
      const isText = (part.type === 'text/plain' || part.type === 'text/html') && !isAttachment(part)
      if (!isText || seen.has(part.type)) return true
      seen.add(part.type) // readTexts returns the first of each kind
      return false
    })
    .map((part, index) => {
      return {
        filename: fileName(nameOf(part), part.type, index + 1),
        contentType: part.type,
        contentId: /^[^<]*<(.+)>/.exec(fieldOf(part, 'content-id'))?.[1] ?? null,
        content: contentOf(part),
      }
    })
}
