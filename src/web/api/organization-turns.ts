import { createRecentOthers, type RecentOthers } from '../../net/limiters/recent-others.ts'

/** Shares the main thread among organizations: while several send requests, those of one organization are performed a
 *  few at a time. Everything that waits for the main thread or the database then waits behind a few requests of each
 *  organization, not behind all of a burst. */
export class OrganizationTurns {
  readonly #recentOthers: RecentOthers
  readonly #lines = new Map<string, Line>()

  /** Takes a clock of steady time in ms. */
  constructor(now: () => number) {
    this.#recentOthers = createRecentOthers(now, SHARED_MS)
  }

  /** Begins a turn, at once or after earlier requests of the organization → a function that ends it. Null: other
   *  organizations send nothing, so the request needs no turn. `bodyBytes` is the size of the body: large requests have
   *  turns of their own, so that small ones do not wait for them. */
  enter(organizationId: string, bodyBytes: number): Promise<() => void> | null {
    if (!this.#recentOthers.than(organizationId)) return null
    const isLarge = bodyBytes >= LARGE_BYTES
    return this.#begin(isLarge ? `${organizationId} large` : organizationId, isLarge ? MOST_LARGE : MOST)
  }

  async #begin(name: string, most: number): Promise<() => void> {
    const line = this.#lines.get(name) ?? { underWay: 0, waiting: [] }
    this.#lines.set(name, line)
    const mustWait = line.underWay >= most && line.waiting.length < MOST_WAITING
    if (mustWait) await new Promise<void>((resolve) => line.waiting.push(resolve))
    else line.underWay++
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      const next = line.underWay > most ? undefined : line.waiting.shift()
      if (next === undefined) line.underWay--
      else next()
      if (line.underWay === 0) this.#lines.delete(name)
    }
  }
}

interface Line {
  underWay: number
  /** Requests that wait, in order. The one that ends passes its place to the first. */
  waiting: (() => void)[]
}

/** Another organization counts as active for this long after its last request. */
const SHARED_MS = 10_000
const MOST = 3
const MOST_LARGE = 1
const LARGE_BYTES = 2 ** 16
/** Further requests do not wait, so that what they hold in memory ends. */
const MOST_WAITING = 200
