import type { Connection } from './driver.ts'
import { addMember, type Members, noMembers, placeOf, RANGE, rangeOf, removeMembers } from './members.ts'
import { searchState } from './search.ts'
import { INDEXED, type Indexed, wordsOf } from './search-texts.ts'
import { note, type Postings, searchWords } from './search-words.ts'

const NOTE = 'insert into search_outdated (number) values (?) on conflict do nothing'
const NEXT = 'select number from search_outdated order by number limit 1'
const OUTDATED = 'select number from search_outdated where number >= ? and number < ? order by number'
const DONE = 'delete from search_outdated where number = ?'
const ROW = `select ${INDEXED} from messages m where m.number = ?`

/** Words read at once: half a millisecond. */
const SLICE = 128
/** Numbers that leave the list at once. */
const NUMBERS = 64

/** Removes outdated words from the search index: those of messages that were removed or changed.
 *
 *  It walks through the words of a range once for all its outdated messages, since a range that expires loses most of
 *  them at the same time. A stop or an undone change begins the range again, which is harmless. */
export interface SearchCleaning {
  /** Inside the change that removes a message or changes its texts. */
  note(number: number): void
  /** Inside a change: cleans until the time is up; true while there is more. */
  clean(timeIsUp: () => boolean): boolean
  /** A change was undone. */
  drop(): void
}

export function searchCleaning(db: Connection): SearchCleaning {
  const state = searchState(db)
  const addNote = db.prepare(NOTE)
  const next = db.prepare<unknown[], number>(NEXT).pluck()
  const outdated = db.prepare<unknown[], number>(OUTDATED).pluck()
  const done = db.prepare(DONE)
  const row = db.prepare<unknown[], Indexed>(ROW)
  const words = searchWords(db)
  let pass: Pass | null = null

  const begin = (): Pass | null => {
    const number = next.get()
    if (number === undefined) return null
    const range = rangeOf(number)
    const numbers = outdated.all(range * RANGE, (range + 1) * RANGE)
    const members = noMembers()
    for (const each of numbers) addMember(members, placeOf(each))
    return { range, numbers, members, after: '' }
  }
  const cleanSome = (own: Pass) => {
    const { range, members, after } = own
    const slice = words.after(range, after ?? '', SLICE)
    for (const each of slice) if (removeMembers(each.members, members)) words.set(range, each.word, each.members)
    own.after = slice.length < SLICE ? null : slice.at(-1)!.word
  }
  /** A message that only changed is indexed again. */
  const finishSome = ({ numbers }: Pass) => {
    const postings: Postings = new Map()
    for (const number of numbers.splice(-NUMBERS)) {
      done.run(number)
      const changed = row.get(number)
      if (changed !== undefined) note(postings, number, wordsOf(changed))
    }
    words.add(postings)
  }

  return {
    note: (number) => {
      const { first, last } = state()
      if (number >= first && number <= last) addNote.run(number)
    },
    clean: (timeIsUp) => {
      for (;;) {
        pass ??= begin()
        if (pass === null) return false
        if (pass.after !== null) cleanSome(pass)
        else finishSome(pass)
        if (pass.numbers.length === 0) pass = null
        if (timeIsUp()) return true
      }
    },
    drop: () => {
      pass = null
    },
  }
}

/** A range that is being cleaned. */
interface Pass {
  range: number
  /** Outdated messages of the range when its cleaning began. */
  numbers: number[]
  members: Members
  /** The last cleaned word; null when all are. */
  after: string | null
}
