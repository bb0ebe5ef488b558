import { StoreUnavailable } from '../store.ts'
import type { Connection } from './driver.ts'
import { type Markable, marksOf } from './marks.ts'
import type { Writer } from './writer.ts'

const STATE = 'select indexed_number from message_search_state'
const NEWEST = 'select max(number) from messages'
const UNINDEXED = `select m.number, m.subject, m.sender as sender, m.sender_address as senderAddress,
    m.template_id as templateId, m.domain_id as domainId, m.mode, m.metadata,
    (select group_concat(d.email, ' ') from deliveries d where d.message_number = m.number) as emails
  from messages m where m.number > ? order by m.number limit ?`
const ADD = 'insert into message_search (rowid, words) values (?, ?)'
// sqlite.org/fts5.html#the_merge_command: so many pages, where segments have gathered or deleted rows lie in them.
const MERGE = `insert into message_search (message_search, rank) values ('merge', ?)`
const CHANGES = 'select total_changes()'
const SET_STATE = 'update message_search_state set indexed_number = ?'

/** Messages whose words lie together. SQLite merges a word of all segments at once, half a microsecond for each message
 *  that has it: a word of every mail would take a tenth of a second for 200,000; so each word is kept with the code
 *  of its range before it and is another word in the next. A range in which a word is not costs 35 microseconds to step
 *  over, a full one of a common word three milliseconds. Tests are told of it. */
export const RANGE = 16_384
/** Base 36, all of the same length: no code and word read like another code and word. */
const CODE_LENGTH = 5
/** What the tokenizer takes for a word (sqlite.org/fts5.html#unicode61_tokenizer). What only one of us takes for one is
 *  found in all ranges. The characters named are letters to us and nothing to it: with a code before them they would be
 *  that code alone, which every word begins with. */
const WORD = /(?![\u19b0-\u19c0\u19c8\u19c9\u1cf2\u1cf3])[\p{L}\p{N}\p{Co}][\p{L}\p{N}\p{Co}\p{M}]*/gu

/** Messages indexed in one go: a few milliseconds of the writing thread. */
const BATCH = 100
/** Merged with each batch, more than a batch adds on all its way up. */
const MERGE_PAGES = 16
const MERGES = 3

/** Full text over subject and addresses. Indexing costs more than half of accepting a message, so it happens
 *  behind: now and then in small batches, and before a search, which therefore finds what was sent a moment ago. */
export interface SearchIndex {
  /** Indexes the next batch; true while more is waiting. */
  step(): Promise<boolean>
  /** Indexes all that is waiting, as far as the store can write. */
  catchUp(): Promise<void>
  /** Words as a person types them, null = none are asked for, and marks (marks.ts) → FTS5 queries in the range of a
   *  message, which begins with number `first`: `all` must occur, the last word may be a beginning; `whole` is all but
   *  that one, null when there is no more. */
  expressions(
    text: string | null,
    marks: readonly string[],
    number: number,
  ): { first: number; whole: string | null; all: string }
}

/** `copyLog` is called after each batch, so that what it wrote weighs on no other change. */
export function searchIndex(db: Connection, writer: Writer, copyLog: () => void): SearchIndex {
  const state = db.prepare(STATE).pluck()
  const newest = db.prepare(NEWEST).pluck()
  const unindexed = db.prepare(UNINDEXED)
  const add = db.prepare(ADD)
  const setState = db.prepare(SET_STATE)
  const merge = searchMerge(db)

  const isBehind = () => (state.get() as number) < ((newest.get() as number | null) ?? 0)
  const step = async () => {
    if (!isBehind()) return false
    await writer.write(() => {
      const rows = unindexed.all(state.get(), BATCH) as Unindexed[]
      for (const row of rows) {
        const code = codeOf(row.number)
        const words = coded(code, `${row.subject} ${row.sender} ${row.emails ?? ''}`)
        add.run(
          row.number,
          `${words} ${marksOf(row)
            .map((mark) => markIn(code, mark))
            .join(' ')}`,
        )
      }
      const last = rows.at(-1)
      if (last !== undefined) setState.run(last.number)
      for (let merges = 0; merges < MERGES && merge(MERGE_PAGES); merges++);
    })
    copyLog()
    return isBehind()
  }

  return {
    step,
    catchUp: async () => {
      try {
        while (await step());
      } catch (error) {
        // On a full disk what is indexed already can still be found.
        if (!(error instanceof StoreUnavailable)) throw error
      }
    },
    expressions: (text, marks, number) => {
      const first = number - (number % RANGE)
      const code = codeOf(number)
      const marked = marks.map((mark) => `"${markIn(code, mark)}"`)
      if (text === null) return { first, whole: marked.join(' '), all: marked.join(' ') }
      const words = text
        .split(/[\s\0]+/)
        .filter((word) => word.search(WORD) >= 0)
        .map((word) => `"${coded(code, word).replaceAll('"', '""')}"`)
      // Nothing to look for finds nothing, rather than everything.
      if (words.length === 0) return { first, whole: null, all: '""' }
      const whole = [...marked, ...words.slice(0, -1)].join(' ')
      return { first, whole: whole === '' ? null : whole, all: `${[...marked, ...words].join(' ')}*` }
    },
  }
}

const codeOf = (number: number) =>
  Math.floor(number / RANGE)
    .toString(36)
    .padStart(CODE_LENGTH, '0')
const coded = (code: string, text: string) => text.replace(WORD, (word) => code + word)

/** A connection → merging about so many pages of the index, inside a transaction; false when there was nothing to merge.
 *  What was deleted leaves the index only in this way. */
export function searchMerge(db: Connection): (pages: number) => boolean {
  const merge = db.prepare(MERGE)
  const changes = db.prepare(CHANGES).pluck()
  return (pages) => {
    const before = changes.get() as number
    merge.run(pages)
    return (changes.get() as number) - before >= 2 // one is the command itself
  }
}

/** A mark is a word that nobody can type: every typed one begins with a code, which has no such letter. */
const markIn = (code: string, mark: string) => `φ${code}${mark}`

type Unindexed = Markable & {
  number: number
  subject: string
  sender: string
  emails: string | null
}
