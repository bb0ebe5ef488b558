/** The order in which owners are served: of those that wait, the one served longest ago goes first. */
export interface OwnerTurns {
  /** Tasks in order of arrival → the same tasks, one per owner in turn, the owner served longest ago first. */
  inTurn<T>(tasks: T[], ownerOf: (task: T) => string): T[]
  /** A task of this owner is served now. */
  took(owner: string): void
}

/** Creates OwnerTurns without served owners. It tracks about 10,000 owners, then starts over. */
export function createOwnerTurns(): OwnerTurns {
  const servedAt = new Map<string, number>()
  let turns = 0
  return {
    inTurn: (tasks, ownerOf) => {
      const byOwner = Map.groupBy(tasks, ownerOf)
      if (byOwner.size < 2) return tasks
      const queues = [...byOwner]
        .sort(([a], [b]) => (servedAt.get(a) ?? 0) - (servedAt.get(b) ?? 0))
        .map(([, queue]) => queue)
      const ordered: typeof tasks = []
      for (let round = 0; ordered.length < tasks.length; round++) {
        ordered.push(...queues.flatMap((queue) => queue.slice(round, round + 1)))
      }
      return ordered
    },
    took: (owner) => {
      if (servedAt.size > MOST_OWNERS) servedAt.clear()
      servedAt.set(owner, ++turns)
    },
  }
}

const MOST_OWNERS = 10_000
