import { setNewest } from '../../os/set-newest.ts'

/** Messages of an organization that one node adds to a range. A search reads a range whole, a common word of a full
 *  one in five milliseconds; a rare word costs ten microseconds a range. */
const RANGE = 2048
/** Digits of a number, which is less than 2^53, in base 32. */
const DIGITS = 11
/** Digits that the numbers of a range have in common. Each node takes up to 100,000 numbers a second (numbers.ts): a range
 *  is some days, hours or minutes, ten seconds or a part of one, divided by the nodes, and longer while little is written. */
const LENGTHS = [4, 5, 6, 7, 8] as const
/** Organizations whose ranges are remembered. */
const ORGANIZATIONS = 10_000

/** A part of the search index: messages of an organization whose numbers begin with the prefix, but not all of these, since
 *  a range that is full continues in longer prefixes. Every message that is newer than the begin of a range, and older
 *  than that of the next one by prefix, is in this range or in one whose prefix its prefix begins with. */
export interface SearchRange {
  organizationId: string
  /** Digits in base 32. */
  prefix: string
}

/** The range of new messages. */
export interface UsedRange extends SearchRange {
  /** What its words begin with. */
  code: string
  messages: number
  isWritten: boolean
}

/** Chooses the range of each new message: the longest time that is not full. */
export class SearchRanges {
  /** Of each organization the last range of each length. */
  readonly #used = new Map<string, UsedRange[]>()

  /** Organization and number of a new message → its range, which is to be written if it is not. */
  rangeFor(organizationId: string, number: number): UsedRange {
    const ranges = this.#used.get(organizationId) ?? []
    setNewest(this.#used, organizationId, ranges, ORGANIZATIONS)
    const digits = digitsOf(number)
    let range: UsedRange | undefined
    for (const [level, length] of LENGTHS.entries()) {
      const prefix = digits.slice(0, length)
      const known = ranges[level]
      range = known?.prefix === prefix ? known : newRange(organizationId, prefix)
      ranges[level] = range
      if (range.messages < RANGE) break
    }
    range ??= newRange(organizationId, digits)
    range.messages++
    return range
  }
}

/** Digits that can be compared as texts. Those of a range are the beginning of those of its messages. */
export const digitsOf = (number: number) => number.toString(32).padStart(DIGITS, '0')

/** Prefix → the first number of its range. */
export const numberOf = (prefix: string) => Number.parseInt(prefix.padEnd(DIGITS, '0'), 32)

/** The codes of a range and of those whose prefixes begin its own. */
export function codesOf({ organizationId, prefix }: SearchRange): string[] {
  return LENGTHS.filter((length) => length <= prefix.length).map((length) =>
    rangeCode(organizationId, prefix.slice(0, length)),
  )
}

function newRange(organizationId: string, prefix: string): UsedRange {
  return { organizationId, prefix, code: rangeCode(organizationId, prefix), messages: 0, isWritten: false }
}

/** Five letters and digits. Two ranges may have the same code, so a match must be verified. CRC-32, because it is the
 *  same in every version of the runtime. */
function rangeCode(organizationId: string, prefix: string): string {
  return (Bun.hash.crc32(`${organizationId} ${prefix}`) % CODES).toString(36).padStart(CODE_LENGTH, '0')
}

const CODE_LENGTH = 5
const CODES = 36 ** CODE_LENGTH
