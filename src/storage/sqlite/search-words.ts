import type { Connection } from './driver.ts'
import { addMember, addStored, type Members, noMembers, placeOf, rangeOf, toStored } from './members.ts'

const MEMBERS = 'select members from search_words where range = ? and word = ?'
const PREFIXED = 'select members from search_words where range = ? and word >= ? and word < ? limit ?'
const AFTER = 'select word, members from search_words where range = ? and word > ? order by word limit ?'
const SET = `insert into search_words (range, word, members) values (?, ?, ?)
  on conflict (range, word) do update set members = excluded.members`
const REMOVE = 'delete from search_words where range = ? and word = ?'

/** Follows every character of a word: it is none. */
const AFTER_ALL = '\u{10ffff}'

/** The rows of the search index. */
export interface SearchWords {
  /** Inside a change: adds words of messages. */
  add(postings: Postings): void
  /** → null if the range has no such word. */
  members(range: number, word: string): Members | null
  /** The members of all words that begin like this; null if there are more than `most` words. */
  prefixed(range: number, prefix: string, most: number): Members | null
  /** The newest range between two that has all the words, and one that begins with the prefix (null = any); null if none
   *  has. */
  newestWith(asked: Asked, high: number, low: number): number | null
  /** Words of a range after one, in order. */
  after(range: number, word: string, limit: number): { word: string; members: Members }[]
  /** Inside a change. */
  set(range: number, word: string, members: Members): void
}

interface Asked {
  words: readonly string[]
  prefix: string | null
}

/** Words of messages, by range: number of the range → word → places in it. */
export type Postings = Map<number, Map<string, number[]>>

export function note(postings: Postings, number: number, words: Iterable<string>): void {
  const range = rangeOf(number)
  const ofRange = postings.get(range) ?? new Map<string, number[]>()
  postings.set(range, ofRange)
  for (const word of words) {
    const places = ofRange.get(word)
    if (places === undefined) ofRange.set(word, [placeOf(number)])
    else places.push(placeOf(number))
  }
}

export function searchWords(db: Connection): SearchWords {
  const members = db.prepare<unknown[], Uint8Array>(MEMBERS).pluck()
  const prefixed = db.prepare<unknown[], Uint8Array>(PREFIXED).pluck()
  const after = db.prepare<unknown[], { word: string; members: Uint8Array }>(AFTER)
  const newestWith = createNewestWith(db)
  const set = db.prepare(SET)
  const remove = db.prepare(REMOVE)

  return {
    add: (postings) => {
      for (const [range, words] of postings) {
        // In the order of the table, so that each page is visited once.
        for (const [word, places] of [...words].sort(([a], [b]) => (a < b ? -1 : 1))) {
          const all = union(members.get(range, word))
          for (const place of places) addMember(all, place)
          set.run(range, word, toStored(all))
        }
      }
    },
    members: (range, word) => {
      const stored = members.get(range, word)
      return stored === undefined ? null : union(stored)
    },
    prefixed: (range, prefix, most) => {
      const rows = prefixed.all(range, prefix, prefix + AFTER_ALL, most + 1)
      return rows.length > most ? null : union(...rows)
    },
    newestWith,
    after: (range, word, limit) =>
      after.all(range, word, limit).map((row) => ({ word: row.word, members: union(row.members) })),
    set: (range, word, left) => {
      const stored = toStored(left)
      if (stored === null) remove.run(range, word)
      else set.run(range, word, stored)
    },
  }
}

/** Each number of words needs a statement of its own. */
function createNewestWith(db: Connection): SearchWords['newestWith'] {
  const statements = new Map<string, ReturnType<typeof prepared>>()
  const prepared = (sql: string) => db.prepare<unknown[], number>(sql).pluck()
  return ({ words, prefix }, high, low) => {
    const sql = newestWithSql(words.length, prefix !== null)
    const statement = statements.get(sql) ?? prepared(sql)
    statements.set(sql, statement)
    const values = prefix === null ? words : [...words, prefix, prefix + AFTER_ALL]
    return statement.get(high, low, ...values) ?? null
  }
}

function newestWithSql(words: number, hasPrefix: boolean): string {
  const has = (condition: string) => `exists (select 1 from search_words where range = number and ${condition})`
  const conditions = Array<string>(words).fill(has('word = ?'))
  if (hasPrefix) conditions.push(has('word >= ? and word < ?'))
  return `with recursive ranges (number) as (values (?) union all select number - 1 from ranges where number > ?)
    select number from ranges where ${conditions.join(' and ')} limit 1`
}

function union(...stored: (Uint8Array | undefined)[]): Members {
  const all = noMembers()
  for (const each of stored) if (each !== undefined) addStored(all, each)
  return all
}
