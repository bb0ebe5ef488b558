import { closeSync, openSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Numbers } from '../lists/times.ts'
import { type Connection, connect, one } from './driver.ts'
import { INDEXED, type Indexed, wordsOf } from './search-texts.ts'

export const SEARCH_FILE = 'search.db'

/** The full-text index: FTS5 tables in a file of their own, which the reading thread alone writes. Each table has the
 *  messages of one part of their numbers. FTS5 merges its segments while it writes and rewrites a table to erase a word,
 *  50 to 250 ms each, so neither may happen in the database of the main thread. All of it can be made again from the
 *  database: a power cut may undo the newest part of it, and a missing file is filled anew. */
export interface SearchIndex {
  /** Indexes the next messages; true while more are waiting. */
  index(): boolean
  /** Number of the newest message that was indexed; 0 = none, or the file cannot be opened. */
  last(): number
  /** Numbers → those of each part that has messages, the newest part first. */
  parts(numbers: Numbers): Numbers[]
  /** Numbers of messages that match a query of FTS5 (sqlite.org/fts5.html#full_text_query_syntax), the newest first.
   *  Messages that were removed or changed since they were indexed may be among them. The first takes up to a second,
   *  because FTS5 first collects all words with a prefix. `numbers`: of one part. */
  matches(query: string, numbers: Numbers): Generator<number>
  /** Takes removed messages of a part out of it, and indexes changed ones again. */
  renew(part: number, numbers: readonly number[]): void
  /** Erases the words of messages that left a part from its file, some pages at a time. Returns true while there is more.
   *  Throws while another process reads the file, because the log then keeps the old pages. */
  purge(part: number): boolean
  close(): void
}

/** Numbers of a part: rewriting it takes a quarter of a second of the thread, in steps. Tests change it. */
export const PART = 65_536
export const partOf = (number: number): number => Math.floor(number / PART)

/** Messages indexed at once: 20 ms. */
export const BATCH = 512
/** Their words end a batch too: a message to 50 long addresses has 15,000 characters. A tenth of a second. */
const BATCH_CHARACTERS = 500_000
/** Matches read at once. */
const MATCHES = 256
/** Pages that a step of a merge writes: some milliseconds. */
const MERGED_PAGES = 64
/** Wait for another process, such as the command line beside a server. */
const PATIENCE_MS = 1_000

const SCHEMA = `create table if not exists indexed (
    one integer primary key check (one = 1),
    last integer not null,
    id text not null
  ) strict;
  insert into indexed (one, last, id) values (1, 0, '') on conflict do nothing;
  create table if not exists parts (part integer primary key) strict;`
// The words are already split and folded, and begin with their organization (search-texts.ts). To this tokenizer every
// character beyond ASCII belongs to a word.
const CREATE = `using fts5 (words, content = '', contentless_delete = 1,
  tokenize = "ascii tokenchars '=_'")`

const NEWER = `select ${INDEXED} from messages m where m.number > ? order by m.number limit ?`
const ROW = `select ${INDEXED} from messages m where m.number = ?`

/** A database → its search index, opened when it is first used. */
export function searchIndex(main: Connection): SearchIndex {
  const newer = main.prepare<unknown[], Indexed>(NEWER)
  const row = main.prepare<unknown[], Indexed>(ROW)
  const { isOpen, using, close } = opening(main)
  return {
    index: () =>
      using(({ db, state, setState, parts }) =>
        inTransaction(db, () => {
          const rows = newer.all(one(state).last, BATCH)
          let characters = 0
          let added = 0
          for (const each of rows) {
            characters += parts.add(partOf(each.number), each)
            added++
            if (characters >= BATCH_CHARACTERS) break
          }
          const newest = rows[added - 1]
          if (newest === undefined) return false
          setState.run(newest.number, newest.id)
          return added === BATCH || added < rows.length
        }),
      ),
    last: () => (isOpen() ? using(({ state }) => one(state).last) : 0),
    parts: ({ low, high }) => {
      const parts = isOpen() ? using((index) => index.parts.between(partOf(low), partOf(high - 1))) : []
      return parts.map((part) => ({ low: Math.max(low, part * PART), high: Math.min(high, (part + 1) * PART) }))
    },
    *matches(query, { low, high }) {
      for (let end = high, isMore = true; isMore; ) {
        const numbers = using(({ parts }) => parts.of(partOf(low)).match.all(query, low, end, MATCHES))
        yield* numbers
        isMore = numbers.length === MATCHES
        end = numbers.at(-1) ?? end
      }
    },
    renew: (part, numbers) =>
      using(({ db, state, parts }) => {
        if (!parts.has(part)) return
        inTransaction(db, () => {
          const { last } = one(state)
          for (const number of numbers) {
            if (number > last) continue
            parts.remove(part, number)
            const changed = row.get(number)
            if (changed !== undefined) parts.add(part, changed)
          }
        })
      }),
    purge: (part) =>
      using(({ db, parts }) => {
        const isMore = parts.has(part) && inTransaction(db, () => parts.purgeSome(part))
        if (isMore) return true
        db.pragma('incremental_vacuum')
        // The log still has pages from before.
        const isBusy = db.pragma('wal_checkpoint(truncate)', { simple: true }) !== 0
        if (isBusy) throw new Error('another process reads the search index')
        return false
      }),
    close,
  }
}

type Opened = ReturnType<typeof openFor>

/** Opens the index of a database when it is first used. */
function opening(main: Connection) {
  let open: Opened | null = null
  const isOpen = () => {
    try {
      open ??= openFor(main)
    } catch {
      return false // `index` throws why
    }
    return true
  }
  /** Only the use of an index shows all damage. Then it is removed, and the next use fills a new one. */
  const using = <T>(work: (index: Opened) => T): T => {
    open ??= openFor(main)
    try {
      return work(open)
    } catch (error) {
      if (isDamage(error)) {
        close()
        removeFile(fileOf(main))
      }
      throw error
    }
  }
  const close = () => {
    open?.db.close()
    open = null
  }
  return { isOpen, using, close }
}

/** Opens the index of a database. One of another database, or that cannot be read, is begun anew. */
function openFor(main: Connection) {
  const opened = openReadable(fileOf(main))
  const { db, state, setState, parts } = opened
  // Not by a new file, because another process may use this one.
  if (!isOf(main, one(state))) {
    inTransaction(db, () => {
      for (const part of parts.all()) parts.drop(part)
      setState.run(0, '')
    })
  }
  return opened
}

function openReadable(file: string) {
  try {
    return openFile(file)
  } catch (error) {
    if (!isDamage(error)) throw error
  }
  removeFile(file)
  return openFile(file)
}

const fileOf = (main: Connection) => (main.memory ? ':memory:' : join(dirname(main.name), SEARCH_FILE))

const isDamage = (error: unknown) => /^SQLITE_(CORRUPT|NOTADB)/.test(String((error as { code?: unknown }).code))

function removeFile(file: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
}

/** False after a restored backup, for example. Numbers of messages are never used again. */
function isOf(main: Connection, { last, id }: State): boolean {
  const newest = main
    .prepare<unknown[], number>("select seq from sqlite_sequence where name = 'messages'")
    .pluck()
    .get()
  const own = main.prepare<unknown[], string>('select id from messages where number = ?').pluck().get(last)
  return last <= (newest ?? 0) && (own === undefined || own === id)
}

interface State {
  last: number
  id: string
}

function openFile(file: string) {
  if (file !== ':memory:') closeSync(openSync(file, 'a', 0o600)) // SQLite gives the log the same mode
  const db = connect(file, { busyTimeoutMs: PATIENCE_MS })
  try {
    db.pragma('synchronous = normal')
    db.exec(SCHEMA)
    return {
      db,
      state: db.prepare<unknown[], State>('select last, id from indexed'),
      setState: db.prepare('update indexed set last = ?, id = ?'),
      parts: createParts(db),
    }
  } catch (error) {
    db.close()
    throw error
  }
}

/** The tables of the index. */
function createParts(db: Connection) {
  const between = db
    .prepare<unknown[], number>('select part from parts where part >= ? and part <= ? order by part desc')
    .pluck()
  const exists = db.prepare('select 1 from parts where part = ?')
  const note = db.prepare('insert into parts (part) values (?)')
  const unnote = db.prepare('delete from parts where part = ?')
  const changes = db.prepare<unknown[], number>('select total_changes()').pluck()
  const prepared = new Map<number, ReturnType<typeof prepare>>()
  const prepare = (part: number) => ({
    add: db.prepare(`insert into words_${part} (rowid, words) values (?, ?)`),
    remove: db.prepare(`delete from words_${part} where rowid = ?`),
    match: db
      .prepare<unknown[], number>(
        `select rowid from words_${part} where words_${part} match ? and rowid >= ? and rowid < ?
          order by rowid desc limit ?`,
      )
      .pluck(),
    merge: db.prepare(`insert into words_${part} (words_${part}, rank) values ('merge', ?)`),
    any: db.prepare(`select 1 from words_${part}_docsize limit 1`),
  })
  const of = (part: number) => {
    const known = prepared.get(part) ?? prepare(part)
    prepared.set(part, known)
    return known
  }
  const has = (part: number) => exists.get(part) !== undefined
  const drop = (part: number) => {
    prepared.delete(part)
    unnote.run(part)
    db.exec(`drop table words_${part}`)
  }
  /** Merges of all segments of a part since messages last left it. */
  const merges = new Map<number, { ended: number; isUnderWay: boolean }>()
  return {
    of,
    has,
    drop,
    all: () => between.all(0, Number.MAX_SAFE_INTEGER),
    between: (low: number, high: number) => between.all(low, high),
    /** → the length of its words, in UTF-16 code units. */
    add: (part: number, message: Indexed): number => {
      if (!has(part)) {
        db.exec(`create virtual table words_${part} ${CREATE}`)
        note.run(part)
      }
      const words = wordsOf(message).join(' ')
      of(part).add.run(message.number, words)
      return words.length
    },
    remove: (part: number, number: number) => {
      merges.delete(part)
      of(part).remove.run(number)
    },
    /** A merge of all segments rewrites them without the removed messages; true while it goes on. There are two merges,
     *  because the first may continue one that copied a message before its removal. */
    purgeSome: (part: number): boolean => {
      const { ended, isUnderWay: wasUnderWay } = merges.get(part) ?? { ended: 0, isUnderWay: false }
      const before = one(changes)
      of(part).merge.run(wasUnderWay ? MERGED_PAGES : -MERGED_PAGES)
      const isUnderWay = one(changes) - before >= 2
      merges.set(part, { ended: isUnderWay ? ended : ended + 1, isUnderWay })
      if (isUnderWay || ended === 0) return true
      merges.delete(part)
      if (of(part).any.get() === undefined) drop(part)
      return false
    },
  }
}

function inTransaction<T>(db: Connection, work: () => T): T {
  return db.transaction(work).immediate()
}
