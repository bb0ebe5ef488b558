import { createAllocation } from '../allocation.ts'
import type { Blocker, ClaimLimits, PlannedKey, PlanRequest } from '../store.ts'

/** When each key (a destination, a webhook) next has something due: what lets a claim step over a backlog of
 *  keys that have no capacity without touching their rows. A memory of what the due index holds, rebuilt from it at
 *  start; a time too early costs one empty look, a time too late would lose work and never happens.
 *
 *  A key without capacity steps aside: behind a named blocker until somebody says that this one is freed or its time has
 *  come, and then one key of those behind it is looked at, and the next only when that one could go. So a look costs
 *  what it finds and not what waits. A key refused without a name is looked at again at every look. */
export interface DueIndex {
  /** The key has something due at `at`, perhaps earlier than known. */
  offer(key: string, at: number): void
  /** The key's next due time is now exactly `at`; null = nothing waits. */
  set(key: string, at: number | null): void
  /** The key that has been due longest at `now` and has capacity, taken off the index (give it back with set);
   *  null when there is none. */
  take(now: number, look: IndexLook): string | null
  /** The earliest due time among keys with capacity, or the end of a blocker; null when there is neither. Keys that are
   *  due after `now` count without being looked at. */
  nextAt(look: IndexLook, now?: number): number | null
  /** Takes the keys off that a claim may take something of, longest due first, by what `look` says of each and on the
   *  assumption that the claim finds one delivery of every key before it. Keys that lack capacity only by that assumption wait
   *  behind the quota's name and are looked at again at the next look. The claim has to put every key back. */
  plan(request: PlanRequest): PlannedKey[]
  /** The keys of a plan that was not claimed go back. */
  putBack(plan: readonly PlannedKey[]): void
  /** A planned key goes back untouched: its quota `blocker` was used up by others. One that is known by now stays. */
  putBehind(key: string, at: number, blocker: string): void
  /** As `set`, but behind all that wait for `blocker`: a key that used up a quota lets the others go first. The first of
   *  them is looked at next, so nothing waits to be freed. */
  setBehind(key: string, at: number, blocker: string): void
  /** What stood behind the blocker may have capacity. */
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

/** Returns an empty index. */
export function createDueIndex(): DueIndex {
  const index = new Index()
  return {
    offer: (key, at) => index.offer(key, at),
    set: (key, at) => index.set(key, at),
    take: (now, look) => index.take(now, look),
    nextAt: (look, now) => index.nextAt(look, now),
    plan: (request) => index.plan(request),
    putBack: (plan) => index.putBack(plan),
    putBehind: (key, at, blocker) => index.putBehind(key, at, blocker),
    setBehind: (key, at, blocker) => index.setBehind(key, at, blocker),
    freed: (blocker) => index.freed(blocker),
    clear: () => index.clear(),
  }
}

class Index implements DueIndex {
  readonly #times = new Map<string, number>()
  readonly #parked = new Map<string, Queue>()
  readonly #queues = new Map<string, Queue>()
  readonly #unnamed = new Set<Queue>()
  #heap: Entry[] = []
  /** Time of the last look (ms UTC). */
  #lookedAt = Number.NEGATIVE_INFINITY

  offer(key: string, at: number): void {
    const known = this.#times.get(key)
    if (known === undefined || at < known) this.#push(key, at)
  }

  set(key: string, at: number | null): void {
    if (at === null) {
      this.#times.delete(key)
      this.#parked.delete(key)
    } else if (this.#times.get(key) !== at || this.#parked.has(key)) this.#push(key, at)
  }

  take(now: number, look: IndexLook): string | null {
    const entry = this.#first(look, now)
    if (entry === null || entry.when > now) return null
    popEntry(this.#heap)
    this.#times.delete(entry.key)
    this.#parked.delete(entry.key)
    this.#goOn(entry)
    return entry.key
  }

  nextAt(look: IndexLook, now = Number.POSITIVE_INFINITY): number | null {
    return this.#first(look, now)?.when ?? null
  }

  plan({ now, limit, look }: PlanRequest): PlannedKey[] {
    const draft = createAllocation(limit)
    const planned: PlannedKey[] = []
    const full = new Set<string>()
    const last: { answer: { limits: ClaimLimits; at: number } | null } = { answer: null }
    const lookAtDraft: IndexLook = (key, at) => {
      const answer = look(key, at)
      if (answer === false || 'name' in answer) return answer
      const name = draft.blockedBy(answer.quotas)
      if (name === null) {
        last.answer = { limits: answer, at }
        return true
      }
      full.add(name)
      return { name, until: null }
    }
    try {
      while (planned.length < limit) {
        const key = this.take(now, lookAtDraft)
        if (key === null || last.answer === null) break
        const { limits, at: dueAt } = last.answer
        draft.took(limits.quotas, 1)
        planned.push({ key, dueAt, dueUntil: limits.dueUntil ?? now, quotas: limits.quotas })
      }
    } catch (error) {
      this.putBack(planned)
      throw error
    } finally {
      for (const name of full) this.freed(name)
    }
    return planned
  }

  putBack(plan: readonly PlannedKey[]): void {
    for (const { key, dueAt } of plan) this.offer(key, dueAt)
  }

  putBehind(key: string, at: number, blocker: string): void {
    const known = this.#times.get(key)
    if (known === undefined || known > at) this.setBehind(key, at, blocker)
  }

  setBehind(key: string, at: number, blocker: string): void {
    this.#times.set(key, at)
    this.#parked.delete(key)
    this.#park(key, { name: blocker, until: null })
    this.freed(blocker)
  }

  freed(name: string): void {
    const queue = this.#queues.get(name)
    if (queue !== undefined) this.#open(queue, Number.NEGATIVE_INFINITY)
  }

  clear(): void {
    this.#times.clear()
    this.#parked.clear()
    this.#queues.clear()
    this.#unnamed.clear()
    this.#heap = []
  }

  // ── the heap ──

  #push(key: string, at: number): void {
    this.#times.set(key, at)
    this.#parked.delete(key)
    pushEntry(this.#heap, { key, at, when: at, of: null })
    if (this.#heap.length > 2 * this.#times.size + SPARE) this.#dropStale()
  }

  /** Deferrals push an entry each whose time lies far ahead; without this they would pile up until it comes. */
  #dropStale(): void {
    const open = this.#heap.filter((entry) => entry.of !== null)
    this.#heap = []
    for (const [key, at] of this.#times) {
      if (!this.#parked.has(key)) pushEntry(this.#heap, { key, at, when: at, of: null })
    }
    for (const entry of open) {
      if (this.#isStale(entry)) this.#goOn(entry)
      else pushEntry(this.#heap, entry)
    }
  }

  #isStale({ key, at, of }: Entry): boolean {
    return this.#times.get(key) !== at || (this.#parked.get(key) ?? null) !== of
  }

  /** The earliest entry that is still true and has capacity, left on the heap. */
  #first(look: IndexLook, now: number): Entry | null {
    if (now < this.#lookedAt) this.#lookAtBlockersAgain()
    if (Number.isFinite(now)) this.#lookedAt = now
    for (const queue of [...this.#unnamed]) this.#open(queue, Number.NEGATIVE_INFINITY)
    for (;;) {
      const top = this.#heap[0]
      if (top === undefined) return null
      if (this.#isStale(top)) {
        popEntry(this.#heap)
        this.#goOn(top)
        continue
      }
      if (top.when > now) return top
      const answer = look(top.key, top.at)
      if (answer === true) return top
      popEntry(this.#heap)
      if (top.of !== null) top.of.isOpen = false
      this.#park(top.key, answer)
      if (top.of !== null && this.#parked.get(top.key) !== top.of) this.#open(top.of, Number.NEGATIVE_INFINITY)
    }
  }

  /** The clock was set back: when a blocker ends was said by a clock that was ahead. */
  #lookAtBlockersAgain(): void {
    const entries = this.#heap
    this.#heap = []
    for (const entry of entries) pushEntry(this.#heap, entry.of === null ? entry : { ...entry, when: entry.at })
  }

  // ── keys behind blockers ──

  #park(key: string, blocker: Blocker | false): void {
    const name = blocker === false ? `${UNNAMED}${key}` : blocker.name
    let queue = this.#queues.get(name)
    if (queue === undefined) {
      queue = { name, isNamed: blocker !== false, keys: [], head: 0, isOpen: false }
      this.#queues.set(name, queue)
      if (!queue.isNamed) this.#unnamed.add(queue)
    }
    // Whoever stood for the others and could not go keeps its place in front.
    if (this.#parked.get(key) === queue && queue.head > 0) queue.keys[--queue.head] = key
    else queue.keys.push(key)
    this.#parked.set(key, queue)
    if (blocker !== false && blocker.until !== null) this.#open(queue, blocker.until)
  }

  /** The first of the queue goes on the heap for all. */
  #open(queue: Queue, when: number): void {
    while (!queue.isOpen && queue.head < queue.keys.length) {
      const key = queue.keys[queue.head++]
      const at = key === undefined ? undefined : this.#times.get(key)
      if (key === undefined || at === undefined || this.#parked.get(key) !== queue) continue
      queue.isOpen = true
      pushEntry(this.#heap, { key, at, when: Math.max(at, when), of: queue })
    }
    if (queue.head * 2 > queue.keys.length) {
      queue.keys = queue.keys.slice(queue.head - Math.min(queue.head, 1))
      queue.head = Math.min(queue.head, 1)
    }
    if (queue.isOpen || queue.head < queue.keys.length) return
    this.#queues.delete(queue.name)
    this.#unnamed.delete(queue)
  }

  /** The one that stood for its queue does so no longer: the next may try. */
  #goOn({ of }: Entry): void {
    if (of === null) return
    of.isOpen = false
    this.#open(of, Number.NEGATIVE_INFINITY)
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
    const above = heap[parent]
    if (above === undefined || above.when <= entry.when) break
    heap[at] = above
    at = parent
  }
  heap[at] = entry
}

function popEntry(heap: Entry[]): void {
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return
  let at = 0
  for (;;) {
    const left = 2 * at + 1
    const child = isEarlier(heap, left + 1, left) ? left + 1 : left
    const below = child < heap.length ? heap[child] : undefined
    if (below === undefined || below.when >= last.when) break
    heap[at] = below
    at = child
  }
  heap[at] = last
}

/** Whether there is an entry at `right`, and it comes before the one at `left`. */
function isEarlier(heap: readonly Entry[], right: number, left: number): boolean {
  if (right >= heap.length) return false
  const one = heap[right]
  const other = heap[left]
  return one !== undefined && other !== undefined && one.when < other.when
}
