import type { Event } from '../../model/event.ts'
import type { Place } from '../../storage/store.ts'
import { type Channel, type ChannelDeps, nextTurn, openChannel, PAGE } from './channel.ts'
import { filterOf, isWanted, type Wanted } from './wanted.ts'

/** Live events of organizations.
 *
 *  A follower is only a position. Followers that keep up share the newest events of their organization, read from the
 *  store once for all of them. A follower that falls behind reads the store at its own speed. Nothing is queued per
 *  follower, so slow clients cost no memory and do not delay others. No event is skipped or repeated. */
export interface EventStream {
  follow(wanted: Wanted, from: Start): Follower
}

/** The event after which a follower starts; `id` is null if there is none before. */
export interface Start {
  id: string | null
  place: Place
}

export interface Follower {
  /** Resolves with the next events, oldest first, once there is at least one; empty after `end`. Call it once at a time.
   *  Rejects with the store's error; the next call continues at the same position. */
  next(): Promise<Event[]>
  /** The event to resume after if the follower ends now. Matching events up to it were returned by earlier calls of `next`. */
  passed(): string | null
  end(): void
}

/** Creates the EventStream. Events that other processes write are found by polling every `lookMs` while there are
 *  followers. */
export function createEventStream(deps: ChannelDeps): EventStream {
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
    follow: (wanted, from) => {
      const channel = enter(wanted.organizationId)
      const filter = filterOf(wanted)
      let { place, id: passed } = from
      let seen = passed
      let isEnded = false
      let wake = () => {}

      /** Reads what is available now and advances the position. */
      const take = async (): Promise<Event[]> => {
        const recent = channel.recent()?.behind(place) ?? null
        if (recent !== null) {
          const upTo = channel.recent()!.upTo()
          if (place < upTo) place = upTo
          seen = recent.at(-1)?.id ?? seen
          return recent.filter((event) => isWanted(event, wanted))
        }
        const page = await deps.events.follow(filter, place, PAGE)
        place = page.upTo
        seen = page.events.at(-1)?.id ?? seen
        await nextTurn() // yields, since a follower may read years of events
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
