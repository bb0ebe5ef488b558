import type { Connection } from './driver.ts'
import type { Condition } from './page.ts'
import { candidateSql, type Step, type Walk } from './slices.ts'

/** Index lookups per step: some milliseconds. */
const STEPS = 1000

/** Messages that are on each of several walks and meet the conditions on `m`. Each walk in turn skips to its first
 *  message from the position of the previous one, until all agree. The cost is the number of matches and of
 *  alternations, not the length of the walks. `columns` are read only for matches. */
export function intersection(db: Connection, walks: Walk[], columns: string, conditions: Condition, low: number): Step {
  const walked = walks.map((walk) => {
    const candidate = db.prepare<unknown[], number>(candidateSql(walk)).pluck()
    return (below: number) => candidate.get(...walk.values, low, below, 0)
  })
  const listed = db.prepare(`select ${columns} from messages m where m.number = ? and ${conditions.sql}`)
  return (rows, high, limit) => {
    let end = high
    let agreeing = 0
    for (let steps = 0; steps < STEPS; steps++) {
      const number = walked[steps % walked.length]?.(end)
      if (number === undefined) return null
      agreeing = number + 1 === end ? agreeing + 1 : 1
      end = number + 1
      if (agreeing < walked.length) continue
      const row = listed.get(number, ...conditions.values)
      if (row !== undefined) rows.push(row)
      end = number
      agreeing = 0
      if (rows.length >= limit) break
    }
    return end
  }
}
