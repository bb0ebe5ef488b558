import { phrasesIn, wordsIn } from '../search-text.ts'
import { type Markable, marksOf } from '../search-tokens.ts'
import { type Connection, one } from './driver.ts'

const TEXTS = `m.number, m.subject, m.sender as sender,
  (select group_concat(d.email, ' ') from deliveries d where d.message_number = m.number) as emails`
const TEXTS_OF = `select ${TEXTS} from messages m where m.number = ?`
/** Columns of messages `m` that the search index contains. */
export const INDEXED = `${TEXTS}, m.sender_address as senderAddress, m.template_id as templateId,
  m.domain_id as domainId, m.mode, m.stream, m.metadata, m.id, m.message_id_header as messageIdHeader`

/** What a search asks for: words as typed, and search tokens. */
export interface SearchQuery {
  /** Words that the index contains for each match, tokens among them. */
  words: readonly string[]
  /** Begins another word of each match; null = none. */
  prefix: string | null
  /** Phrases of more than one word, so that a match in the index must be read. */
  hasPhrases: boolean
}

/** Words as typed (null = none) and tokens (search-tokens.ts) → what a search asks for; null if nothing has that. The last
 *  word may be a prefix. */
export function searchQuery(text: string | null, marks: readonly string[]): SearchQuery | null {
  const phrases = text === null ? [] : phrasesIn(text)
  // An empty search finds nothing, rather than everything.
  if (text !== null && phrases.length === 0) return null
  const words = phrases.flat()
  const prefix = words.pop() ?? null
  return {
    words: [...new Set([...marks.map(asWord), ...words])],
    prefix,
    hasPhrases: phrases.some(({ length }) => length > 1),
  }
}

/** Row of a message → its different words in the index. */
export function wordsOf(row: Indexed): Set<string> {
  return new Set([...marksOf(row).map(asWord), ...wordsIn(textOf(row))])
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

/** No word that can be typed contains the sign. */
const asWord = (mark: string) => `=${mark}`

interface Texts {
  number: number
  subject: string
  sender: string
  emails: string | null
}
export type Indexed = Markable & Texts

const textOf = ({ subject, sender, emails }: Texts) => `${subject} ${sender} ${emails ?? ''}`
