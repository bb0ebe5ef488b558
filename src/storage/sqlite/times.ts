import type { TimeRange } from '../store.ts'
import { type Numbers, SLACK_MS } from './page.ts'

/** Records count up in the order of time, to within SLACK_MS: which of the `known` numbers those of a range of time can
 *  have is found by halving, so that no index of times has to be kept. `timeFrom` tells the time of the first record from
 *  a number on, undefined when there is none. */
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
