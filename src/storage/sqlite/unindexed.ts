import type { Connection } from './driver.ts'
import { MESSAGE_COLUMNS, type MessageRow } from './message-row.ts'
import type { Condition } from './page.ts'
import { SLICE, type Step, sliced, type Walk } from './slices.ts'

interface Asked {
  /** Whether the texts of a message match. */
  contains: (number: number) => boolean
  walk: Walk
  /** Conditions on messages `m`, including those that search tokens stand for. */
  conditions: Condition
  low: number
}

/** Steps through slices of messages that the search index does not contain yet. Only messages that match all other
 *  conditions are searched for words. */
export function unindexed(db: Connection, { contains, walk, conditions, low }: Asked): Step {
  const step = sliced(db, walk, MESSAGE_COLUMNS, conditions, low)
  return (rows, high, limit) => {
    const slice: MessageRow[] = []
    const end = step(slice, high, SLICE)
    rows.push(...slice.filter(({ number }) => contains(number)).slice(0, limit - rows.length))
    return end
  }
}
