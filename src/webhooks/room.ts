import type { ConcurrencyLimiter } from '../net/limiters/concurrency.ts'
import type { Blocker, Look, Quota } from '../storage/store.ts'
import type { Shares } from './share.ts'

/** What a claim of deliveries may take: the slots of each endpoint, within what its organization may have under way. */
export interface OrganizationRoom {
  look: Look
  /** Takes a slot for one request to the endpoint, until `work` ends. */
  start(endpointId: string, work: () => Promise<void>): void
  /** Blockers that may be gone since the last call. */
  freed(): string[]
}

/** ConcurrencyLimiter of all endpoints and the organization of each → OrganizationRoom.
 *
 *  One organization has at most as many requests under way as there are free slots: alone it gets half of them, two that
 *  want all get a third each, and with n of them 1/(n+1) stays free for the others, without a table of who waits. Of
 *  endpoints that were not seen to answer quickly it has at most half as many as there are free slots, so that its own
 *  quick endpoints go on beside those that hang. An organization with nothing under way may always start one. What has no
 *  room for this reason waits behind one blocker for each organization: a look costs the organizations and not their
 *  endpoints. */
export function createOrganizationRoom(options: {
  slots: ConcurrencyLimiter
  shares: Pick<Shares, 'isQuick'>
  /** Null: the endpoint is gone. */
  organizationOf: (endpointId: string) => string | null
}): OrganizationRoom {
  const { slots, shares, organizationOf } = options
  const underWay = createCounts()
  const blocked = new Set<string>()

  const kindsOf = (endpointId: string): Kinds => {
    const organization = organizationOf(endpointId) ?? ''
    const name = shares.isQuick(endpointId) ? null : `organization ${organization}: not quick`
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
        if (roomWithin(started, free, parts) <= 0) return behind(name)
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

/** So many under way, so many slots free → how many more may start, that under way × `parts` stays within what is free
 *  then. */
function roomWithin(underWay: number, free: number, parts: number): number {
  return Math.max(underWay === 0 ? 1 : 0, Math.floor((free - parts * underWay) / (parts + 1)))
}

/** As what a request to the endpoint counts; `notQuick` is null for a quick one. */
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
