import type { WallClock } from '../../../os/clock.ts'
import type { Blocker, Store } from '../../../storage/store.ts'
import type { Relay } from './relay.ts'
import { createSharedConnections, type SharedConnections } from './shared-connections.ts'
import { createSharedRate, type SharedRate } from './shared-rate.ts'

/** Limits of relays that hold for all nodes together. */
export interface SharedLimits {
  /** What this node may have at a relay now, or what its mail waits for (until a time of the steady clock, ms); null: no
   *  shared limit. */
  leftAt(destination: string): SharedTerms | Blocker | null
  /** Connections that this node may use at a relay now; Infinity: no shared limit. */
  connectionsAt(destination: string): number
  /** Mails started at a relay; negative: they were not. */
  started(destination: string, mails: number): void
  /** Exchanges with the store what this node uses and needs. Never rejects. */
  turn(underWayAt: (destination: string) => number): Promise<void>
  /** Blockers that may have ended since the last call. */
  freed(): string[]
}

/** Infinity: no shared limit. */
export interface SharedTerms {
  connections: number
  mails: number
}

interface Shared {
  destination: string
  /** Of its blocker. */
  name: string
  connections: SharedConnections | null
  rate: SharedRate | null
}

const COUNT_NODES_MS = 5_000

/** Relays → SharedLimits for `max_connections` and `max_mails_per_minute` of each. `closeIdle` closes the idle connections to
 *  a relay. A node that dies loses what it had. */
export function createSharedLimits(
  relays: readonly Relay[],
  deps: {
    store: Pick<Store, 'leases' | 'nodes'> & { rates: NonNullable<Store['rates']> }
    clock: WallClock
    closeIdle: (destination: string) => void
    onError: (error: unknown) => void
  },
): SharedLimits {
  const { clock, store, onError } = deps
  const shared = new Map(relays.map((relay) => [relay.destination, sharedOf(relay, deps)]))
  const freed = new Set<string>()
  let nodes = { count: 1, at: Number.NEGATIVE_INFINITY }

  const countNodes = async () => {
    const at = clock.steady.now()
    if (at - nodes.at < COUNT_NODES_MS) return
    const active = (await store.nodes.list()).filter(({ state }) => state === 'active' || state === 'silent')
    nodes = { count: Math.max(1, active.length), at }
  }
  return {
    leftAt: (destination) => {
      const { connections, rate, name = '' } = shared.get(destination) ?? {}
      if (!connections && !rate) return null
      const terms = { connections: connections?.want() ?? Number.POSITIVE_INFINITY, mails: Number.POSITIVE_INFINITY }
      if (terms.connections === 0) return { name, until: null }
      const { mails, nextAt } = rate?.left() ?? { mails: terms.mails, nextAt: null }
      return mails > 0 ? { ...terms, mails } : { name, until: nextAt }
    },
    connectionsAt: (destination) => shared.get(destination)?.connections?.now() ?? Number.POSITIVE_INFINITY,
    started: (destination, mails) => shared.get(destination)?.rate?.started(mails),
    turn: async (underWayAt) => {
      const active = [...shared.values()].filter(isActive)
      if (active.length === 0) return
      try {
        await countNodes()
        for (const { destination, name, connections, rate } of active) {
          if (await connections?.turn(nodes.count, underWayAt(destination))) freed.add(name)
          if (await rate?.turn(nodes.count)) freed.add(name)
        }
      } catch (error) {
        onError(error)
      }
    },
    freed: () => {
      if (freed.size === 0) return []
      const names = [...freed]
      freed.clear()
      return names
    },
  }
}

function sharedOf(
  { destination, maxConnections, maxMailsPerMinute }: Relay,
  { clock, store, closeIdle }: Parameters<typeof createSharedLimits>[1],
): Shared {
  const name = `shared ${destination}`
  const limit = { name: destination, connections: maxConnections }
  const ofConnections = { leases: store.leases, clock: clock.steady, closeIdle: () => closeIdle(destination) }
  const connections = maxConnections > 0 ? createSharedConnections(limit, ofConnections) : null
  const perMinute = maxMailsPerMinute
  const rate = perMinute > 0 ? createSharedRate({ name, perMinute }, { rates: store.rates, clock }) : null
  return { destination, name, connections, rate }
}

const isActive = ({ connections, rate }: Shared) => connections?.isActive() === true || rate?.isWanted() === true
