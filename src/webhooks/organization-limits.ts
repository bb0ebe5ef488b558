import type { ConcurrencyLimiter } from '../net/limiters/concurrency.ts'
import type { Blocker, Look, Quota } from '../storage/store.ts'
import type { EndpointConcurrency } from './endpoint-concurrency.ts'

/** Limits of what a claim may take: the slots of each endpoint, within the limit of its organization. */
export interface OrganizationLimits {
  look: Look
  /** Runs `work` in a slot of the endpoint, until it ends. */
  start(endpointId: string, work: () => Promise<void>): void
  /** Blockers that may have ended since the last call. */
  freed(): string[]
}

/** ConcurrencyLimiter of all endpoints, and the organization of each → OrganizationLimits.
 *
 *  An organization has at most as many requests in progress as there are free slots: alone it gets half of them, two
 *  busy ones get a third each, and with n of them 1/(n+1) stays free for others, without a table of waiting
 *  organizations. For endpoints that did not answer quickly it has at most half as many as there are free slots, so
 *  that its own quick endpoints continue beside unresponsive ones. An organization without requests may always start
 *  one. All endpoints held back by these limits wait behind one blocker per organization, so that a look costs the
 *  number of organizations and not of endpoints. */
export function createOrganizationLimits(options: {
  slots: ConcurrencyLimiter
  concurrency: Pick<EndpointConcurrency, 'isQuick'>
  /** Null if the endpoint was deleted. */
  organizationOf: (endpointId: string) => string | null
}): OrganizationLimits {
  const { slots, concurrency, organizationOf } = options
  const underWay = createCounts()
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
