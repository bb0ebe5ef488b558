import { setNewest } from '../../os/set-newest.ts'
import { insertInto } from './insert.ts'
import type { Statements } from './transactions.ts'

/** Messages of an organization per range and node. A search reads whole ranges: of the smallest ones, a common word
 *  in a few milliseconds; of larger ones it would read more than a page needs. */
const RANGE = 2048
/** Lengths of a range's prefix: `msg_` and the first characters of the time. They are 12 days, 9 hours, 17 minutes, 33 seconds and
 *  one second. */
const LENGTHS = [8, 9, 10, 11, 12] as const
/** Organizations whose ranges are remembered. */
const ORGANIZATIONS = 10_000

const addRanges = insertInto<SearchRange>(
  'search_ranges',
  {
    organization_id: ['text', ({ organizationId }) => organizationId],
    prefix: ['text', ({ prefix }) => prefix],
  },
  'on conflict do nothing',
)

/** Part of the full text: messages of an organization whose IDs begin with the prefix. A message is in one range.
 *  Every message between two ranges next to each other, in the order of their prefixes, is in the earlier one or in one
 *  whose prefix begins that of the earlier one. */
export interface SearchRange {
  organizationId: string
  prefix: string
}

/** The range of each new message: the longest time that has not too many of them yet. */
export interface SearchRanges {
  /** A group begins. */
  begin(): {
    /** Organization and ID of a new message → the code of its range. */
    codeFor(organizationId: string, id: string): string
    /** Sends the statement that writes new ranges. */
    write(statements: Statements): Promise<unknown>
    /** They are written. */
    committed(): void
  }
}

export function createSearchRanges(): SearchRanges {
  /** Of each organization the ranges that were used last, by length. */
  const used = new Map<string, UsedRange[]>()
  const rangeOf = (organizationId: string, id: string): UsedRange => {
    const ranges = used.get(organizationId) ?? []
    setNewest(used, organizationId, ranges, ORGANIZATIONS)
    for (const [level, length] of LENGTHS.entries()) {
      const prefix = id.slice(0, length)
      let range = ranges[level]
      if (range?.prefix !== prefix) {
        range = { organizationId, prefix, code: rangeCode(organizationId, prefix), messages: 0, isWritten: false }
        ranges[level] = range
      }
      if (range.messages < RANGE || level === LENGTHS.length - 1) return range
    }
    throw new Error('a range has no length')
  }
  return {
    begin: () => {
      const fresh = new Set<UsedRange>()
      return {
        codeFor: (organizationId, id) => {
          const range = rangeOf(organizationId, id)
          range.messages++
          if (!range.isWritten) fresh.add(range)
          return range.code
        },
        // In this order, so that two groups do not wait for each other.
        write: (statements) => addRanges(statements, [...fresh].sort(byKey)),
        committed: () => {
          for (const range of fresh) range.isWritten = true
        },
      }
    },
  }
}

interface UsedRange extends SearchRange {
  code: string
  messages: number
  isWritten: boolean
}

const byKey = (one: SearchRange, other: SearchRange) =>
  one.organizationId < other.organizationId ||
  (one.organizationId === other.organizationId && one.prefix < other.prefix)
    ? -1
    : 1

/** The codes of a range and of those whose prefixes begin its own. */
export function codesOf({ organizationId, prefix }: SearchRange): string[] {
  return LENGTHS.filter((length) => length <= prefix.length).map((length) =>
    rangeCode(organizationId, prefix.slice(0, length)),
  )
}

/** Five letters and digits. Two ranges may have the same code, so a match must be verified. CRC-32, because it is the
 *  same in every version of the runtime. */
function rangeCode(organizationId: string, prefix: string): string {
  return (Bun.hash.crc32(`${organizationId} ${prefix}`) % CODES).toString(36).padStart(CODE_LENGTH, '0')
}

const CODE_LENGTH = 5
const CODES = 36 ** CODE_LENGTH
