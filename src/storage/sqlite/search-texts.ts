import { phrasesIn, wordsIn } from '../search-text.ts'
import { type Markable, mark, marksOf } from '../search-tokens.ts'
import type { MessageFilter } from '../store.ts'
import { type Connection, one } from './driver.ts'

const TEXTS = `m.number, m.subject, m.sender as sender,
  (select group_concat(d.email, ' ') from deliveries d where d.message_number = m.number) as emails`
const TEXTS_OF = `select ${TEXTS} from messages m where m.number = ?`
/** Columns of messages `m` that the search index contains. */
export const INDEXED = `${TEXTS}, m.sender_address as senderAddress, m.template_id as templateId,
  m.domain_id as domainId, m.organization_id as organizationId, m.tags, m.mode, m.stream, m.metadata, m.id, m.message_id_header as messageIdHeader`

/** Filter, with its words as typed, and its tokens (search-tokens.ts) → the query for the index; null if nothing has that.
 *  The last word may be a prefix. */
export function searchQuery({ organizationId, text, tag }: MessageFilter, marks: readonly string[]): string | null {
  const phrases = text === null ? [] : phrasesIn(text)
  // An empty search finds nothing, rather than everything.
  if (text !== null && phrases.length === 0) return null
  const { ofText, ofMark } = termsOf(organizationId)
  const asked = [...(tag === null ? [] : [mark('tag', tag)]), ...marks].map((each) => `"${ofMark(each)}"`)
  for (const words of phrases) asked.push(`"${words.map(ofText).join(' ')}"`)
  return text === null ? asked.join(' ') : `${asked.join(' ')} *`
}

/** Row of a message → its words in the index, in order. */
export function wordsOf(row: Indexed): string[] {
  const tags: string[] = JSON.parse(row.tags)
  const { ofText, ofMark } = termsOf(row.organizationId)
  const marks = [...tags.map((tag) => mark('tag', tag)), ...marksOf(row)]
  return [...marks.map(ofMark), ...wordsIn(textOf(row)).map(ofText)]
}

/** Words as typed → a test of the message with a number, indexed or not: true if it contains them. */
export function createTextTest(db: Connection): (text: string) => (number: number) => boolean {
  const textsOf = db.prepare<unknown[], Texts>(TEXTS_OF)
  return (text) => {
    const phrases = phrasesIn(text).map((words) => ` ${words.join(' ')}`)
    const last = phrases.pop()
    return (number) => {
      const words = ` ${wordsIn(textOf(one(textsOf, number))).join(' ')} `
      // No word has a space. Only the last may be a prefix.
      return last !== undefined && words.includes(last) && phrases.every((phrase) => words.includes(`${phrase} `))
    }
  }
}

/** Organization → how the index writes its words and tokens. A search reads only words of its own organization then:
 *  those of others cost it nothing, and its time does not tell of them. No word that can be typed contains the signs. */
function termsOf(organizationId: string) {
  const own = mark('organization', organizationId)
  return { ofText: (word: string) => `${own}_${word}`, ofMark: (token: string) => `${own}=${token}` }
}

interface Texts {
  number: number
  subject: string
  sender: string
  emails: string | null
}
/** `tags`: JSON. */
export type Indexed = Markable & Texts & { organizationId: string; tags: string }

const textOf = ({ subject, sender, emails }: Texts) => `${subject} ${sender} ${emails ?? ''}`
