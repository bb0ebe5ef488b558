import { createAllocation } from '../allocation.ts'
import type { Blocker, ClaimLimits, PlannedKey, PlanRequest } from '../store.ts'

/** When each key (a destination, a webhook) next has something due: what lets a claim step over a backlog of
 *  keys that have no room without touching their rows. A memory of what the due index holds, rebuilt from it at
 *  start; a time too early costs one empty look, a time too late would lose work and never happens.
 *
 *  A key without room steps aside: behind a named blocker until somebody says that this one is freed or its time has
 *  come, and then one key of those behind it is looked at, and the next only when that one could go. So a look costs
 *  what it finds and not what waits. A key refused without a name is looked at again at every look. */
export interface DueIndex {
  /** The key has something due at `at`, perhaps earlier than known. */
  offer(key: string, at: number): void
  /** The key's next due time is now exactly `at`; null = nothing waits. */
  set(key: string, at: number | null): void
  /** The key that has been due longest at `now` and has room, taken off the index (give it back with set);
   *  null when there is none. */
  take(now: number, look: IndexLook): string | null
  /** The earliest due time among keys with room, or the end of a blocker; null when there is neither. Keys that are
   *  due after `now` count without being looked at. */
  nextAt(look: IndexLook, now?: number): number | null
  /** Takes the keys off that a claim may take something of, longest due first, by what `look` says of each and on the
   *  assumption that the claim finds one delivery of every key before it. Keys that lack room only by that assumption wait
   *  behind the quota's name and are looked at again at the next look. The claim has to put every key back. */
  plan(request: PlanRequest): PlannedKey[]
  /** The keys of a plan that was not claimed go back. */
  putBack(plan: readonly PlannedKey[]): void
  /** A planned key goes back untouched: its quota `blocker` was used up by others. One that is known by now stays. */
  putBehind(key: string, at: number, blocker: string): void
  /** As `set`, but behind all that wait for `blocker`: a key that used up a quota lets the others go first. The first of
   *  them is looked at next, so nothing waits to be freed. */
  setBehind(key: string, at: number, blocker: string): void
  /** What stood behind the blocker may have room. */
  freed(blocker: string): void
  clear(): void
}

/** May something of this key, due since `at`, go? */
export type IndexLook = (key: string, at: number) => boolean | Blocker

/** `next_attempt_at` of a row that a worker holds: such a row is never due. The last millisecond of the year 9999. */
export const NO_END = 253_402_300_799_999

/** Entries beyond two a key before the heap is made anew. */
const SPARE = 64

/** Begins names that no blocker has. */
const UNNAMED = '\0'

interface Entry {
  key: string
  /** The key's due time when this was written; another one by now = stale. */
  at: number
  /** When to look at it. */
  when: number
  /** It stands for all keys behind this blocker. */
  of: Queue | null
}

/** Keys behind one blocker, in the order they came. */
interface Queue {
  name: string
  isNamed: boolean
  keys: string[]
  head: number
  /** One of them is on the heap. */
  isOpen: boolean
}

export function createDueIndex(): DueIndex {
  const times = new Map<string, number>()
  const parked = new Map<string, Queue>()
  const queues = new Map<string, Queue>()
  const unnamed = new Set<Queue>()
  let heap: Entry[] = []
  /** Time of the last look (ms UTC). */
  let lookedAt = Number.NEGATIVE_INFINITY

  const push = (key: string, at: number) => {
    times.set(key, at)
    parked.delete(key)
    pushEntry(heap, { key, at, when: at, of: null })
    if (heap.length > 2 * times.size + SPARE) dropStale()
  }
  /** Deferrals push an entry each whose time lies far ahead; without this they would pile up until it comes. */
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

  const park = (key: string, blocker: Blocker | false) => {
    const name = blocker === false ? `${UNNAMED}${key}` : blocker.name
    let queue = queues.get(name)
    if (queue === undefined) {
      queue = { name, isNamed: blocker !== false, keys: [], head: 0, isOpen: false }
      queues.set(name, queue)
      if (!queue.isNamed) unnamed.add(queue)
    }
    // Whoever stood for the others and could not go keeps its place in front.
    if (parked.get(key) === queue && queue.head > 0) queue.keys[--queue.head] = key
    else queue.keys.push(key)
    parked.set(key, queue)
    if (blocker !== false && blocker.until !== null) open(queue, blocker.until)
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
  /** The clock was set back: when a blocker ends was said by a clock that was ahead. */
  const lookAtBlockersAgain = () => {
    const entries = heap
    heap = []
    for (const entry of entries) pushEntry(heap, entry.of === null ? entry : { ...entry, when: entry.at })
  }
  /** The earliest entry that is still true and has room, left on the heap. */
  const first = (look: IndexLook, now: number): Entry | null => {
    if (now < lookedAt) lookAtBlockersAgain()
    if (Number.isFinite(now)) lookedAt = now
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

  const take = (now: number, look: IndexLook): string | null => {
    const entry = first(look, now)
    if (entry === null || entry.when > now) return null
    popEntry(heap)
    times.delete(entry.key)
    parked.delete(entry.key)
    goOn(entry)
    return entry.key
  }
  const freed = (name: string) => {
    const queue = queues.get(name)
    if (queue !== undefined) open(queue, Number.NEGATIVE_INFINITY)
  }
  const setBehind = (key: string, at: number, blocker: string) => {
    times.set(key, at)
    parked.delete(key)
    park(key, { name: blocker, until: null })
    freed(blocker)
  }
  const offer = (key: string, at: number) => {
    const known = times.get(key)
    if (known === undefined || at < known) push(key, at)
  }

  const putBack = (plan: readonly PlannedKey[]) => {
    for (const { key, dueAt } of plan) offer(key, dueAt)
  }

  return {
    offer,
    putBack,
    plan: ({ now, limit, look }) => {
      const draft = createAllocation(limit)
      const planned: PlannedKey[] = []
      const full = new Set<string>()
      let asked: { limits: ClaimLimits; at: number } | null = null
      const lookAtDraft: IndexLook = (key, at) => {
        const answer = look(key, at)
        if (answer === false || 'name' in answer) return answer
        const name = draft.blockedBy(answer.quotas)
        if (name === null) {
          asked = { limits: answer, at }
          return true
        }
        full.add(name)
        return { name, until: null }
      }
      try {
        while (planned.length < limit) {
          const key = take(now, lookAtDraft)
          if (key === null || asked === null) break
          const { limits, at: dueAt } = asked as { limits: ClaimLimits; at: number }
          draft.took(limits.quotas, 1)
          planned.push({ key, dueAt, dueUntil: limits.dueUntil ?? now, quotas: limits.quotas })
        }
      } catch (error) {
        putBack(planned)
        throw error
      } finally {
        for (const name of full) freed(name)
      }
      return planned
    },
    putBehind: (key, at, blocker) => {
      const known = times.get(key)
      if (known === undefined || known > at) setBehind(key, at, blocker)
    },
    setBehind,
    set: (key, at) => {
      if (at === null) {
        times.delete(key)
        parked.delete(key)
      } else if (times.get(key) !== at || parked.has(key)) push(key, at)
    },
    take,
    nextAt: (look, now = Number.POSITIVE_INFINITY) => first(look, now)?.when ?? null,
    freed,
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

/** Forgets everything and takes up the due times of keys that have more than held rows. */
export function refill(dueIndex: DueIndex, times: readonly DueTime[]): void {
  dueIndex.clear()
  for (const { key, at } of times) if (at < NO_END) dueIndex.offer(key, at)
}

/** The earliest `next_attempt_at` of a key → when it is due; null when it has nothing, or only held rows. */
export const dueTimeOf = (at: number | null): number | null => (at === NO_END ? null : at)

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
