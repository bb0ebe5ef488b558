import type { DueIndex } from '../due-index.ts'

/** A due index of the keys that this node handles: `elsewhere` gets offers of others, for their nodes. */
export function routedIndex(
  index: DueIndex,
  {
    homeOf,
    owns,
    elsewhere,
  }: { homeOf: (key: string) => number; owns: (slot: number) => boolean; elsewhere: (key: string, at: number) => void },
): DueIndex {
  return {
    ...index,
    offer: (key, at) => {
      if (owns(homeOf(key))) index.offer(key, at)
      else elsewhere(key, at)
    },
  }
}
