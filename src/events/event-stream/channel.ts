import type { Clock } from '../../os/clock.ts'
import { createLoop } from '../../os/loop.ts'
import type { Notifier } from '../../os/notifier.ts'
import type { Events, Place } from '../../storage/store.ts'
import { createRecent, type Recent } from './recent.ts'
import { filterOf } from './wanted.ts'

/** The followers of one organization and its newest events. */
export interface Channel {
  followers: number
  /** Null before the first read of the store. */
  recent(): Recent | null
  /** Resolves when there may be events after a position, or when the function given to `onWait` is called. */
  news(place: Place, onWait: (resolve: () => void) => void): Promise<void>
  close(): void
}

export interface ChannelDeps {
  events: Pick<Events, 'follow' | 'newest'>
  clock: Clock
  lookMs: number
  /** Reports new events of this process; absent: they too are found by polling. */
  on?: Notifier['on']
}

/** Opens a Channel. It reads the store at each notification and every `lookMs` until it is closed. */
export function openChannel(organizationId: string, { events, clock, lookMs, on }: ChannelDeps): Channel {
  const all = filterOf({ organizationId, types: null, messageId: null, domainId: null, mode: null })
  const waiting = new Set<() => void>()
  let recent: Recent | null = null

  const tick = async () => {
    const now = recent ?? createRecent((await events.newest(organizationId))?.place ?? '', BOUNDS)
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
  // Followers get the store's error from their own read; this loop just tries again.
  const loop = createLoop({ clock, idleMs: lookMs, tick, onError: () => {} })
  loop.start()
  const stopListening = on?.(`events of ${organizationId}`, loop.wake)
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
    close: () => {
      stopListening?.()
      void loop.stop()
    },
  }
}

/** Events per read of the store. */
export const PAGE = 100
/** Newest events kept per organization: half a second at 1,000 events per second. */
const BOUNDS = { maxEvents: 500, maxCharacters: 256 * 1024 }

/** Yields to the event loop. */
export const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))
