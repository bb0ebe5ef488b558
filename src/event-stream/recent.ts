import type { Followed, Place } from '../storage/store.ts'

/** The newest events of one organization, in memory: bounded, without gaps, the same for all who follow. */
export interface Recent {
  /** Everything up to here is in it, or was. */
  upTo(): Place
  add(page: Followed): void
  /** All events behind a place, oldest first; null when some of them have been let go. */
  behind(place: Place): Followed['events'] | null
}

/** Begins empty, behind a place. */
export function createRecent(
  from: Place,
  { maxEvents, maxCharacters }: { maxEvents: number; maxCharacters: number },
): Recent {
  let events: Followed['events'] = []
  let begin = from
  let end = from
  let characters = 0
  return {
    upTo: () => end,
    add: (page) => {
      events.push(...page.events)
      end = page.upTo
      for (const { body } of page.events) characters += body.length
      let gone = 0
      while (characters > maxCharacters || events.length - gone > maxEvents) {
        const oldest = events[gone++]!
        begin = oldest.place
        characters -= oldest.body.length
      }
      if (gone > 0) events = events.slice(gone)
    },
    behind: (place) => {
      if (place < begin) return null
      const first = events.findLastIndex((event) => event.place <= place) + 1
      return first === 0 ? events : events.slice(first)
    },
  }
}
