import type { ApiKey } from '../model/api-key.ts'
import { type Plan, UNLIMITED } from '../model/organization.ts'
import type { Snapshot } from '../storage/store.ts'

/** Values of the `RateLimit-*` headers. */
export interface RateState {
  allowed: boolean
  limit: number
  remaining: number
  /** Seconds until the window ends, at least 1. */
  resetSeconds: number
}

export interface RateLimit {
  /** Counts one request of the key against the current plan of its organization. Throws only store errors. */
  take(key: ApiKey, now: number): RateState
  /** Counts one request of the operator, per session, independent of any organization. */
  takeOperator(sessionId: string, now: number): RateState
}

/** Snapshot and plans → RateLimit: fixed windows of 60 s that start with a key's first request, in memory.
 *
 *  A restart resets the windows (at most one extra window of requests). Counting has no await, so parallel requests
 *  cannot exceed the limit together. A rotated key uses its successor's window, so a rotation does not double the
 *  rate. Unlimited plans report a limit of 1e9 with nothing used. Memory: one small entry per key used in the last two
 *  minutes. */
export function createRateLimit(options: {
  snapshot: Pick<Snapshot, 'organization'>
  plans: (name: string) => Plan | undefined
}): RateLimit {
  const { snapshot, plans } = options
  const windows = new Map<string, Window>()
  const successors = new Map<string, string>()
  let sweepAt = 0

  const spend = (id: string, limit: number, now: number): RateState => {
    const window = windowOf(id, now)
    const allowed = window.used < limit
    if (allowed) window.used++
    const remaining = Math.max(0, limit - window.used)
    return { allowed, limit, remaining, resetSeconds: Math.max(1, Math.ceil((window.endsAt - now) / 1000)) }
  }

  const windowOf = (id: string, now: number): Window => {
    const known = windows.get(id)
    // A clock set back must not extend a window.
    if (known !== undefined && now < known.endsAt && known.endsAt - now <= WINDOW_MS) return known
    const fresh = { used: 0, endsAt: now + WINDOW_MS }
    windows.set(id, fresh)
    return fresh
  }

  /** Rotated key → ID of the key whose window it uses; its own count moves there. */
  const moveToSuccessor = (id: string, rotatedTo: string): string => {
    successors.set(id, rotatedTo)
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
    else window.used += spent.used
    return successor
  }

  const sweep = (now: number) => {
    sweepAt = now + WINDOW_MS
    for (const [id, window] of windows) if (window.endsAt <= now) windows.delete(id)
    if (successors.size > MAX_SUCCESSORS) successors.clear()
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
      return spend(id, limit, now)
    },
    takeOperator(sessionId, now) {
      if (now >= sweepAt) sweep(now)
      return spend(sessionId, OPERATOR_LIMIT, now)
    },
  }
}

/** Adds the `RateLimit-*` headers to a response. */
export function writeRateHeaders(headers: Record<string, string>, state: RateState): void {
  headers['ratelimit-limit'] = String(state.limit)
  headers['ratelimit-remaining'] = String(state.remaining)
  headers['ratelimit-reset'] = String(state.resetSeconds)
}

interface Window {
  used: number
  endsAt: number
}

const WINDOW_MS = 60_000 // limits are per minute
const LIMIT_WITHOUT_PLAN = 60 // for a plan that is no longer configured: the smallest default
const OPERATOR_LIMIT = 1_200 // a dashboard page makes five requests; no operator opens 240 pages per minute
const MAX_CHAIN = 100
const MAX_SUCCESSORS = 10_000
const NO_LIMIT: RateState = { allowed: true, limit: 1e9, remaining: 1e9, resetSeconds: 60 }
