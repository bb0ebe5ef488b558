import { closeSync, openSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Connection, connect, one } from './driver.ts'
import type { Numbers } from './page.ts'
import { INDEXED, type Indexed, wordsOf } from './search-texts.ts'

export const SEARCH_FILE = 'search.db'

/** The full-text index: FTS5 tables in a file of their own, which the reading thread alone writes. Each table has the
 *  messages of one part of their numbers. FTS5 merges its segments while it writes and rewrites a table to erase a word,
 *  50 to 250 ms each, so neither may happen in the database of the main thread. All of it can be made again from the
 *  database: a power cut may undo the newest part of it, and a missing file is filled anew. */
export interface SearchIndex {
  /** Indexes the next messages; true while more are waiting. */
  index(): boolean
  /** Number of the newest message that was indexed; 0 = none. */
  last(): number
  /** Numbers of messages that match a query of FTS5 (sqlite.org/fts5.html#full_text_query_syntax), the newest first.
   *  Messages that were removed or changed since they were indexed may be among them. */
  matches(query: string, numbers: Numbers): Generator<number>
  /** Takes removed messages of a part out of it, and indexes changed ones again. */
  renew(part: number, numbers: readonly number[]): void
  /** Erases the words of what left a part from its file, some pages at once; true while there is more. */
  purge(part: number): boolean
  close(): void
}

/** Numbers of a part: rewriting it takes a quarter of a second of the thread, in steps. Tests change it. */
export const PART = 65_536
export const partOf = (number: number): number => Math.floor(number / PART)

/** Messages indexed at once: 20 ms. */
export const BATCH = 512
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
// The words are already split and folded, and search tokens begin with a sign that no word has (search-texts.ts). To this
// tokenizer every character beyond ASCII belongs to a word.
const CREATE = `using fts5 (words, content = '', contentless_delete = 1,
  tokenize = "ascii tokenchars '='")`

const NEWER = `select ${INDEXED} from messages m where m.number > ? order by m.number limit ?`
const ROW = `select ${INDEXED} from messages m where m.number = ?`

/** A database → its search index, opened when it is first used. */
export function searchIndex(main: Connection): SearchIndex {
  const newer = main.prepare<unknown[], Indexed>(NEWER)
  const row = main.prepare<unknown[], Indexed>(ROW)
  let open: Opened | null = null
  const opened = () => {
    open ??= openFor(main)
    return open
  }
  return {
    index: () => {
      const { db, state, setState, parts } = opened()
      return inTransaction(db, () => {
        const rows = newer.all(one(state).last, BATCH)
        const newest = rows.at(-1)
        if (newest === undefined) return false
        for (const each of rows) parts.add(partOf(each.number), each)
        setState.run(newest.number, newest.id)
        return rows.length === BATCH
      })
    },
    last: () => one(opened().state).last,
    *matches(query, { low, high }) {
      const { parts } = opened()
      for (const part of parts.between(partOf(low), partOf(high - 1))) {
        const { match } = parts.of(part)
        for (let end = high, isMore = true; isMore; ) {
          const numbers = match.all(query, low, end, MATCHES)
          yield* numbers
          isMore = numbers.length === MATCHES
          end = numbers.at(-1) ?? end
        }
      }
    },
    renew: (part, numbers) => {
      const { db, state, parts } = opened()
      if (!parts.has(part)) return
      inTransaction(db, () => {
        const { last } = one(state)
        for (const number of numbers) {
          if (number > last) continue
          parts.of(part).remove.run(number)
          const changed = row.get(number)
          if (changed !== undefined) parts.add(part, changed)
        }
      })
    },
    purge: (part) => {
      const { db, parts } = opened()
      const isMore = parts.has(part) && inTransaction(db, () => parts.purgeSome(part))
      if (isMore) return true
      db.pragma('incremental_vacuum')
      db.pragma('wal_checkpoint(truncate)') // the log still has pages from before
      return false
    },
    close: () => {
      open?.db.close()
      open = null
    },
  }
}

type Opened = ReturnType<typeof openFor>

/** Opens the index of a database. One of another database, or that cannot be read, is begun anew. */
function openFor(main: Connection) {
  const file = main.memory ? ':memory:' : join(dirname(main.name), SEARCH_FILE)
  const opened = openReadable(file)
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
    if (!/^SQLITE_(CORRUPT|NOTADB)/.test(String((error as { code?: unknown }).code))) throw error
  }
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
  return openFile(file)
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
  /** Parts whose merge of all segments has begun. */
  const begun = new Set<number>()
  return {
    of,
    has,
    drop,
    all: () => between.all(0, Number.MAX_SAFE_INTEGER),
    between: (low: number, high: number) => between.all(low, high),
    add: (part: number, message: Indexed) => {
      if (!has(part)) {
        db.exec(`create virtual table words_${part} ${CREATE}`)
        note.run(part)
      }
      of(part).add.run(message.number, wordsOf(message).join(' '))
    },
    /** A merge of all segments rewrites them without what was removed; true while it goes on. */
    purgeSome: (part: number): boolean => {
      const before = one(changes)
      of(part).merge.run(begun.has(part) ? MERGED_PAGES : -MERGED_PAGES)
      begun.add(part)
      if (one(changes) - before >= 2) return true
      begun.delete(part)
      if (of(part).any.get() === undefined) drop(part)
      return false
    },
  }
}

function inTransaction<T>(db: Connection, work: () => T): T {
  return db.transaction(work).immediate()
}
