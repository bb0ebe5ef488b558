import { destinationOf, type Outcome, ownerOf, SANDBOX } from '../../model/delivery.ts'
import type { WallClock } from '../../os/clock.ts'
import { wallTimeOf } from '../../os/clock-changes.ts'
import type { Blocker, ClaimLimits, Look, Quota } from '../../storage/store.ts'
import { createColdStartPacing } from './cold-start-pacing.ts'
import { createDestinationConcurrency } from './concurrency.ts'
import type { DestinationTerms } from './destination-limits.ts'
import type { DestinationRoute, DestinationRoutes } from './destination-routes.ts'
import type { DestinationState } from './destination-state.ts'
import type { OwnerShares } from './owner-shares.ts'

/** Decides which deliveries may start: queue → domain → destination → limits of the destination. The store's claims
 *  are planned with it. */
export interface Admission {
  /** What a queue whose first delivery is due since `dueAt` may start now. Reserves nothing. */
  look: Look
  /** Starts a draft of a claim. Nothing counts before `commit`; a draft whose claim failed is dropped. */
  draft(): Draft
  /** Concurrent connections to the destination, over all organizations, and messages over each. */
  connectionsOf(route: DestinationRoute): Connections
  /** Records the end of an attempt. `reached`: a host of the domain answered. `startedAt` is a time of the steady
   *  clock, ms. */
  ended(grant: Grant, ending: { outcome: Outcome; reached: boolean; startedAt: number }): void
  /** Undoes a grant whose delivery was not attempted. */
  returned(grant: Grant): void
  /** Blockers that may have ended since the last call. */
  freed(): string[]
  stateOf(destination: string): DestinationState
  destinations(): DestinationState[]
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

/** The route of a claimed delivery, and the owner and pool whose place it uses. */
export interface Grant {
  route: DestinationRoute
  owner: string
  pool: string
}

export const GIVEN_UP: Grant = { route: { destination: '[given up]', mx: null }, owner: '', pool: 'none' }

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
}): Admission {
  const { routes, shares, clock, clockGoodSince, overdueMs } = options
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
    const route = routes.routeFor(domain, at)
    if (route === null) return question(domain, owner, isFresh, at)
    const pool = concurrency.poolOf(route.destination)
    const share = shares.placesFor(pool.name, owner, pool.total, draft?.ownersOf(pool.name))
    const ofDestination = concurrency.quotasOf(route.destination, isFresh, at)
    if (!Array.isArray(ofDestination)) return ofDestination
    if (share <= 0) return shares.blockerOf(pool.name, owner)
    const quotas: Quota[] = [...ofDestination, { name: shares.nameOf(pool.name, owner), most: share }]
    if (concurrency.isPaced(route.destination, false)) {
      const { starts, nextAt } = pacing.left(at)
      const isPaced = concurrency.isPaced(route.destination, isFresh)
      if (isPaced && starts <= 0) return { name: PACING, until: nextAt }
      quotas.push({ name: PACING, most: isPaced ? starts : Number.POSITIVE_INFINITY })
    }
    draft?.ownersOf(pool.name).add(owner)
    return granted({ route, owner, pool: pool.name }, { quotas })
  }

  const onWallClock = (answer: ClaimLimits | Blocker): ClaimLimits | Blocker =>
    'name' in answer && answer.until !== null ? { ...answer, until: wallTimeOf(clock, answer.until) } : answer
  const stateOnWallClock = ({ lowered, pausedUntil, ...state }: DestinationState): DestinationState => ({
    ...state,
    lowered: lowered && { ...lowered, at: wallTimeOf(clock, lowered.at) },
    pausedUntil: pausedUntil === null ? null : wallTimeOf(clock, pausedUntil),
  })

  const start = ({ route: { destination }, owner, pool }: Grant, count: number) => {
    const at = now()
    shares.took(pool, owner, count)
    if (concurrency.isPaced(destination, false)) pacing.started(count, at)
    concurrency.started(destination, count, at)
  }
  const undone = ({ route, owner, pool }: Grant, count: number) => {
    shares.gaveBack(pool, owner, count)
    concurrency.undone(route.destination, count)
  }

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
    connectionsOf: ({ destination }) => concurrency.connectionsOf(destination, now()),
    ended: (grant, ending) => {
      if (grant === TEST || grant === GIVEN_UP) return
      const at = now()
      if (ending.outcome.kind === 'delivered') pacing.good(at)
      shares.gaveBack(grant.pool, grant.owner, 1)
      concurrency.ended(grant.route.destination, ending, at)
    },
    returned: (grant) => {
      if (grant !== TEST && grant !== GIVEN_UP) undone(grant, 1)
    },
    freed: () => [...concurrency.freed(), ...shares.freed()],
    stateOf: (destination) => stateOnWallClock(concurrency.stateOf(destination, now())),
    destinations: () => concurrency.destinations(now()).map(stateOnWallClock),
  }
}

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

const PACING = 'pacing'
const TEST: Grant = { route: { destination: SANDBOX, mx: null }, owner: '', pool: 'none' }
