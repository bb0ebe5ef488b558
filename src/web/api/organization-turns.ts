import { createRecentOthers } from '../../net/limiters/recent-others.ts'

/** Shares the main thread among organizations: while several send requests, those of one organization are performed a
 *  few at a time. Everything that waits for the main thread or the database then waits behind a few requests of each
 *  organization, not behind all of a burst. */
export interface OrganizationTurns {
  /** Performs `work` at once, or after earlier requests of the organization. `bodyBytes` is the size of the body: large
   *  requests have turns of their own, so that small ones do not wait for them. The turn ends with `work`, or when it
   *  calls `endTurn`. Settles as `work` does. */
  run<T>(organizationId: string, bodyBytes: number, work: (endTurn: () => void) => Promise<T>): Promise<T>
}

/** Creates OrganizationTurns without requests. Takes a clock of steady time in ms. */
export function createOrganizationTurns(now: () => number): OrganizationTurns {
  const recentOthers = createRecentOthers(now, SHARED_MS)
  const lines = new Map<string, Line>()

  const begin = async (organizationId: string, bodyBytes: number): Promise<() => void> => {
    const isLarge = bodyBytes >= LARGE_BYTES
    const most = isLarge ? MOST_LARGE : MOST
    const name = isLarge ? `${organizationId} large` : organizationId
    const line = lines.get(name) ?? { underWay: 0, waiting: [] }
    lines.set(name, line)
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
      if (line.underWay === 0) lines.delete(name)
    }
  }

  const inTurn = async <T>(
    organizationId: string,
    bodyBytes: number,
    work: (endTurn: () => void) => Promise<T>,
  ): Promise<T> => {
    const endTurn = await begin(organizationId, bodyBytes)
    try {
      return await work(endTurn)
    } finally {
      endTurn()
    }
  }

  return {
    run: (organizationId, bodyBytes, work) => {
      // An organization alone pays nothing for turns.
      return recentOthers.than(organizationId) ? inTurn(organizationId, bodyBytes, work) : work(() => {})
    },
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
