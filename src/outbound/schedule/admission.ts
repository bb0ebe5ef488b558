import { destinationOf, type Outcome, ownerOf, type RelayUse, SANDBOX } from '../../model/delivery.ts'
import type { WarmupKey } from '../../model/warmup.ts'
import type { WallClock } from '../../os/clock.ts'
import { wallTimeOf } from '../../os/clock-changes.ts'
import type { Blocker, ClaimLimits, Look, Quota } from '../../storage/store.ts'
import type { Chosen, RelayChoice } from '../relays/relay-choice.ts'
import type { SharedLimits } from '../relays/shared-limits.ts'
import type { Sender, Senders } from '../senders/senders.ts'
import type { WarmupResult } from '../senders/warmups.ts'
import { createColdStartPacing } from './cold-start-pacing.ts'
import { createDestinationConcurrency } from './concurrency.ts'
import type { DestinationTerms } from './destination-limits.ts'
import type { DestinationRoute, DestinationRoutes } from './destination-routes.ts'
import type { AddressState, DestinationState } from './destination-state.ts'
import { limitKey } from './limit-key.ts'
import type { OwnerShares } from './owner-shares.ts'

/** Decides which deliveries may start: queue → domain → destination → limits of the destination. The store's claims
 *  are planned with it. */
export interface Admission {
  /** What a queue whose first delivery is due since `dueAt` may start now. Reserves nothing. */
  look: Look
  /** Starts a draft of a claim. Nothing counts before `commit`; a draft whose claim failed is dropped. */
  draft(): Draft
  /** Concurrent connections to the destination, over all organizations, and messages over each. */
  connectionsOf(grant: Pick<Grant, 'key'>): Connections
  /** Counts a claimed mail of a grant with `warmup`, before its attempt; null: it may not start. Rejects as the store. */
  count(grant: Grant): Promise<WarmupKey | null>
  /** Records the end of an attempt. `reached`: a host of the domain answered. `startedAt` is a time of the steady
   *  clock, ms. */
  ended(grant: Grant, ending: Ending): void
  /** How the mail of a grant can be sent at once whose destination blocks `address`: from another address of its pool, else
   *  through the relay that takes over (`mayRelay`); null: not at all. */
  otherWay(grant: Grant, address: string, mayRelay: boolean): 'address' | 'relay' | null
  /** The grant in place of `grant`, which is not counted yet, by another route: through the relay, or directly (null, or a
   *  relay that is no longer configured). Limits do not refuse it, except that a warm-up does when it is counted. */
  rerouted(grant: Grant, relay: string | null): Grant
  /** Undoes a grant whose delivery was not attempted; `counted` by `count`, 'reserved' if `count` was not called. */
  returned(grant: Grant, counted: WarmupKey | 'reserved' | null): void
  /** Blockers that may have ended since the last call. */
  freed(): string[]
  /** `queue`: whose mail; it decides about the addresses. */
  stateOf(destination: string, queue?: string): DestinationState
  /** How the mail of a queue to a destination would be sent now; null without rules about relays, or if it depends on the
   *  destination and that is null. */
  chosen(queue: string, destination: string | null): Chosen | null
  /** State of each destination, for each address that mail is sent from. */
  destinations(): DestinationState[]
}

export interface Ending {
  outcome: Outcome
  reached: boolean
  startedAt: number
  /** What the reply of a host of the destination shows about the address that the mail was sent from; absent: nothing.
   *  `blockedBy`: the rule of a reply that blocks it; null: the host accepted the mail. */
  address?: { source: string; blockedBy: string | null }
  /** The configured address that the attempt was made from; absent: none. */
  from?: string
  /** The mail was counted for a warm-up, and how its attempt ended for that. */
  warmup?: { counted: WarmupKey; result: WarmupResult }
}

/** One claim: `look` plans it, `commit` counts what it claimed. */
export interface Draft {
  look: Look
  /** Queues of the claimed deliveries → the grant of each, in order; GIVEN_UP for a delivery that expired while its
   *  destination was full. */
  commit(queues: readonly string[]): Grant[]
}

export interface Connections {
  connections: number
  maxMails: number
}

/** The route of a claimed delivery, the address it is sent from, and the owner and pool whose place it uses. */
export interface Grant {
  queue: string
  route: DestinationRoute
  /** Null: the system chooses. */
  sender: Sender | null
  /** The address of `sender` in warm-up, for which each mail is counted before its attempt; null: none. */
  warmup: string | null
  /** The relay; null: direct. */
  relay: RelayUse | null
  /** Name of the relay that takes over, or took over, if mail cannot be sent directly. */
  failOver: string | null
  /** Names the limits that count. */
  key: string
  owner: string
  pool: string
}

/** A grant before its place is known. */
type Asked = Omit<Grant, 'pool' | 'warmup'>

const NOBODY = { queue: '', sender: null, warmup: null, relay: null, failOver: null, owner: '', pool: 'none' }
export const GIVEN_UP: Grant = { ...NOBODY, key: '[given up]', route: { destination: '[given up]', mx: null } }

/** A delivery that became due since the start, and is overdue by less than this, is fresh: it does not wait for a
 *  backlog. */
const FRESH_MS = 5_000

/** `overdueMs`: a delivery that has waited longer than this is given up and needs no place. The wait counts from the
 *  start of the process or the last change of the clock at the earliest, so that mail that waited while the server
 *  was down is tried first.
 *
 *  Limits, pauses and pacing use the steady clock; due times and the ends of blockers are times of the wall clock. */
export function createAdmission(options: {
  routes: DestinationRoutes
  shares: OwnerShares
  clock: WallClock
  /** Time (ms UTC) of the last change of the wall clock. */
  clockGoodSince: () => number
  maxInFlight: number
  termsOf: (destination: string) => DestinationTerms
  longestPauseMs: (strikes: number) => number
  overdueMs: number
  /** Absent: the system chooses all addresses. */
  senders?: Senders
  /** Absent: all mail is sent directly. */
  relays?: RelayChoice
  /** Limits of relays for all nodes together; absent: there are none. */
  shared?: SharedLimits
}): Admission {
  const { routes, shares, clock, clockGoodSince, overdueMs, senders, relays } = options
  const warmups = senders?.warmups
  const now = clock.steady.now
  const concurrency = createDestinationConcurrency(options)
  const pacing = createColdStartPacing()

  const question = (domain: string, owner: string, isFresh: boolean, at: number): Blocker => {
    const { starts, nextAt } = pacing.left(at)
    if (!isFresh && starts <= 0) return { name: PACING, until: nextAt }
    const { blocker, isNew } = routes.ask(domain, owner, isFresh)
    if (isNew) pacing.started(1, at)
    return blocker
  }

  /** Adds the grant of a queue that may start something to `draft`. */
  const lookAt = (queue: string, dueAt: number, draft: DraftState | null): ClaimLimits | Blocker => {
    const domain = destinationOf(queue)
    const owner = ownerOf(queue)
    const granted = (grant: Grant, limits: ClaimLimits): ClaimLimits => {
      draft?.grants.set(queue, grant)
      return limits
    }
    if (domain === SANDBOX) return granted(TEST, { quotas: [] })
    const wallAt = clock.now()
    if (wallAt - Math.max(dueAt, clockGoodSince()) > overdueMs) {
      return granted(GIVEN_UP, { quotas: [], dueUntil: wallAt - overdueMs - 1 })
    }
    const at = now()
    const isFresh = dueAt >= clockGoodSince() && wallAt - dueAt < FRESH_MS
    const byRule = relays?.withoutDestination(queue) ?? null
    if (byRule !== null) return lookVia(relayed(queue, byRule), null, isFresh, at, draft)
    const route = routes.routeFor(domain, at)
    if (route === null) return question(domain, owner, isFresh, at)
    const choices = senders?.of(queue, route.destination) ?? SYSTEM
    const chosen = choose(queue, route, choices, draft !== null)
    let blocker: Blocker | null = null
    if (chosen !== null && chosen.use !== null) {
      const answer = lookVia(relayed(queue, chosen), null, isFresh, at, draft)
      if (!('name' in answer) || chosen.use.because !== 'warmup_used_up') return answer
      // While the relay is full, the mail waits for the warm-up as well.
      blocker = answer
    }
    const failOver = chosen?.failOver ?? null
    for (const sender of choices) {
      const key = limitKey(route.destination, sender)
      const asked = { queue, route, sender, relay: null, failOver, key, owner }
      const answer = lookVia(asked, warmOf(sender, route), isFresh, at, draft)
      if (!('name' in answer)) return answer
      blocker = blocker === null ? answer : sooner(blocker, answer)
    }
    return blocker ?? { name: NO_SENDER, until: null }
  }

  /** `choices`: the addresses of the mail, best first. */
  const choose = (
    queue: string,
    route: DestinationRoute,
    choices: readonly (Sender | null)[],
    takesTry: boolean,
  ): Chosen | null => {
    if (relays === undefined) return null
    const [first = null] = choices
    return relays.of(queue, route.destination, {
      isBlocked: (senders?.restOf(first, route.destination) ?? null) !== null,
      isUsedUp: choices.length > 0 && choices.every((sender) => warmOf(sender, route)?.mails === 0),
      takesTry,
    })
  }

  /** Mail through a relay: the relay is the destination whose limits count. */
  const relayed = (queue: string, { use: relay, failOver }: Pick<Chosen, 'use' | 'failOver'>): Asked => {
    const key = (relay !== null && relays?.relay(relay.name)?.destination) || NO_RELAY
    return { queue, route: { destination: key, mx: null }, sender: null, relay, failOver, key, owner: ownerOf(queue) }
  }

  /** What the address of a sender may send during its warm-up; null without one. */
  const warmOf = (sender: Sender | null, route: DestinationRoute) => {
    const address = sender?.[0].address
    if (warmups === undefined || address === undefined || sendsNothing(route)) return null
    const left = warmups.leftFor(address, route.destination)
    return left === null ? null : { ...left, address }
  }

  /** The same as `lookAt` for one address or relay. `warm`: null without a warm-up. */
  const lookVia = (
    asked: Asked,
    warm: ReturnType<typeof warmOf>,
    isFresh: boolean,
    at: number,
    draft: DraftState | null,
  ): ClaimLimits | Blocker => {
    const { key, owner } = asked
    if (warm !== null && warm.mails <= 0) return { name: warm.name, until: at + warm.nextAt - clock.now() }
    const pool = concurrency.poolOf(key)
    const share = shares.placesFor(pool.name, owner, pool.total, draft?.ownersOf(pool.name))
    const ofDestination = concurrency.quotasOf(key, isFresh, at)
    if (!Array.isArray(ofDestination)) return ofDestination
    if (share <= 0) return shares.blockerOf(pool.name, owner)
    const quotas: Quota[] = [...ofDestination, { name: shares.nameOf(pool.name, owner), most: share }]
    if (concurrency.isPaced(key, false)) {
      const { starts, nextAt } = pacing.left(at)
      const isPaced = concurrency.isPaced(key, isFresh)
      if (isPaced && starts <= 0) return { name: PACING, until: nextAt }
      quotas.push({ name: PACING, most: isPaced ? starts : Number.POSITIVE_INFINITY })
    }
    draft?.ownersOf(pool.name).add(owner)
    if (warm !== null) quotas.push({ name: warm.name, most: warm.mails })
    draft?.grants.set(asked.queue, { ...asked, pool: pool.name, warmup: warm?.address ?? null })
    return { quotas }
  }

  const onWallClock = (answer: ClaimLimits | Blocker): ClaimLimits | Blocker =>
    'name' in answer && answer.until !== null ? { ...answer, until: wallTimeOf(clock, answer.until) } : answer
  const stateOnWallClock = ({ lowered, pausedUntil, ...state }: DestinationState): DestinationState => ({
    ...state,
    lowered: lowered && { ...lowered, at: wallTimeOf(clock, lowered.at) },
    pausedUntil: pausedUntil === null ? null : wallTimeOf(clock, pausedUntil),
  })

  const start = ({ key, owner, pool, warmup, route }: Grant, count: number) => {
    const at = now()
    if (warmup !== null) warmups?.reserve(warmup, route.destination, count)
    shares.took(pool, owner, count)
    if (concurrency.isPaced(key, false)) pacing.started(count, at)
    concurrency.started(key, count, at)
  }
  const unreserved = ({ warmup, route }: Grant) => {
    if (warmup !== null) warmups?.reserve(warmup, route.destination, -1)
  }
  const undone = ({ key, owner, pool }: Grant, count: number) => {
    shares.gaveBack(pool, owner, count)
    concurrency.undone(key, count)
  }
  const restsOnWallClock = (queue: string, destination: string): AddressState[] =>
    (senders?.stateOf(queue, destination) ?? []).map(({ address, rest, warmup }) => ({
      address,
      rest: rest && { rule: rest.rule, until: wallTimeOf(clock, rest.until) },
      warmup,
    }))

  return {
    look: (queue, dueAt) => onWallClock(lookAt(queue, dueAt, null)),
    draft: () => {
      const draft = createDraft()
      return {
        look: (queue, dueAt) => onWallClock(lookAt(queue, dueAt, draft)),
        commit: (queues) => {
          const grants = queues.map((queue) => draft.grants.get(queue)!)
          const counts = new Map<Grant, number>()
          for (const grant of grants) counts.set(grant, (counts.get(grant) ?? 0) + 1)
          for (const [grant, count] of counts) if (grant !== TEST && grant !== GIVEN_UP) start(grant, count)
          return grants
        },
      }
    },
    connectionsOf: ({ key }) => concurrency.connectionsOf(key, now()),
    count: async ({ warmup, route }) => (await warmups?.count(warmup ?? '', route.destination)) ?? null,
    ended: (grant, ending) => {
      if (grant === TEST || grant === GIVEN_UP) return
      const at = now()
      if (ending.outcome.kind === 'delivered') pacing.good(at)
      shares.gaveBack(grant.pool, grant.owner, 1)
      concurrency.ended(grant.key, ending, at)
      const { address, startedAt, from, warmup } = ending
      if (grant.relay === null) relays?.ended({ queue: grant.queue, destination: grant.route.destination }, ending)
      if (warmup !== undefined) warmups?.ended(warmup.counted, grant.route.destination, warmup.result)
      if (from !== undefined) senders?.count(from, ending.outcome.kind === 'delivered')
      if (address !== undefined) senders?.learn(address.source, grant.route.destination, address.blockedBy, startedAt)
    },
    otherWay: ({ queue, route, relay, failOver }, address, mayRelay) => {
      if (senders?.hasOther(queue, route.destination, address)) return 'address'
      return mayRelay && relay === null && failOver !== null ? 'relay' : null
    },
    rerouted: (grant, name) => {
      unreserved(grant)
      undone(grant, 1)
      const { queue, owner, failOver } = grant
      const isKnown = name !== null && relays !== undefined && relays.relay(name) !== null
      const use: RelayUse | null = !isKnown ? null : { name, rule: null, because: 'same_route' }
      const direct = (): Asked & Pick<Grant, 'warmup'> => {
        const domain = destinationOf(queue)
        const route = routes.lastRouteFor(domain) ?? { destination: domain, mx: null }
        const [sender = null] = senders?.of(queue, route.destination) ?? SYSTEM
        const key = limitKey(route.destination, sender)
        return {
          queue,
          route,
          sender,
          warmup: warmOf(sender, route)?.address ?? null,
          relay: null,
          failOver,
          key,
          owner,
        }
      }
      const next = use === null ? direct() : { ...relayed(queue, { use, failOver }), warmup: null }
      const other = { ...next, pool: concurrency.poolOf(next.key).name }
      start(other, 1)
      return other
    },
    returned: (grant, counted) => {
      if (counted === 'reserved') unreserved(grant)
      else if (counted !== null) warmups?.ended(counted, grant.route.destination, 'unused')
      if (grant !== TEST && grant !== GIVEN_UP) undone(grant, 1)
    },
    freed: () => [
      ...concurrency.freed(),
      ...shares.freed(),
      ...(warmups?.freed() ?? []),
      ...(options.shared?.freed() ?? []),
    ],
    stateOf: (destination, queue = '') => {
      if (relays?.isRelay(destination)) return stateOnWallClock(concurrency.stateOf(destination, now()))
      const [sender = null] = senders?.of(queue, destination) ?? SYSTEM
      const state = stateOnWallClock(concurrency.stateOf(limitKey(destination, sender), now()))
      const addresses = restsOnWallClock(queue, destination)
      return addresses.length === 0 ? state : { ...state, addresses }
    },
    chosen: (queue, destination) => {
      const byRule = relays?.withoutDestination(queue) ?? null
      if (byRule !== null || destination === null) return byRule
      return choose(queue, { destination, mx: null }, senders?.of(queue, destination) ?? SYSTEM, false)
    },
    destinations: () => concurrency.destinations(now()).map(stateOnWallClock),
  }
}

/** True if the MX lookup decides that the attempt connects to nothing (mx.ts). */
const sendsNothing = ({ mx }: DestinationRoute) => mx?.kind === 'temporary' || mx?.kind === 'nxdomain'

/** Results of the looks of one claim. */
interface DraftState {
  /** Queue → its grant. */
  grants: Map<string, Grant>
  /** Owners to which the claim may give places of the pool. */
  ownersOf(pool: string): Set<string>
}

function createDraft(): DraftState {
  const owners = new Map<string, Set<string>>()
  return {
    grants: new Map(),
    ownersOf: (pool) => {
      const known = owners.get(pool) ?? new Set<string>()
      owners.set(pool, known)
      return known
    },
  }
}

/** Of two blockers the one that a queue should wait behind; one without an end ends whenever an attempt does. */
function sooner(one: Blocker, other: Blocker): Blocker {
  if (one.until === null) return one
  return other.until === null || other.until < one.until ? other : one
}

const SYSTEM: readonly [null] = [null]
const NO_RELAY = 'relay:'
const NO_SENDER = 'no sending address'
const PACING = 'pacing'
const TEST: Grant = { ...NOBODY, key: SANDBOX, route: { destination: SANDBOX, mx: null } }
