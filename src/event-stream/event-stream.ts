import type { Event } from '../model/event.ts'
import type { Place } from '../storage/store.ts'
import { type Channel, type ChannelDeps, nextTurn, openChannel, PAGE } from './channel.ts'
import { filterOf, isWanted, type Wanted } from './wanted.ts'

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
export function createFeed(deps: ChannelDeps): Feed {
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
