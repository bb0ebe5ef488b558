import type { Connection } from './driver.ts'
import { MESSAGE_COLUMNS } from './message-row.ts'
import type { Condition } from './page.ts'
import type { SearchIndex } from './search.ts'
import { candidateSql, SLICE, type Step, type Walk } from './slices.ts'

const HAS_WORDS = 'select 1 from message_search where message_search match ? limit 1'
const AMONG = `select rowid from message_search where message_search match ? and rowid >= ? and rowid < ?
  order by rowid desc limit 1 offset ${SLICE - 1}`

/** Ranges skipped before other work gets a turn: a millisecond. Reading one costs as much or more. */
const RANGES_A_STEP = 32

interface Asked {
  words: string | null
  marks: string[]
  walk: Walk
  /** Conditions on messages `m`. */
  conditions: Condition
  low: number
}

/** Steps through the ranges of the search index, newest first, and skips those without matches. */
export function searched(db: Connection, search: SearchIndex, { words, marks, walk, conditions, low }: Asked): Step {
  const candidate = db.prepare<unknown[], number>(candidateSql(walk)).pluck()
  const hasWhole = db.prepare(HAS_WORDS)
  const among = db.prepare<unknown[], number>(AMONG).pluck()
  const matching = db.prepare(
    `select ${MESSAGE_COLUMNS} from message_search s cross join messages m on m.number = s.rowid
      where s.message_search match ? and s.rowid >= ? and s.rowid < ? and ${conditions.sql}
      order by s.rowid desc limit ?`,
  )
  return (rows, high, limit) => {
    let end = high
    for (let ranges = 0; ranges < RANGES_A_STEP; ranges++) {
      const next = candidate.get(...walk.values, low, end, 0)
      if (next === undefined) return null
      const { first, whole, all } = search.expressions(words, marks, next)
      end = Math.max(first, low)
      // Checking that nothing is there is cheap, so it runs first, and without the prefix, which is expensive.
      if (whole !== null && hasWhole.get(whole) === undefined) continue
      const lowest = among.get(all, end, next + 1)
      rows.push(...matching.all(all, lowest ?? end, next + 1, ...conditions.values, limit - rows.length))
      return lowest ?? end
    }
    return end
  }
}
