import { type Markable, marksOf, WORD } from '../search-tokens.ts'
import { StoreUnavailable } from '../store.ts'
import { type Connection, one } from './driver.ts'
import type { Writer } from './writer.ts'

const STATE = 'select indexed_number from message_search_state'
const NEWEST = 'select max(number) from messages'
const TEXTS = `m.number, m.subject, m.sender as sender,
  (select group_concat(d.email, ' ') from deliveries d where d.message_number = m.number) as emails`
const UNINDEXED = `select ${TEXTS}, m.sender_address as senderAddress, m.template_id as templateId,
    m.domain_id as domainId, m.mode, m.stream, m.metadata, m.id, m.message_id_header as messageIdHeader
  from messages m where m.number > ? order by m.number limit ?`
const TEXTS_OF = `select ${TEXTS} from messages m where m.number = ?`
const REMOVE = 'delete from message_search where rowid = ?'
const ADD = 'insert into message_search (rowid, words) values (?, ?)'
// sqlite.org/fts5.html#the_merge_command: pages to merge, where segments have accumulated or contain deleted rows.
const MERGE = `insert into message_search (message_search, rank) values ('merge', ?)`
const CHANGES = 'select total_changes()'
const SCRATCH = `create virtual table if not exists temp.some_words using fts5 (
  words, content = '', tokenize = "unicode61 remove_diacritics 2")`
const ADD_SCRATCH = 'insert into some_words (rowid, words) values (?, ?)'
const MATCH_SCRATCH = 'select rowid from some_words where some_words match ?'
const CLEAR_SCRATCH = `insert into some_words (some_words) values ('delete-all')`
const SET_STATE = 'update message_search_state set indexed_number = ?'

/** Messages per range. SQLite merges a word of all segments at once, half a microsecond per message with that word:
 *  a frequent word would take a tenth of a second for 200,000. Therefore each word is stored with the code of its
 *  range as a prefix and is a different word in the next range. Skipping a range without the word costs 35
 *  microseconds, reading a full one with a common word three milliseconds. Tests change it. */
export const RANGE = 16_384
/** Base 36, all of the same length, so that a code with its word never equals another code with its word. */
const CODE_LENGTH = 5
/** Messages indexed at once: a few milliseconds of the writing thread. */
const BATCH = 100
/** Messages indexed before a search; newer ones are searched without the index. Tests change it. */
export const CATCH_UP = 10 * BATCH
/** Pages merged with each batch, more than a batch adds in total. */
const MERGE_PAGES = 16
const MERGES = 3

/** Full text over subject and addresses. Indexing costs more than half of accepting a message, so it runs later:
 *  periodically in small batches, and before a search, which reads even newer messages without it. */
export interface SearchIndex {
  /** Indexes the next batch; true while more is waiting. */
  step(): Promise<boolean>
  /** Indexes some of what is waiting, if the store can write → the last number in the index. */
  catchUp(): Promise<number>
  /** Inside a change: indexes the changed texts of a message again, if it is in the index. */
  reindex(number: number): void
  /** Words as typed, and numbers of messages, indexed or not → those that contain the words. */
  having(text: string, numbers: number[]): Set<number>
  /** Words as typed (null = none) and tokens (search-tokens.ts) → FTS5 queries in the range of a message, which
   *  begins with number `first`. `all` must occur, the last word may be a prefix; `whole` is all without that
   *  prefix, null if nothing else remains. */
  expressions(
    text: string | null,
    marks: readonly string[],
    number: number,
  ): { first: number; whole: string | null; all: string }
}

/** `copyLog` is called after each batch, so that its pages burden no other change. */
export function searchIndex(db: Connection, writer: Writer, copyLog: () => void): SearchIndex {
  const state = db.prepare<unknown[], number>(STATE).pluck()
  const newest = db.prepare<unknown[], number | null>(NEWEST).pluck()
  const unindexed = db.prepare<unknown[], Unindexed>(UNINDEXED)
  const remove = db.prepare(REMOVE)
  const add = db.prepare(ADD)
  const setState = db.prepare(SET_STATE)
  const merge = searchMerge(db)
  const scratch = scratchIndex(db)

  const index = (row: Unindexed) => {
    const code = codeOf(row.number)
    const marks = marksOf(row).map((mark) => markIn(code, mark))
    add.run(row.number, `${coded(code, textOf(row))} ${marks.join(' ')}`)
  }
  const isBehind = () => one(state) < (newest.get() ?? 0)
  const step = async () => {
    if (!isBehind()) return false
    await writer.write(() => {
      const rows = unindexed.all(state.get(), BATCH)
      for (const row of rows) index(row)
      const last = rows.at(-1)
      if (last !== undefined) setState.run(last.number)
      for (let merges = 0; merges < MERGES && merge(MERGE_PAGES); merges++);
    })
    copyLog()
    return isBehind()
  }

  const expressions: SearchIndex['expressions'] = (text, marks, number) => {
    const first = number - (number % RANGE)
    const code = codeOf(number)
    const marked = marks.map((mark) => `"${markIn(code, mark)}"`)
    if (text === null) return { first, whole: marked.join(' '), all: marked.join(' ') }
    const words = text
      .split(/[\s\0]+/)
      .filter((word) => word.search(WORD) >= 0)
      .map((word) => `"${coded(code, word).replaceAll('"', '""')}"`)
    // An empty search finds nothing, rather than everything.
    if (words.length === 0) return { first, whole: null, all: '""' }
    const whole = [...marked, ...words.slice(0, -1)].join(' ')
    return { first, whole: whole === '' ? null : whole, all: `${[...marked, ...words].join(' ')}*` }
  }

  return {
    step,
    catchUp: async () => {
      try {
        for (let indexed = 0; indexed < CATCH_UP && (await step()); indexed += BATCH);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error
      }
      return one(state)
    },
    reindex: (number) => {
      if (number > one(state)) return
      remove.run(number)
      index(one(unindexed, number - 1, 1))
    },
    having: (text, numbers) => scratch(numbers, expressions(text, [], 0).all),
    expressions,
  }
}

/** A temporary index in memory for the words of some messages, emptied after each use. It treats text like the large
 *  one, except for the ranges. */
function scratchIndex(db: Connection): (numbers: number[], expression: string) => Set<number> {
  const textsOf = db.prepare<unknown[], Texts>(TEXTS_OF)
  const prepared = () => {
    db.exec(SCRATCH)
    return {
      add: db.prepare(ADD_SCRATCH),
      match: db.prepare<unknown[], number>(MATCH_SCRATCH).pluck(),
      clear: db.prepare(CLEAR_SCRATCH),
    }
  }
  type Statements = ReturnType<typeof prepared>
  let statements: Statements | null = null
  const look = db.transaction(({ add, match, clear }: Statements, numbers: number[], expression: string) => {
    for (const number of numbers) add.run(number, coded(codeOf(0), textOf(one(textsOf, number))))
    const found = match.all(expression)
    clear.run()
    return new Set(found)
  })
  return (numbers, expression) => {
    statements ??= prepared()
    return look(statements, numbers, expression)
  }
}

const codeOf = (number: number) =>
  Math.floor(number / RANGE)
    .toString(36)
    .padStart(CODE_LENGTH, '0')
const coded = (code: string, text: string) => text.replace(WORD, (word) => code + word)

/** Connection → a function that merges about that many pages of the index, inside a transaction; false if there was
 *  nothing to merge. Only merging removes deleted rows from the index. */
export function searchMerge(db: Connection): (pages: number) => boolean {
  const merge = db.prepare(MERGE)
  const changes = db.prepare<unknown[], number>(CHANGES).pluck()
  return (pages) => {
    const before = one(changes)
    merge.run(pages)
    return one(changes) - before >= 2 // one is the command itself
  }
}

/** A token is a word that cannot be typed: every typed word begins with a code, which never contains this letter. */
const markIn = (code: string, mark: string) => `φ${code}${mark}`

interface Texts {
  number: number
  subject: string
  sender: string
  emails: string | null
}
type Unindexed = Markable & Texts

const textOf = ({ subject, sender, emails }: Texts) => `${subject} ${sender} ${emails ?? ''}`
