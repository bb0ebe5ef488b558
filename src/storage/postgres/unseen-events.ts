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
  /** The place of the last event of each organization. */
  const unseen = new Map<string, number>()
  const show = () => {
    if (unseen.size === 0) return
    const upTo = passed()
    for (const [organizationId, place] of unseen) {
      if (place > upTo) continue
      unseen.delete(organizationId)
      onVisible(organizationId)
    }
  }
  return {
    add: (organizationId, place) => {
      if (!follows()) return
      unseen.set(organizationId, Math.max(place, unseen.get(organizationId) ?? 0))
      show()
    },
    show,
  }
}
