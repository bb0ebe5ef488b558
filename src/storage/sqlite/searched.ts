import type { Connection } from './driver.ts'
import {
  addMember,
  allMembers,
  keepOnly,
  type Members,
  noMembers,
  placeOf,
  placesDown,
  RANGE,
  rangeOf,
} from './members.ts'
import { MESSAGE_COLUMNS, type MessageRow } from './message-row.ts'
import type { Condition } from './page.ts'
import type { SearchQuery } from './search-texts.ts'
import type { SearchWords } from './search-words.ts'
import { betweenSql, candidateSql, SLICE, type Step, type Walk } from './slices.ts'

const OUTDATED = 'select number from search_outdated where number >= ? and number < ?'

/** Lookups in the index of a walk and in that of words before other work gets a turn, and ranges that the latter skips:
 *  two milliseconds. Reading a range costs less. */
const LOOKUPS = 16
const RANGES = 64
/** Words with a prefix that are read in a range: a millisecond. With more, the messages themselves are read. */
const PREFIXED_MAX = 1_024

/** Messages whose texts are read before other work gets a turn: half a millisecond, some if all have fifty recipients. */
const TEXTS = 64

interface Asked {
  query: SearchQuery
  /** Whether the texts of a message match the query. */
  contains: (number: number) => boolean
  walk: Walk
  /** Conditions on messages `m`, including those that search tokens stand for. */
  conditions: Condition
  low: number
}

/** Steps through the ranges of the search index, newest first, and skips those without matches. */
export function searched(db: Connection, index: SearchWords, asked: Asked): Step {
  const { query, contains, walk, conditions, low } = asked
  const candidate = db.prepare<unknown[], number>(candidateSql(walk)).pluck()
  const onWalk = db.prepare<unknown[], number>(betweenSql(walk)).pluck()
  const message = db.prepare<unknown[], MessageRow>(
    `select ${MESSAGE_COLUMNS} from messages m where m.number = ? and ${conditions.sql}`,
  )
  const outdated = db.prepare<unknown[], number>(OUTDATED).pluck()

  /** Members of a range that are on the walk. */
  const walked = (first: number, next: number): Members => {
    const members = noMembers()
    for (const number of onWalk.all(...walk.values, first, next + 1)) addMember(members, placeOf(number))
    return members
  }

  /** Adds matches among some members of a range, from `next` down → where it ended. */
  const readSome = (rows: unknown[], { members, isExact }: Found, next: number, limit: number): number => {
    const first = next - placeOf(next)
    const changed = new Set(outdated.all(first, first + RANGE))
    for (const number of changed) addMember(members, placeOf(number))
    if (hasMany(members)) keepOnly(members, walked(first, next))
    let looks = 0
    let texts = 0
    for (const place of placesDown(members, placeOf(next), Math.max(0, low - first))) {
      const number = first + place
      const row = message.get(number, ...conditions.values)
      const mustRead = row !== undefined && (!isExact || changed.has(number))
      if (mustRead) texts++
      if (row !== undefined && (!mustRead || contains(number))) rows.push(row)
      if (++looks === SLICE || texts === TEXTS || rows.length >= limit) return number
    }
    return Math.max(first, low)
  }

  return (rows, high, limit) => {
    let end = high
    for (let lookups = 0; lookups < LOOKUPS; lookups++) {
      const next = candidate.get(...walk.values, low, end, 0)
      if (next === undefined) return null
      const range = rangeOf(next)
      const last = Math.max(range - RANGES, 0)
      const newest = index.newestWith(query, range, last)
      if (newest === range) {
        const found = matching(index, query, range)
        if (found !== null) return readSome(rows, found, next, limit)
        end = range * RANGE
      } else end = newest === null ? last * RANGE : (newest + 1) * RANGE
      if (end <= low) return low
    }
    return end
  }
}

interface Found {
  members: Members
  /** False: the text of each must be read. */
  isExact: boolean
}

/** Members of a range that may match; null if it has none. */
function matching(index: SearchWords, { words, prefix, hasPhrases }: SearchQuery, range: number): Found | null {
  const members = allMembers()
  for (const word of words) {
    const own = index.members(range, word)
    if (own === null) return null
    keepOnly(members, own)
  }
  if (prefix === null) return isEmpty(members) ? null : { members, isExact: !hasPhrases }
  if (isEmpty(members)) return null
  const own = index.prefixed(range, prefix, PREFIXED_MAX)
  if (own !== null) keepOnly(members, own)
  return isEmpty(members) ? null : { members, isExact: !hasPhrases && own !== null }
}

/** More members of a range than this are compared with the walk first, which costs less than reading them. */
const MANY = 12

function hasMany(members: Members): boolean {
  let count = 0
  for (const _ of placesDown(members, RANGE - 1, 0)) if (++count > MANY) return true
  return false
}

const isEmpty = (members: Members) => members.every((byte) => byte === 0)
