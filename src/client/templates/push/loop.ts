import { ConversionFault } from './shape.ts'
import { common, isWhole, type Part, type Region, slides } from './tokens.ts'
import { pathWords } from './words.ts'

/** The rows of a list in a mail with one item. */
export interface Loop {
  list: string
  region: Region
  /** Tokens between two rows. */
  separator: string[]
}

/** Mails with one and with two items of a list, as tokens → where its rows are; null if the list changes nothing.
 *  `two` has the signs of its second item as those of the first. `isOwn` is true for tokens with a value of the list.
 *  Throws ConversionFault if the rows are not alike, or if something else depends on the number of items. */
export function loopIn(
  list: string,
  { one, two }: { one: string[]; two: string[] },
  { part, isOwn }: { part: Part; isOwn: (token: string) => boolean },
): Loop | null {
  const added = two.length - one.length
  const { prefix, suffix } = common(one, two)
  if (added === 0 && prefix === one.length) return null
  if (added <= 0 || prefix + suffix < one.length) throw notAlike(list)
  const from = one.findIndex(isOwn)
  const to = one.findLastIndex(isOwn)
  const holds = ({ start, end }: Region) => start >= 0 && (from === -1 || (start <= from && to < end))
  const places = slides(two, { start: prefix, end: prefix + added })
  // The added tokens are a row, or what separates rows and a row.
  for (let between = 0; between < Math.min(added, MAX_SEPARATOR); between++) {
    const length = added - between
    const right = places.flatMap(({ start: end }) => {
      const region = { start: end - length, end }
      const separator = two.slice(end, end + between)
      const isRow = holds(region) && !separator.some(isOwn) && repeats(one, region.start, two, end + between, length)
      return isRow ? [{ list, region, separator }] : []
    })
    const found = right.find(({ region }) => isWhole(one, region, part)) ?? right[0]
    if (found !== undefined) return found
  }
  throw notAlike(list)
}

/** Tokens. */
const MAX_SEPARATOR = 50

/** True if `count` tokens of `one` from `at` are those of `other` from `there`. */
function repeats(one: string[], at: number, other: string[], there: number, count: number): boolean {
  for (let each = 0; each < count; each++) if (one[at + each] !== other[there + each]) return false
  return true
}

function notAlike(list: string): ConversionFault {
  return new ConversionFault(
    `${pathWords(list)}: its items do not render alike, or the mail depends on their number. ` +
      'Pass what differs as a field of the items or as its own prop.',
  )
}
