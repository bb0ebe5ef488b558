/** Where events stand in the order in which followers see them. A place is given when its group is written, and no
 *  lower one is given out after it was reported as passed: so a follower that has read up to `passed` misses nothing.
 *
 *  It is the time in ms since 2026 with the lane and a number in the low bits: unique over 128 lanes with 64 events
 *  per ms each, and exact as a number until 2060. The time is that of a hybrid logical clock: never behind another
 *  place that was seen, so a clock that is set back does not reorder events. */
export interface Places {
  /** The place of the next event of a group. */
  next(): number
  /** A group begins to take places. Until it ends, `passed` stays below them, because its events are not committed. */
  begin(): void
  end(): void
  /** The highest place up to which this lane has written everything: later events have higher places. */
  passed(): number
  /** Another lane has written an event with this place: the next place of this lane is higher. */
  saw(place: number): void
}

const EPOCH = Date.UTC(2026, 0, 1)
const PER_LANE = 64
const LANES = 128

/** A place → its time, ms UTC. */
export const timeOf = (place: number) => EPOCH + Math.floor(place / (LANES * PER_LANE))

/** Clock in ms UTC, the lane's seat among the live ones (0 to 127), and the highest place known so far → Places. */
export function createPlaces(now: () => number, seat: number, highest: number): Places {
  if (seat < 0 || seat >= LANES) throw new Error(`no seat ${seat} for a writing lane`)
  const firstOf = (ms: number) => ms * LANES * PER_LANE + seat * PER_LANE
  const msOf = (place: number) => Math.floor(place / (LANES * PER_LANE))
  let ms = msOf(highest) + 1
  let number = 0
  /** Below every place of the group under way. */
  let floor: number | null = null

  const advance = () => {
    const clock = now() - EPOCH
    if (clock <= ms) return
    ms = clock
    number = 0
  }
  const moveOn = () => {
    ms++
    number = 0
  }
  return {
    next: () => {
      advance()
      if (number === PER_LANE) moveOn()
      return firstOf(ms) + number++
    },
    begin: () => {
      advance()
      floor = firstOf(ms) + number - 1
    },
    end: () => {
      floor = null
    },
    passed: () => {
      if (floor !== null) return floor
      advance()
      // What is reported as passed is not given out.
      const passed = firstOf(ms) + number
      if (++number >= PER_LANE) moveOn()
      return passed
    },
    saw: (place) => {
      if (msOf(place) < ms) return
      ms = msOf(place) + 1
      number = 0
    },
  }
}
