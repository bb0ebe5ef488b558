import type { Clock } from '../../../os/clock.ts'
import type { Leases } from '../../../storage/store.ts'

/** The part of this node in the connections of a relay. */
export interface SharedConnections {
  /** Connections that it may use now. */
  now(): number
  /** The same for mail that would start; 0: it waits until `turn` got some. */
  want(): number
  /** Whether it has connections, or needs some. */
  isActive(): boolean
  /** Takes, extends or gives back connections → whether mail that waits may start. `underWay`: mails at the relay. Rejects
   *  as the store. */
  turn(nodes: number, underWay: number): Promise<boolean>
}

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

/** Name of the leases, and connections of all nodes → SharedConnections: leases of the store, in at most 16 parts, of which a
 *  node holds at most its part. If they cannot be divided evenly, a node gives all of them back after a minute. `clock` is
 *  steady. */
export function createSharedConnections(
  { name, connections }: { name: string; connections: number },
  deps: { leases: Pick<Leases, 'take' | 'release'>; clock: Clock; closeIdle: () => void },
): SharedConnections {
  const { leases, clock, closeIdle } = deps
  const count = Math.min(connections, PARTS)
  const size = Math.floor(connections / count)
  const never = Number.NEGATIVE_INFINITY
  /** Numbers of the parts of this node. */
  let held: number[] = []
  let [heldSince, extendedAt, wantedAt, notBefore] = [never, never, never, never]
  let isWanted = false
  /** Nothing starts, and the parts are given back when nothing is under way. */
  let isLeaving = false
  let closingAt: number | null = null

  const take = (part: number) => leases.take(`${name} ${part}`, LEASE_MS)
  /** Without a lease that is certain, none. */
  const usable = () => (isLeaving || clock.now() - extendedAt > LEASE_MS - MARGIN_MS ? 0 : held.length * size)

  const takeParts = async (fair: number) => {
    const at = clock.now()
    if (at < notBefore || held.length >= fair) return
    for (let part = 0; part < count && held.length < fair; part++) {
      if (held.includes(part) || !(await take(part))) continue
      if (held.length === 0) heldSince = extendedAt = wantedAt = at
      held.push(part)
    }
    notBefore = clock.now() + RETRY_MS
  }
  const extend = async () => {
    const at = clock.now()
    if (at - extendedAt < EXTEND_MS) return
    const kept = await Promise.all(held.map(take))
    held = held.filter((_, index) => kept[index])
    extendedAt = at
  }
  /** Closes the connections, and gives the leases back a turn later. */
  const giveBack = async () => {
    if (closingAt === null) {
      closingAt = clock.now()
      return closeIdle()
    }
    if (clock.now() - closingAt < QUIT_MS) return
    await Promise.all(held.map((part) => leases.release(`${name} ${part}`)))
    held = []
    isLeaving = false
    closingAt = null
    notBefore = clock.now() + PAUSE_MS
  }
  const isIdle = () => clock.now() - wantedAt > IDLE_MS

  return {
    now: usable,
    want: () => {
      wantedAt = clock.now()
      // Mail that waits is not looked at again before `turn` says so.
      isWanted = usable() === 0
      return usable()
    },
    isActive: () => isWanted || held.length > 0 || !isIdle(),
    turn: async (nodes, underWay) => {
      const before = usable()
      const fair = Math.ceil(count / nodes)
      if (held.length > 0) {
        await extend()
        const mustShare = nodes > 1 && fair * nodes !== count && clock.now() - heldSince > HOLD_MS
        isLeaving ||= held.length > fair || mustShare || isIdle()
        if (isLeaving && underWay === 0) await giveBack()
        else closingAt = null
      }
      if (held.length === 0) isLeaving = false
      if (!isLeaving && (isWanted || !isIdle())) await takeParts(fair)
      if (usable() > 0) isWanted = false
      return usable() > before
    },
  }
}
