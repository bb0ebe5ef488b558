/** When each key (a destination, a webhook) next has something due: what lets a claim step over a backlog of
 *  keys that have no room without touching their rows. A memory of what the due index holds, rebuilt from it at
 *  start; a time too early costs one empty look, a time too late would lose work and never happens. */
export interface Agenda {
  /** The key has something due at `at`, perhaps earlier than known. */
  offer(key: string, at: number): void
  /** The key's next due time is now exactly `at`; null = nothing waits. */
  set(key: string, at: number | null): void
  /** The key that has been due longest at `now` and has room, taken off the agenda (give it back with set);
   *  null when there is none. */
  take(now: number, hasRoom: (key: string) => boolean): string | null
  /** The earliest due time among keys with room; null when there is none. */
  nextAt(hasRoom: (key: string) => boolean): number | null
  clear(): void
}

/** Entries beyond two a key before the heap is made anew. */
const SPARE = 64

interface Entry {
  key: string
  at: number
}

export function createAgenda(): Agenda {
  const times = new Map<string, number>()
  /** Keys found without room: out of the heap until they have some. */
  const parked = new Set<string>()
  let heap: Entry[] = []

  const push = (key: string, at: number) => {
    times.set(key, at)
    if (parked.has(key)) return
    pushEntry(heap, { key, at })
    if (heap.length > 2 * times.size + SPARE) dropStale()
  }
  /** Leases push an entry a claim whose time lies far ahead; without this they would pile up until it comes. */
  const dropStale = () => {
    heap = []
    for (const [key, at] of times) if (!parked.has(key)) pushEntry(heap, { key, at })
  }
  const unpark = (hasRoom: (key: string) => boolean) => {
    for (const key of parked) {
      if (!hasRoom(key)) continue
      parked.delete(key)
      const at = times.get(key)
      if (at !== undefined) pushEntry(heap, { key, at })
    }
  }
  /** The earliest entry that is still true and has room, left on the heap. */
  const first = (hasRoom: (key: string) => boolean): Entry | null => {
    unpark(hasRoom)
    for (;;) {
      const top = heap[0]
      if (top === undefined) return null
      const isStale = times.get(top.key) !== top.at || parked.has(top.key)
      if (!isStale && hasRoom(top.key)) return top
      if (!isStale) parked.add(top.key)
      popEntry(heap)
    }
  }

  return {
    offer: (key, at) => {
      const known = times.get(key)
      if (known === undefined || at < known) push(key, at)
    },
    set: (key, at) => {
      if (at === null) times.delete(key)
      else if (times.get(key) !== at) push(key, at)
    },
    take: (now, hasRoom) => {
      const entry = first(hasRoom)
      if (entry === null || entry.at > now) return null
      popEntry(heap)
      times.delete(entry.key)
      return entry.key
    },
    nextAt: (hasRoom) => first(hasRoom)?.at ?? null,
    clear: () => {
      times.clear()
      parked.clear()
      heap = []
    },
  }
}

/** When a key has something due, as the due index says. */
export interface DueTime {
  key: string
  at: number
}

/** Forgets everything and takes up what the due index holds. */
export function refill(agenda: Agenda, times: readonly DueTime[]): void {
  agenda.clear()
  for (const { key, at } of times) agenda.offer(key, at)
}

function pushEntry(heap: Entry[], entry: Entry): void {
  let at = heap.length
  heap.push(entry)
  while (at > 0) {
    const parent = (at - 1) >> 1
    if (heap[parent]!.at <= entry.at) break
    heap[at] = heap[parent]!
    at = parent
  }
  heap[at] = entry
}

function popEntry(heap: Entry[]): void {
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && heap[child + 1]!.at < heap[child]!.at) child++
    if (heap[child]!.at >= last.at) break
    heap[at] = heap[child]!
    at = child
  }
  heap[at] = last
}
