import type { Clock } from '../os/clock.ts'
import { createLoop } from '../os/loop.ts'
import type { Events, Place } from '../storage/store.ts'
import { createRecent, type Recent } from './recent.ts'
import { filterOf } from './wanted.ts'

/** One organization with its followers. */
export interface Channel {
  followers: number
  /** Null until it is known where the present begins. */
  recent(): Recent | null
  /** Resolves once there may be something behind a place, or by what `onWait` is given. */
  news(place: Place, onWait: (resolve: () => void) => void): Promise<void>
  /** There is something new. */
  look(): void
  close(): void
}

export interface ChannelDeps {
  events: Pick<Events, 'follow' | 'newest'>
  clock: Clock
  lookMs: number
}

/** An organization → its newest events, read from the store at each bell and every `lookMs`, until closed. */
export function openChannel(organizationId: string, { events, clock, lookMs }: ChannelDeps): Channel {
  const all = filterOf({ organizationId, types: null, messageId: null, domainId: null, mode: null })
  const waiting = new Set<() => void>()
  let recent: Recent | null = null

  const tick = async () => {
    const now = recent ?? createRecent((await events.newest(organizationId))?.place ?? 0, BOUNDS)
    for (let isMore = true; isMore; ) {
      const page = await events.follow(all, now.upTo(), PAGE)
      const isMoved = recent === null || page.upTo > now.upTo()
      now.add(page)
      recent = now
      if (isMoved) for (const wake of waiting) wake()
      isMore = page.events.length === PAGE
      if (isMore) await nextTurn()
    }
    return null
  }
  // What keeps the store from being read is told to each follower when it asks; here the next look tries again.
  const loop = createLoop({ clock, idleMs: lookMs, tick, onError: () => {} })
  loop.start()
  return {
    followers: 0,
    recent: () => recent,
    news: async (place, onWait) => {
      if (recent !== null && place < recent.upTo()) return
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.add(resolve)
      onWait(resolve)
      await promise
      waiting.delete(resolve)
    },
    look: loop.wake,
    close: () => void loop.stop(),
  }
}

/** Read from the store at once. */
export const PAGE = 100
/** Of the newest so much is kept for all who follow an organization: half a second of a thousand events a second. */
const BOUNDS = { maxEvents: 500, maxCharacters: 256 * 1024 }

/** Lets everybody else have a turn. */
export const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))
