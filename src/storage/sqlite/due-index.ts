import type { Obstacle } from '../store.ts'

/** When each key (a destination, a webhook) next has something due: what lets a claim step over a backlog of
 *  keys that have no room without touching their rows. A memory of what the due index holds, rebuilt from it at
 *  start; a time too early costs one empty look, a time too late would lose work and never happens.
 *
 *  A key without room steps aside: behind a named obstacle until somebody says that this one is freed or its time has
 *  come, and then one key of those behind it is looked at, and the next only when that one could go. So a look costs
 *  what it finds and not what waits. A key refused without a name is looked at again at every look. */
export interface Agenda {
  /** The key has something due at `at`, perhaps earlier than known. */
  offer(key: string, at: number): void
  /** The key's next due time is now exactly `at`; null = nothing waits. */
  set(key: string, at: number | null): void
  /** The key that has been due longest at `now` and has room, taken off the agenda (give it back with set);
   *  null when there is none. */
  take(now: number, look: Look): string | null
  /** The earliest due time among keys with room, or the end of an obstacle; null when there is neither. Keys that are
   *  due after `now` count without being looked at. */
  nextAt(look: Look, now?: number): number | null
  /** What stood behind the obstacle may have room. */
  freed(obstacle: string): void
  clear(): void
}

/** May something of this key, due since `at`, go? */
export type Look = (key: string, at: number) => boolean | Obstacle

/** Entries beyond two a key before the heap is made anew. */
const SPARE = 64

interface Entry {
  key: string
  /** The key's due time when this was written; another one by now = stale. */
  at: number
  /** When to look at it. */
  when: number
  /** It stands for all keys behind this obstacle. */
  of: Queue | null
}

/** Keys behind one obstacle, in the order they came. */
interface Queue {
  name: string
  isNamed: boolean
  keys: string[]
  head: number
  /** One of them is on the heap. */
  isOpen: boolean
}

export function createAgenda(): Agenda {
  const times = new Map<string, number>()
  const parked = new Map<string, Queue>()
  const queues = new Map<string, Queue>()
  const unnamed = new Set<Queue>()
  let heap: Entry[] = []

  const push = (key: string, at: number) => {
    times.set(key, at)
    parked.delete(key)
    pushEntry(heap, { key, at, when: at, of: null })
    if (heap.length > 2 * times.size + SPARE) dropStale()
  }
  /** Leases push an entry a claim whose time lies far ahead; without this they would pile up until it comes. */
  const dropStale = () => {
    const open = heap.filter((entry) => entry.of !== null)
    heap = []
    for (const [key, at] of times) if (!parked.has(key)) pushEntry(heap, { key, at, when: at, of: null })
    for (const entry of open) {
      if (isStale(entry)) goOn(entry)
      else pushEntry(heap, entry)
    }
  }
  const isStale = ({ key, at, of }: Entry) => times.get(key) !== at || (parked.get(key) ?? null) !== of

  const park = (key: string, obstacle: Obstacle | false) => {
    const name = obstacle === false ? `key ${key}` : obstacle.name
    let queue = queues.get(name)
    if (queue === undefined) {
      queue = { name, isNamed: obstacle !== false, keys: [], head: 0, isOpen: false }
      queues.set(name, queue)
      if (!queue.isNamed) unnamed.add(queue)
    }
    // Whoever stood for the others and could not go keeps its place in front.
    if (parked.get(key) === queue && queue.head > 0) queue.keys[--queue.head] = key
    else queue.keys.push(key)
    parked.set(key, queue)
    if (obstacle !== false && obstacle.until !== null) open(queue, obstacle.until)
  }
  /** The first of the queue goes on the heap for all. */
  const open = (queue: Queue, when: number) => {
    while (!queue.isOpen && queue.head < queue.keys.length) {
      const key = queue.keys[queue.head++]!
      const at = times.get(key)
      if (at === undefined || parked.get(key) !== queue) continue
      queue.isOpen = true
      pushEntry(heap, { key, at, when: Math.max(at, when), of: queue })
    }
    if (queue.head * 2 > queue.keys.length) {
      queue.keys = queue.keys.slice(queue.head - Math.min(queue.head, 1))
      queue.head = Math.min(queue.head, 1)
    }
    if (queue.isOpen || queue.head < queue.keys.length) return
    queues.delete(queue.name)
    unnamed.delete(queue)
  }
  /** The one that stood for its queue does so no longer: the next may try. */
  const goOn = ({ of }: Entry) => {
    if (of === null) return
    of.isOpen = false
    open(of, Number.NEGATIVE_INFINITY)
  }
  /** The earliest entry that is still true and has room, left on the heap. */
  const first = (look: Look, now: number): Entry | null => {
    for (const queue of [...unnamed]) open(queue, Number.NEGATIVE_INFINITY)
    for (;;) {
      const top = heap[0]
      if (top === undefined) return null
      if (isStale(top)) {
        popEntry(heap)
        goOn(top)
        continue
      }
      if (top.when > now) return top
      const answer = look(top.key, top.at)
      if (answer === true) return top
      popEntry(heap)
      if (top.of !== null) top.of.isOpen = false
      park(top.key, answer)
      if (top.of !== null && parked.get(top.key) !== top.of) open(top.of, Number.NEGATIVE_INFINITY)
    }
  }

  return {
    offer: (key, at) => {
      const known = times.get(key)
      if (known === undefined || at < known) push(key, at)
    },
    set: (key, at) => {
      if (at === null) {
        times.delete(key)
        parked.delete(key)
      } else if (times.get(key) !== at || parked.has(key)) push(key, at)
    },
    take: (now, look) => {
      const entry = first(look, now)
      if (entry === null || entry.when > now) return null
      popEntry(heap)
      times.delete(entry.key)
      parked.delete(entry.key)
      goOn(entry)
      return entry.key
    },
    nextAt: (look, now = Number.POSITIVE_INFINITY) => first(look, now)?.when ?? null,
    freed: (name) => {
      const queue = queues.get(name)
      if (queue !== undefined) open(queue, Number.NEGATIVE_INFINITY)
    },
    clear: () => {
      times.clear()
      parked.clear()
      queues.clear()
      unnamed.clear()
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
    if (heap[parent]!.when <= entry.when) break
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
    if (child + 1 < heap.length && heap[child + 1]!.when < heap[child]!.when) child++
    if (heap[child]!.when >= last.when) break
    heap[at] = heap[child]!
    at = child
  }
  heap[at] = last
}
