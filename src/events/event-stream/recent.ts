import type { Followed, Place } from '../../storage/store.ts'

/** The newest events of one organization in memory: bounded, without gaps, shared by its followers. */
export interface Recent {
  /** Position of the newest event added so far. */
  upTo(): Place
  add(page: Followed): void
  /** All events after a position, oldest first; null if some of them were dropped. */
  behind(place: Place): Followed['events'] | null
}

/** Creates an empty Recent that starts after a position. */
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
