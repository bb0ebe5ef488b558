import { createAllocation } from '../allocation.ts'
import type { DueIndex } from '../due-index.ts'
import type { PlannedKey } from '../roles/claims.ts'

/** A row that could be leased. */
export interface Candidate {
  /** Of the key in the plan. */
  place: number
  number: number
  at: number
}

/** True if two keys share a quota: rows that are due then may be more than can be claimed. */
export function isAnyShared(plan: readonly PlannedKey[]): boolean {
  if (plan.length < 2) return false
  const names = new Set<string>()
  for (const { quotas } of plan)
    for (const { name } of quotas) {
      if (names.has(name)) return true
      names.add(name)
    }
  return false
}

/** What a claim takes of a key. */
interface Chosen {
  planned: PlannedKey
  /** Place in the plan. */
  place: number
  /** False if the claim was full before, and the key was not looked at. */
  isReached: boolean
  /** The quota that others had used up: the key got nothing. */
  blocker: string | null
  /** The quota that is used up now: the key got some, and could have more. */
  filled: string | null
}

/** What one claim takes. */
export interface Choice {
  rows: Candidate[]
  keys: Chosen[]
}

/** Plan, limit, and what could be claimed of each key → what is claimed: of the keys in their order, as many as the
 *  quotas leave. */
export function choose(plan: readonly PlannedKey[], limit: number, found: readonly Candidate[]): Choice {
  const allocation = createAllocation(limit)
  const byPlace: Candidate[][] = plan.map(() => [])
  for (const candidate of found) byPlace[candidate.place]?.push(candidate)
  const rows: Candidate[] = []
  const keys: Chosen[] = []
  for (const [place, planned] of plan.entries()) {
    const { quotas } = planned
    const isReached = allocation.left() > 0
    const blocker = isReached ? allocation.blockedBy(quotas) : null
    const key: Chosen = { planned, place, isReached, blocker, filled: null }
    keys.push(key)
    if (!isReached || blocker !== null) continue
    const taken = byPlace[place]?.slice(0, Math.max(0, allocation.capacityFor(quotas))) ?? []
    for (const row of taken) rows.push(row)
    allocation.took(quotas, taken.length)
    if (allocation.left() > 0) key.filled = allocation.blockedBy(quotas)
  }
  return { rows, keys }
}

/** Puts every key of the plan on the due index again. `next`: when the next row of a key is due, by its place. */
export function putBack(
  dueIndex: DueIndex,
  { keys }: Choice,
  { now, next }: { now: number; next: ReadonlyMap<number, number | null> },
): void {
  dueIndex.putBack(keys.filter(({ isReached }) => !isReached).map(({ planned }) => planned))
  for (const { planned, blocker } of keys) if (blocker !== null) dueIndex.putBehind(planned.key, planned.dueAt, blocker)
  for (const { planned, place, filled } of keys) {
    const at = next.get(place) ?? null
    if (at === null) continue
    if (filled === null || at > now) dueIndex.offer(planned.key, at)
    // Behind keys that found nothing left, so that keys of one quota take turns.
    else dueIndex.putBehind(planned.key, at, filled)
  }
}
