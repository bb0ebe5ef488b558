/** Events that followers cannot see yet, since another node may still write one before them. */
export interface UnseenEvents {
  /** An organization has an event at this place. */
  add(organizationId: string, place: number): void
  /** Reports those that followers can see now. */
  show(): void
}

/** `passed`: the place up to which followers see everything. Nothing is kept while nobody follows. */
export function createUnseenEvents(options: {
  passed: () => number
  follows: () => boolean
  onVisible: (organizationId: string) => void
}): UnseenEvents {
  const { passed, follows, onVisible } = options
  /** Of each organization: followers can see more from `first` on, and everything from `last` on. */
  const unseen = new Map<string, { first: number; last: number }>()
  const show = () => {
    if (unseen.size === 0) return
    const upTo = passed()
    for (const [organizationId, { first, last }] of unseen) {
      if (first > upTo) continue
      // Events that keep coming must not hide those before them.
      if (last <= upTo) unseen.delete(organizationId)
      else unseen.set(organizationId, { first: upTo + 1, last })
      onVisible(organizationId)
    }
  }
  return {
    add: (organizationId, place) => {
      if (!follows()) return
      const { first, last } = unseen.get(organizationId) ?? { first: place, last: place }
      unseen.set(organizationId, { first: Math.min(place, first), last: Math.max(place, last) })
      show()
    },
    show,
  }
}
