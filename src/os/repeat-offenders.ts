import type { Clock } from './clock.ts'
import { setNewest } from './set-newest.ts'

/** Finds owners (organizations) whose jobs repeatedly kill threads, so that their jobs can be kept apart. */
export interface RepeatOffenders {
  /** Counts a thread that ended because of a job of this owner. True if the owner now is a repeat offender. */
  add(owner: string): boolean
  /** How long the owner remains one, in ms; 0 if it is none. */
  leftMs(owner: string): number
}

/** Creates an empty RepeatOffenders; `clock` must be monotonic. An owner becomes one with the fifth thread within ten
 *  minutes, until the oldest of these five is ten minutes old. At most a thousand owners are tracked; the least recent is
 *  dropped. */
export function createRepeatOffenders(clock: Pick<Clock, 'now'>): RepeatOffenders {
  const ends = new Map<string, number[]>()

  const leftMs = (owner: string): number => {
    const times = ends.get(owner) ?? []
    const [first] = times
    if (first === undefined || times.length < MOST_ENDS) return 0
    return Math.max(0, first + WINDOW_MS - clock.now())
  }

  return {
    add: (owner) => {
      const wasOne = leftMs(owner) > 0
      const times = [...(ends.get(owner) ?? []), clock.now()].slice(-MOST_ENDS)
      setNewest(ends, owner, times, REMEMBERED)
      return !wasOne && leftMs(owner) > 0
    },
    leftMs,
  }
}

const MOST_ENDS = 5
const WINDOW_MS = 10 * 60_000
const REMEMBERED = 1_000
