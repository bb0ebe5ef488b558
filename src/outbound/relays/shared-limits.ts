import type { WallClock } from '../../os/clock.ts'
import type { Blocker, Store } from '../../storage/store.ts'
import type { Relay } from './relay.ts'

/** Limits of relays that hold for all nodes together. All times are of the steady clock, ms. */
export interface SharedLimits {
  /** What this node may have at a relay now, or what its mail waits for; null: no shared limit. */
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

export interface SharedTerms {
  /** Infinity: no shared limit of connections. */
  connections: number
  /** Infinity: no shared limit per minute. */
  mails: number
}

interface Deps {
  store: Pick<Store, 'leases' | 'nodes'> & { rates: NonNullable<Store['rates']> }
  clock: WallClock
  /** Closes the idle connections to a relay. */
  closeIdle: (destination: string) => void
  onError: (error: unknown) => void
}

/** Relays with limits → SharedLimits. `max_mails_per_minute`: a node takes the mails of a second at once from the rate that
 *  all share. `max_connections`: the connections are leases of the store, in at most 16 parts, and a node holds at most its
 *  part of them. If they cannot be divided evenly, a node gives all of its connections back after a minute, so that another
 *  one can have them. A node that dies loses its leases. */
export function createSharedLimits(relays: readonly Relay[], deps: Deps): SharedLimits {
  const { clock, store, onError } = deps
  const now = clock.steady.now
  const limited = relays.filter(({ maxConnections, maxMailsPerMinute }) => maxConnections > 0 || maxMailsPerMinute > 0)
  const states = new Map(limited.map((relay) => [relay.destination, newState(relay)]))
  const freed = new Set<string>()
  let nodes = { count: 1, at: Number.NEGATIVE_INFINITY }

  const countNodes = async () => {
    if (now() - nodes.at < COUNT_NODES_MS) return
    const active = (await store.nodes.list()).filter(({ state }) => state === 'active' || state === 'silent')
    nodes = { count: Math.max(1, active.length), at: now() }
  }
  const takeMails = async (state: State) => {
    const { relay, mails } = state
    const at = now()
    if (!mails.isWanted || at < mails.nextAt) return
    const burst = Math.max(1, relay.maxMailsPerMinute / 60)
    const batch = Math.floor(burst)
    const everyMs = (batch * 60_000) / relay.maxMailsPerMinute
    const waitMs = await store.rates.take([{ name: state.name, everyMs, burst: burst / batch }], clock.now())
    if (waitMs > 0) {
      mails.nextAt = at + waitMs
      return
    }
    Object.assign(mails, {
      left: Math.min(0, mails.left) + batch,
      takenAt: at,
      isWanted: false,
      nextAt: nodes.count > 1 ? at + everyMs * TURN : at,
    })
    freed.add(state.name)
  }
  /** Closes the connections, and gives them back a turn later. */
  const giveBack = async (state: State) => {
    const { places } = state
    if (places.closingAt === null) {
      places.closingAt = now()
      deps.closeIdle(state.relay.destination)
      return
    }
    if (now() - places.closingAt < QUIT_MS) return
    await Promise.all(places.held.map((place) => store.leases.release(leaseOf(state, place))))
    Object.assign(places, { held: [], isLeaving: false, closingAt: null, notBefore: now() + PAUSE_MS })
  }
  const takePlaces = async (state: State) => {
    const { places } = state
    const fair = Math.ceil(places.count / nodes.count)
    const at = now()
    if (at < places.notBefore || places.held.length >= fair) return
    for (let place = 0; place < places.count && places.held.length < fair; place++) {
      if (places.held.includes(place) || !(await store.leases.take(leaseOf(state, place), LEASE_MS))) continue
      if (places.held.length === 0) Object.assign(places, { since: at, extendedAt: at, wantedAt: at })
      places.isWanted = false
      places.held.push(place)
      freed.add(state.name)
    }
    places.notBefore = now() + RETRY_MS
  }
  const extend = async (state: State) => {
    const { places } = state
    const at = now()
    if (at - places.extendedAt < EXTEND_MS) return
    const kept = await Promise.all(places.held.map((place) => store.leases.take(leaseOf(state, place), LEASE_MS)))
    places.held = places.held.filter((_, index) => kept[index])
    places.extendedAt = at
    freed.add(state.name)
  }
  const exchangePlaces = async (state: State, underWay: number) => {
    const { places } = state
    const fair = Math.ceil(places.count / nodes.count)
    const at = now()
    if (places.held.length > 0) {
      await extend(state)
      const isEven = fair * nodes.count === places.count
      const isOver = places.held.length > fair || (!isEven && nodes.count > 1 && at - places.since > HOLD_MS)
      if (isOver || at - places.wantedAt > IDLE_MS) places.isLeaving = true
      if (places.isLeaving && underWay === 0) await giveBack(state)
      else places.closingAt = null
    }
    if (!places.isLeaving && (places.isWanted || at - places.wantedAt < IDLE_MS)) await takePlaces(state)
  }
  /** Connections that this node may have. Without a lease that is certain, none. */
  const connectionsOf = ({ places }: State) =>
    places.isLeaving || now() - places.extendedAt > LEASE_MS - MARGIN_MS ? 0 : places.held.length * places.size

  return {
    leftAt: (destination) => {
      const state = states.get(destination)
      if (state === undefined) return null
      const { relay, places, mails, name } = state
      const at = now()
      const terms = { connections: Number.POSITIVE_INFINITY, mails: Number.POSITIVE_INFINITY }
      if (relay.maxConnections > 0) {
        places.wantedAt = at
        terms.connections = connectionsOf(state)
        // Mail that waits is not looked at again before the blocker ends.
        places.isWanted = terms.connections === 0
        if (places.isWanted) return { name, until: null }
      }
      if (relay.maxMailsPerMinute > 0) {
        terms.mails = at - mails.takenAt > KEPT_MS ? 0 : mails.left
        mails.isWanted ||= terms.mails <= 0
        if (terms.mails <= 0) return { name, until: Math.max(mails.nextAt, at + ASK_MS) }
      }
      return terms
    },
    connectionsAt: (destination) => {
      const state = states.get(destination)
      return state === undefined || state.relay.maxConnections === 0 ? Number.POSITIVE_INFINITY : connectionsOf(state)
    },
    started: (destination, mails) => {
      const state = states.get(destination)
      if (state !== undefined) state.mails.left -= mails
    },
    turn: async (underWayAt) => {
      const at = now()
      const active = [...states.values()].filter((state) => isActive(state, at))
      if (active.length === 0) return
      try {
        await countNodes()
        for (const state of active) {
          if (state.relay.maxConnections > 0) await exchangePlaces(state, underWayAt(state.relay.destination))
          if (state.relay.maxMailsPerMinute > 0) await takeMails(state)
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

/** What one relay has here. */
interface State {
  relay: Relay
  /** Of its blocker, and of its rate in the store. */
  name: string
  mails: { left: number; takenAt: number; isWanted: boolean; nextAt: number }
  /** `count` parts of `size` connections; `held`: numbers of those of this node. `isLeaving`: nothing starts, and they are
   *  given back when nothing is under way. */
  places: {
    count: number
    size: number
    held: number[]
    since: number
    extendedAt: number
    wantedAt: number
    isWanted: boolean
    notBefore: number
    isLeaving: boolean
    closingAt: number | null
  }
}

function newState(relay: Relay): State {
  const count = Math.min(relay.maxConnections, PARTS)
  const never = Number.NEGATIVE_INFINITY
  return {
    relay,
    name: `shared ${relay.destination}`,
    mails: { left: 0, takenAt: never, isWanted: false, nextAt: never },
    places: {
      count,
      size: count === 0 ? 0 : Math.floor(relay.maxConnections / count),
      held: [],
      since: never,
      extendedAt: never,
      wantedAt: never,
      isWanted: false,
      notBefore: never,
      isLeaving: false,
      closingAt: null,
    },
  }
}

const isActive = ({ mails, places }: State, at: number) =>
  mails.isWanted || places.isWanted || places.held.length > 0 || at - places.wantedAt < IDLE_MS
const leaseOf = ({ relay }: State, place: number) => `${relay.destination} ${place}`

/** A lease for each connection would cost too many statements. */
const PARTS = 16
const LEASE_MS = 60_000
const EXTEND_MS = 20_000
/** A lease that is not extended counts as lost this long before it ends. */
const MARGIN_MS = 10_000
const HOLD_MS = 60_000
/** Without mail for so long, a node gives its connections back. */
const IDLE_MS = 5_000
/** A node that gave connections back leaves them to others for so long; others ask more often. */
const PAUSE_MS = 3_000
const RETRY_MS = 1_000
const QUIT_MS = 100
const COUNT_NODES_MS = 5_000
/** Mails that were taken and not started are lost after this time, so that they do not add up. */
const KEPT_MS = 2_000
/** A node that took mails asks again somewhat after the next ones are due, so that others come first. */
const TURN = 1.1
/** Until the store has said when the next mail may start. */
const ASK_MS = 20
