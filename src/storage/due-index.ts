import { createAllocation } from './allocation.ts'
import type { Blocker, ClaimLimits, Look, PlannedKey, PlanRequest } from './roles/claims.ts'

/** Whether something of this key, due since `at`, may start. */
export type IndexLook = (key: string, at: number) => boolean | Blocker

/** Stale entries per heap, beyond two per key, before it is rebuilt. */
const SPARE = 64

/** Prefix that no blocker's name has. */
const UNNAMED = '\0'

interface Entry {
  key: string
  /** The key's due time when this was written; a different one now means stale. */
  at: number
  /** When to try it. */
  when: number
  /** The queue of a blocker for whose keys it stands; null for a single key. */
  of: Queue | null
}

/** Keys behind one blocker, in order of arrival. */
interface Queue {
  name: string
  isNamed: boolean
  keys: string[]
  head: number
  /** True if one of them is on the heap. */
  isOpen: boolean
}

/** Next due time of each key (a destination, a webhook), so that a claim skips a backlog of blocked keys without
 *  reading their rows. An in-memory copy of the due index in the database, rebuilt at start. A time that is too
 *  early costs one empty look; a time that is too late would delay work and never occurs.
 *
 *  A blocked key waits behind a named blocker until that is freed or its time has come. Then one of the keys behind
 *  it is tried, and the next one only if that could start. So a look costs what it finds and not what waits. A key
 *  that is refused without a name is tried again at every look. */
export class DueIndex {
  readonly #times = new Map<string, number>()
  readonly #parked = new Map<string, Queue>()
  readonly #queues = new Map<string, Queue>()
  readonly #unnamed = new Set<Queue>()
  #heap: Entry[] = []
  /** Time of the last look (ms UTC). */
  #lookedAt = Number.NEGATIVE_INFINITY

  /** The key has something due at `at`, perhaps earlier than known. */
  offer(key: string, at: number): void {
    const known = this.#times.get(key)
    if (known === undefined || at < known) this.#push(key, at)
  }

  /** When the key has something due; null = never, or a claim that uses it is under way. */
  dueAt(key: string): number | null {
    return this.#times.get(key) ?? null
  }

  /** Takes the key off the index that has been due longest at `now` and may start (return it with offer); null if
   *  there is none. */
  take(now: number, look: IndexLook): string | null {
    const entry = this.#first(look, now)
    if (entry === null || entry.when > now) return null
    popEntry(this.#heap)
    this.#times.delete(entry.key)
    this.#parked.delete(entry.key)
    this.#goOn(entry)
    return entry.key
  }

  /** Earliest due time among keys that may start, or the end of a blocker; null if there is neither. Keys due after
   *  `now` count without a look. */
  nextAt(look: IndexLook, now = Number.POSITIVE_INFINITY): number | null {
    return this.#first(look, now)?.when ?? null
  }

  /** Takes the keys off the index that a claim may use, longest due first, by what `look` answers for each, assuming
   *  that the claim finds one delivery of every key before it. Keys refused only by that assumption wait behind the
   *  quota's name and are tried at the next look. The claim must put every key back. */
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
        planned.push({ key, dueAt, ...limits })
      }
    } catch (error) {
      this.putBack(planned)
      throw error
    } finally {
      for (const name of full) this.freed(name)
    }
    return planned
  }

  /** Returns the keys of a plan that was not claimed. */
  putBack(plan: readonly PlannedKey[]): void {
    for (const { key, dueAt } of plan) this.offer(key, dueAt)
  }

  /** Returns a planned key that found the quota `blocker` used up, or used it up, behind all that wait for it. The first of
   *  them is tried next, so nothing waits to be freed. A key that is on the index again, and due no later, stays unchanged. */
  putBehind(key: string, at: number, blocker: string): void {
    const known = this.#times.get(key)
    if (known !== undefined && known <= at) return
    this.#times.set(key, at)
    this.#parked.delete(key)
    this.#park(key, { name: blocker, until: null })
    this.freed(blocker)
  }

  /** Keys behind the blocker may be able to start. */
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

  /** Each deferral adds an entry with a time far ahead; without this they would accumulate until then. */
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

  /** The earliest valid entry that may start, left on the heap. */
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

  /** The clock was set back: the ends of blockers were computed by a clock that was ahead. */
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
    // The key that stood for the others and could not start keeps its place in front.
    if (this.#parked.get(key) === queue && queue.head > 0) queue.keys[--queue.head] = key
    else queue.keys.push(key)
    this.#parked.set(key, queue)
    if (blocker !== false && blocker.until !== null) this.#open(queue, blocker.until)
  }

  /** Puts the first key of the queue on the heap for all. */
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

  /** Ends the turn of the key that stood for its queue: the next may try. */
  #goOn({ of }: Entry): void {
    if (of === null) return
    of.isOpen = false
    this.#open(of, Number.NEGATIVE_INFINITY)
  }
}

/** A scheduler's look → the due index's. */
export function mayStart(look: Look): IndexLook {
  return (key, at) => {
    const answer: ReturnType<Look> = look(key, at)
    if (answer === false || isBlocker(answer)) return answer
    const full = createAllocation(Number.POSITIVE_INFINITY).blockedBy(answer.quotas)
    return full === null ? true : { name: full, until: null }
  }
}

const isBlocker = (answer: object): answer is Blocker => 'name' in answer

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

/** True if there is an entry at `right` that comes before the one at `left`. */
function isEarlier(heap: readonly Entry[], right: number, left: number): boolean {
  if (right >= heap.length) return false
  const one = heap[right]
  const other = heap[left]
  return one !== undefined && other !== undefined && one.when < other.when
}
