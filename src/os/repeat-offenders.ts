import type { Clock } from './clock.ts'

/** Owners (organizations) whose jobs ended threads again and again: so that each further one costs others less. */
export interface RepeatOffenders {
  /** A thread ended over a job of this owner. True when that makes it one. */
  add(owner: string): boolean
  /** How long the owner still is one, in ms; 0 = it is none. */
  leftMs(owner: string): number
}

/** A clock that nobody sets → RepeatOffenders that knows none. An owner is one from the fifth thread within ten minutes on, until the oldest of
 *  these five is ten minutes ago. Remembers a thousand owners; the one whose thread ended longest ago is forgotten. */
export function createRepeatOffenders(clock: Pick<Clock, 'now'>): RepeatOffenders {
  const ends = new Map<string, number[]>()

  const leftMs = (owner: string): number => {
    const times = ends.get(owner)
    if (times === undefined || times.length < MOST_ENDS) return 0
    return Math.max(0, times[0]! + WINDOW_MS - clock.now())
  }

  return {
    add: (owner) => {
      const wasOne = leftMs(owner) > 0
      const times = [...(ends.get(owner) ?? []), clock.now()].slice(-MOST_ENDS)
      ends.delete(owner)
      ends.set(owner, times)
      if (ends.size > REMEMBERED) ends.delete(ends.keys().next().value!)
      return !wasOne && leftMs(owner) > 0
    },
    leftMs,
  }
}

const MOST_ENDS = 5
const WINDOW_MS = 10 * 60_000
const REMEMBERED = 1_000
