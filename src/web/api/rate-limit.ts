import type { ApiKey } from '../../model/api-key.ts'
import { type Plan, UNLIMITED } from '../../model/organization.ts'
import { setNewest } from '../../os/set-newest.ts'
import type { Rates, Snapshot } from '../../storage/store.ts'
import { createRateSharing, type RateWindow } from './rate-sharing.ts'

/** Result of counting a request, and the values of the `RateLimit-*` headers. */
export interface RateState {
  /** False if the limit was reached already; the request is then not counted. */
  allowed: boolean
  /** Requests per minute. */
  limit: number
  remaining: number
  /** Seconds until the window ends, at least 1. */
  resetSeconds: number
  /** Requests refused in this window, including this one. */
  refused: number
}

/** Limits requests per minute. `now` is in ms UTC. */
export interface RateLimit {
  /** Counts one request of the key. The limit comes from the current plan of its organization. Throws only errors of
   *  the store. */
  take(key: ApiKey, now: number): RateState
  /** Counts one request of the operator in this session. The limit does not depend on an organization. */
  takeOperator(sessionId: string, now: number): RateState
}

/** Creates RateLimit from the snapshot and the plans. Counts in fixed windows of 60 s that start with the first request
 *  of a key. `rates`: shares the counts of keys with other nodes every 250 ms; null = there are none.
 *
 *  The counts are in memory, so a restart resets them. Counting is synchronous, so parallel requests to one node cannot
 *  exceed the limit together; to several nodes they can by what arrives before the counts are shared. A rotated key
 *  counts in the window of its successor, so rotating a key does not double its rate. An unlimited plan reports a limit
 *  of 1e9 and counts nothing. Memory: one entry per key used in the last two minutes. */
export function createRateLimit(options: {
  snapshot: Pick<Snapshot, 'organization'>
  plans: (name: string) => Plan | undefined
  rates?: Pick<Rates, 'exchange'> | null
}): RateLimit {
  const { snapshot, plans, rates = null } = options
  const windows = new Map<string, RateWindow>()
  const share = rates === null ? null : createRateSharing(rates, windows)
  const successors = new Map<string, string>()
  let sweepAt = 0

  const spend = (id: string, limit: number, now: number): RateState => {
    const window = windowOf(id, now)
    const allowed = window.used + window.others < limit
    if (allowed) window.used++
    else window.refused++
    const remaining = Math.max(0, limit - window.used - window.others)
    const resetSeconds = Math.max(1, Math.ceil((window.endsAt - now) / 1000))
    return { allowed, limit, remaining, resetSeconds, refused: window.refused }
  }

  const windowOf = (id: string, now: number): RateWindow => {
    const known = windows.get(id)
    // If the clock was set back, the window would last longer than 60 s: start a new one.
    if (known !== undefined && now < known.endsAt && known.endsAt - now <= WINDOW_MS) return known
    const fresh = { used: 0, others: 0, refused: 0, endsAt: now + WINDOW_MS }
    windows.set(id, fresh)
    return fresh
  }

  /** ID of a rotated key and of its successor → ID of the newest successor known, whose window it shares. Adds the
   *  rotated key's own count to that window. */
  const moveToSuccessor = (id: string, rotatedTo: string): string => {
    setNewest(successors, id, rotatedTo, MAX_SUCCESSORS)
    let successor = rotatedTo
    let next = successors.get(successor)
    for (let hops = 0; hops < MAX_CHAIN && next !== undefined; hops++) {
      successor = next
      next = successors.get(successor)
    }
    const spent = windows.get(id)
    if (spent === undefined) return successor
    windows.delete(id)
    const window = windows.get(successor)
    if (window === undefined) windows.set(successor, spent)
    else {
      window.used += spent.used
      window.others += spent.others
    }
    return successor
  }

  const sweep = (now: number) => {
    sweepAt = now + WINDOW_MS
    for (const [id, window] of windows) if (window.endsAt <= now) windows.delete(id)
  }

  const limitOf = (key: ApiKey): number => {
    const organization = snapshot.organization(key.organizationId)
    const plan = organization === null ? undefined : plans(organization.plan)
    return plan?.requestsPerMinute ?? LIMIT_WITHOUT_PLAN
  }

  return {
    take(key, now) {
      if (now >= sweepAt) sweep(now)
      const limit = limitOf(key)
      if (limit === UNLIMITED) return NO_LIMIT
      const id = key.rotatedTo === null ? key.id : moveToSuccessor(key.id, key.rotatedTo)
      const state = spend(id, limit, now)
      share?.(id, now)
      return state
    },
    takeOperator(sessionId, now) {
      if (now >= sweepAt) sweep(now)
      return spend(sessionId, OPERATOR_LIMIT, now)
    },
  }
}

/** Sets the `RateLimit-*` headers of a response. */
export function writeRateHeaders(headers: Record<string, string>, state: RateState): void {
  headers['ratelimit-limit'] = String(state.limit)
  headers['ratelimit-remaining'] = String(state.remaining)
  headers['ratelimit-reset'] = String(state.resetSeconds)
}

const WINDOW_MS = 60_000 // limits are per minute
const LIMIT_WITHOUT_PLAN = 60 // if the plan is no longer configured: the smallest limit of the default plans
const OPERATOR_LIMIT = 1_200 // a dashboard page makes five requests; no operator opens 240 pages per minute
const MAX_CHAIN = 100
const MAX_SUCCESSORS = 10_000
const NO_LIMIT: RateState = { allowed: true, limit: 1e9, remaining: 1e9, resetSeconds: 60, refused: 0 }
