import { setNewest } from '../../os/set-newest.ts'
import { insertInto } from './insert.ts'
import type { Statements } from './transactions.ts'

/** Messages of an organization that one node adds to a range. A search reads a range whole, a common word of a full
 *  one in five milliseconds; a rare word costs ten microseconds a range. */
const RANGE = 2048
/** Characters of an ID that a range has in common: `msg_` and the beginning of its time, which are 12 days, 9 hours, 17
 *  minutes, 34 seconds and one second. */
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

/** A part of the search index: messages of an organization whose IDs begin with the prefix, but not all of these, since
 *  a range that is full continues in longer prefixes. Every message that is newer than the begin of a range, and older
 *  than that of the next one by prefix, is in this range or in one whose prefix its prefix begins with. */
export interface SearchRange {
  organizationId: string
  prefix: string
}

/** Chooses the range of each new message: the longest time that is not full. */
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
  /** Of each organization the last range of each length. */
  const used = new Map<string, UsedRange[]>()
  const rangeOf = (organizationId: string, id: string): UsedRange => {
    const ranges = used.get(organizationId) ?? []
    setNewest(used, organizationId, ranges, ORGANIZATIONS)
    for (const [level, length] of LENGTHS.entries()) {
      const prefix = id.slice(0, length)
      const known = ranges[level]
      const range = known?.prefix === prefix ? known : newRange(organizationId, prefix)
      ranges[level] = range
      if (range.messages < RANGE) return range
    }
    return ranges.at(-1) ?? newRange(organizationId, id)
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

/** The codes of a range and of those whose prefixes begin its own. */
export function codesOf({ organizationId, prefix }: SearchRange): string[] {
  return LENGTHS.filter((length) => length <= prefix.length).map((length) =>
    rangeCode(organizationId, prefix.slice(0, length)),
  )
}

interface UsedRange extends SearchRange {
  code: string
  messages: number
  isWritten: boolean
}

function newRange(organizationId: string, prefix: string): UsedRange {
  return { organizationId, prefix, code: rangeCode(organizationId, prefix), messages: 0, isWritten: false }
}

const keyOf = ({ organizationId, prefix }: SearchRange) => `${organizationId} ${prefix}`
const byKey = (one: SearchRange, other: SearchRange) => (keyOf(one) < keyOf(other) ? -1 : 1)

/** Five letters and digits. Two ranges may have the same code, so a match must be verified. CRC-32, because it is the
 *  same in every version of the runtime. */
function rangeCode(organizationId: string, prefix: string): string {
  return (Bun.hash.crc32(`${organizationId} ${prefix}`) % CODES).toString(36).padStart(CODE_LENGTH, '0')
}

const CODE_LENGTH = 5
const CODES = 36 ** CODE_LENGTH
