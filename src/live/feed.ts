import type { Event, EventType } from '../model/event.ts'
import type { Mode } from '../model/message.ts'
import type { Clock } from '../platform/clock.ts'
import { createLoop } from '../platform/loop.ts'
import type { EventFilter, Events, Place } from '../storage/store.ts'
import { createRecent, type Recent } from './recent.ts'

/** Events as they are told, for whoever follows them.
 *
 *  A follower is a place and nothing else. Those who keep up share the newest events of their organization, which are
 *  read from the store once for all of them; whoever is further behind reads the store at its own pace. So nothing is
 *  queued for anybody: a slow one costs no memory and holds up nobody, and none misses an event or gets it twice. */
export interface Feed {
  follow(wanted: Wanted, from: Start): Follower
  /** There are new events of that organization. Cheap when nobody follows it. */
  ring(organizationId: string): void
}

/** What a follower is told of; null = whatever it is. */
export interface Wanted {
  organizationId: string
  types: readonly EventType[] | null
  messageId: string | null
  domainId: string | null
  mode: Mode | null
}

/** Behind which event a follower begins; `id` null = there is none before. */
export interface Start {
  id: string | null
  place: Place
}

export interface Follower {
  /** The next events, oldest first: at least one, once there is one; none when it was ended. One call at a time. Rejects
   *  with what the store throws; asked again, it goes on where it was. */
  next(): Promise<Event[]>
  /** The event to go on behind, if this one ends now: whatever it wants up to there was answered, in calls of `next`
   *  before the last one. */
  passed(): string | null
  end(): void
}

/** The store's events → Feed. What other processes write rings no bell: it is noticed after `lookMs` at the latest, as
 *  long as somebody follows. */
export function createFeed(deps: FeedDeps): Feed {
  const channels = new Map<string, Channel>()
  const enter = (organizationId: string): Channel => {
    const channel = channels.get(organizationId) ?? openChannel(organizationId, deps)
    channels.set(organizationId, channel)
    channel.followers++
    return channel
  }
  const leave = (organizationId: string, channel: Channel) => {
    channel.followers--
    if (channel.followers > 0) return
    channels.delete(organizationId)
    channel.close()
  }

  return {
    ring: (organizationId) => channels.get(organizationId)?.look(),
    follow: (wanted, from) => {
      const channel = enter(wanted.organizationId)
      const filter = filterOf(wanted)
      let { place, id: passed } = from
      let seen = passed
      let isEnded = false
      let wake = () => {}

      /** What is there now; moves on. */
      const take = async (): Promise<Event[]> => {
        const recent = channel.recent()?.behind(place) ?? null
        if (recent !== null) {
          place = Math.max(place, channel.recent()!.upTo())
          seen = recent.at(-1)?.id ?? seen
          return recent.filter((event) => isWanted(event, wanted))
        }
        const page = await deps.events.follow(filter, place, PAGE)
        place = page.upTo
        seen = page.events.at(-1)?.id ?? seen
        await nextTurn() // whoever reads years of events shares the thread
        return page.events.filter((event) => isWanted(event, wanted))
      }

      return {
        next: async () => {
          passed = seen
          while (!isEnded) {
            const events = await take()
            if (isEnded) break
            if (events.length > 0) return events
            passed = seen
            await channel.news(place, (resolve) => {
              wake = resolve
            })
          }
          return []
        },
        passed: () => passed,
        end: () => {
          if (isEnded) return
          isEnded = true
          leave(wanted.organizationId, channel)
          wake()
        },
      }
    },
  }
}

interface FeedDeps {
  events: Pick<Events, 'follow' | 'newest'>
  clock: Clock
  lookMs: number
}

/** One organization with its followers. */
interface Channel {
  followers: number
  /** Null until it is known where the present begins. */
  recent(): Recent | null
  /** Resolves once there may be something behind a place, or by what `onWait` is given. */
  news(place: Place, onWait: (resolve: () => void) => void): Promise<void>
  /** There is something new. */
  look(): void
  close(): void
}

function openChannel(organizationId: string, { events, clock, lookMs }: FeedDeps): Channel {
  const all = filterOf({ organizationId, types: null, messageId: null, domainId: null, mode: null })
  const waiting = new Set<() => void>()
  let recent: Recent | null = null

  const tick = async () => {
    const isFirst = recent === null
    const now = recent ?? createRecent((await events.newest(organizationId))?.place ?? 0, BOUNDS)
    recent = now
    for (let isMore = true; isMore; ) {
      const page = await events.follow(all, now.upTo(), PAGE)
      const isMoved = isFirst || page.upTo > now.upTo()
      now.add(page)
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
const PAGE = 100
/** Of the newest so much is kept for all who follow an organization: half a second of a thousand events a second. */
const BOUNDS = { maxEvents: 500, maxCharacters: 256 * 1024 }

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** The store knows one type or all; of several it is asked for all. */
function filterOf({ organizationId, types, messageId, domainId, mode }: Wanted): EventFilter {
  const type = types?.length === 1 ? types[0]! : null
  return { organizationId, type, messageId, domainId, mode, createdAfter: null, createdBefore: null }
}

function isWanted({ type, messageId, domainId, mode }: Event, wanted: Wanted): boolean {
  return (
    (wanted.types === null || wanted.types.includes(type)) &&
    (wanted.messageId === null || wanted.messageId === messageId) &&
    (wanted.domainId === null || wanted.domainId === domainId) &&
    (wanted.mode === null || wanted.mode === mode)
  )
}
