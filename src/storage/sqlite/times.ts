import { SLACK_MS } from '../page.ts'
import type { TimeRange } from '../store.ts'
import type { Numbers } from './page.ts'

/** Record numbers increase with time, to within SLACK_MS: a binary search finds which of the `known` numbers belong
 *  to a range of time, so that no index of times is needed. `timeFrom` returns the time of the first record from a
 *  number on, undefined if there is none. */
export function numbersOf(
  { createdAfter, createdBefore }: TimeRange,
  known: Numbers,
  timeFrom: (number: number) => number | undefined,
): Numbers {
  const firstSince = (at: number) => {
    let { low, high } = known
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const time = timeFrom(middle)
      if (time === undefined || time >= at) high = middle
      else low = middle + 1
    }
    return low
  }
  return {
    low: createdAfter === null ? known.low : firstSince(createdAfter - SLACK_MS),
    high: createdBefore === null ? known.high : firstSince(createdBefore + SLACK_MS),
  }
}
