import type { ConcurrencyLimiter } from '../../net/limiters/concurrency.ts'
import type { Blocker, Look, Quota } from '../../storage/store.ts'
import type { EndpointConcurrency } from './endpoint-concurrency.ts'

/** Limits of what a claim may take: the slots of each endpoint, within the limit of its organization. */
export interface OrganizationLimits {
  look: Look
  /** Runs `work` in a slot of the endpoint, until it ends. */
  start(endpointId: string, work: () => Promise<void>): void
  /** A request to the endpoint failed. */
  failed(endpointId: string): void
  /** Blockers that may have ended since the last call. */
  freed(): string[]
}

/** Creates OrganizationLimits from the ConcurrencyLimiter of all endpoints and the organization of each.
 *
 *  An organization has at most as many requests in progress as there are free slots: alone it gets half of them, two
 *  busy ones get a third each, and with n of them 1/(n+1) stays free for others, without a table of waiting
 *  organizations. For endpoints that did not answer quickly it has at most half as many as there are free slots, so
 *  that its own quick endpoints continue beside unresponsive ones. An organization without requests may always start
 *  one. After 20 failed requests within a second it waits for the next second: a failed request costs the main thread
 *  as much as a successful one. All endpoints held back by these limits wait behind one blocker per organization, so
 *  that looking for due deliveries costs a step for each organization and not for each endpoint. */
export function createOrganizationLimits(options: {
  slots: ConcurrencyLimiter
  concurrency: Pick<EndpointConcurrency, 'isQuick'>
  /** Null if the endpoint was deleted. */
  organizationOf: (endpointId: string) => string | null
  now: () => number
}): OrganizationLimits {
  const { slots, concurrency, organizationOf, now } = options
  const underWay = createCounts()
  const failures = createFailures(now)
  const blocked = new Set<string>()

  const kindsOf = (endpointId: string): Kinds => {
    const organization = organizationOf(endpointId) ?? ''
    const name = concurrency.isQuick(endpointId) ? null : `organization ${organization}: not quick`
    return { endpoint: `endpoint ${endpointId}`, organization: `organization ${organization}`, notQuick: name }
  }
  const behind = (name: string): Blocker => {
    blocked.add(name)
    return { name, until: null }
  }

  return {
    look: (endpointId) => {
      const { endpoint, organization, notQuick } = kindsOf(endpointId)
      const free = slots.free()
      const own = slots.freeFor(endpointId)
      if (own <= 0) return false
      const until = failures.waitsUntil(organization)
      if (until !== null) return { name: `${organization}: failures`, until }
      const quotas: Quota[] = [{ name: endpoint, most: own }]
      for (const [name, parts] of [
        [organization, 1],
        [notQuick, 2],
      ] as const) {
        if (name === null) continue
        const started = underWay.of(name)
        if (startableWithin(started, free, parts) <= 0) return behind(name)
        quotas.push({ name, underWay: started, parts })
      }
      return { quotas }
    },
    start: (endpointId, work) => {
      const kinds = kindsOf(endpointId)
      underWay.add(kinds, 1)
      slots.start(endpointId, () => work().finally(() => underWay.add(kinds, -1)))
    },
    failed: (endpointId) => failures.add(kindsOf(endpointId).organization),
    freed: () => {
      const names = [...blocked]
      blocked.clear()
      return names
    },
  }
}

/** Requests in progress and free slots → how many more may start, so that those in progress × `parts` stay within
 *  the slots that are then free. */
function startableWithin(underWay: number, free: number, parts: number): number {
  return Math.max(underWay === 0 ? 1 : 0, Math.floor((free - parts * underWay) / (parts + 1)))
}

/** Names under which a request to the endpoint counts; `notQuick` is null for a quick one. */
interface Kinds {
  endpoint: string
  organization: string
  notQuick: string | null
}

const MOST_FAILURES = 20
const WINDOW_MS = 1_000
const MOST_WINDOWS = 1_000

/** Counts failed requests in windows of a second that begin with the first failure. */
function createFailures(now: () => number) {
  const windows = new Map<string, { count: number; endsAt: number }>()
  // If the clock was set back, a window would last longer.
  const isOver = ({ endsAt }: { endsAt: number }) => endsAt <= now() || endsAt > now() + WINDOW_MS
  const deleteOld = () => {
    for (const [name, window] of windows) if (isOver(window)) windows.delete(name)
  }
  return {
    add: (name: string) => {
      const known = windows.get(name)
      if (known !== undefined && !isOver(known)) known.count++
      else {
        if (windows.size >= MOST_WINDOWS) deleteOld()
        windows.set(name, { count: 1, endsAt: now() + WINDOW_MS })
      }
    },
    /** Null if another request may start. */
    waitsUntil: (name: string): number | null => {
      const window = windows.get(name)
      return window === undefined || isOver(window) || window.count < MOST_FAILURES ? null : window.endsAt
    },
  }
}

function createCounts() {
  const counts = new Map<string, number>()
  const addTo = (name: string, change: number) => {
    const count = (counts.get(name) ?? 0) + change
    if (count > 0) counts.set(name, count)
    else counts.delete(name)
  }
  return {
    of: (name: string) => counts.get(name) ?? 0,
    add: ({ endpoint, organization, notQuick }: Kinds, change: number) => {
      for (const name of [endpoint, organization, notQuick]) if (name !== null) addTo(name, change)
    },
  }
}
