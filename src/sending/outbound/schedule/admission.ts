import { destinationOf, type Outcome, ownerOf, SANDBOX } from '../../../model/delivery.ts'
import type { WarmupKey } from '../../../model/warmup.ts'
import type { WallClock } from '../../../os/clock.ts'
import { type ClockChanges, wallTimeOf } from '../../../os/clock-changes.ts'
import type { Blocker, ClaimLimits, Look, NodeParts } from '../../../storage/store.ts'
import type { Chosen, RelayChoice } from '../relays/relay-choice.ts'
import type { SharedLimits } from '../relays/shared-limits.ts'
import type { Senders } from '../senders/senders.ts'
import type { WarmupResult } from '../senders/warmups.ts'
import { DestinationConcurrency } from './concurrency.ts'
import type { DestinationTerms } from './destination-limits.ts'
import type { DestinationRoutes } from './destination-routes.ts'
import type { DestinationState } from './destination-state.ts'
import type { OwnerShares } from './owner-shares.ts'
import { type Route, Routing, unknownRoute } from './routing.ts'
import { type Grant, type PlannedOwners, SendingLimits } from './sending-limits.ts'

export type { Grant }

/** How an attempt ended. */
export interface Ending {
  outcome: Outcome
  /** A host of the domain answered. */
  reached: boolean
  /** Time of the steady clock, ms. */
  startedAt: number
  /** What the reply of a host of the destination shows about the address that the mail was sent from; absent: nothing.
   *  `blockedBy`: the rule of a reply that blocks it; null: the host accepted the mail. */
  address?: { source: string; blockedBy: string | null }
  /** The configured address that the attempt was made from; absent: none. */
  from?: string
  /** The mail was counted for a warm-up, and how its attempt ended for that. */
  warmup?: { counted: WarmupKey; result: WarmupResult }
}

const NO_ROUTE = { queue: '', sender: null, warmup: null, relay: null, failOver: null, owner: '', pool: 'none' }
const TEST: Grant = { ...NO_ROUTE, key: SANDBOX, route: { destination: SANDBOX, mx: null } }
/** The grant of a delivery that expired while its destination was full: it ends without an attempt. */
export const EXPIRED: Grant = { ...NO_ROUTE, key: '[expired]', route: { destination: '[expired]', mx: null } }

/** A delivery that became due since the start, and is overdue by less than this, is fresh: it does not wait for a
 *  backlog. */
const FRESH_MS = 5_000
const NO_SENDER = 'no sending address'

export interface AdmissionOptions {
  routes: DestinationRoutes
  shares: OwnerShares
  clock: WallClock
  clockChanges: Pick<ClockChanges, 'goodSince'>
  maxInFlight: number
  /** Key of destination.ts → the terms of this node. */
  termsOf: (key: string) => DestinationTerms
  /** Absent: this node is the only one. */
  parts?: NodeParts | undefined
  longestPauseMs: (strikes: number) => number
  /** A delivery that has waited longer than this expires. The wait counts from the start of the process or the last change
   *  of the clock at the earliest, so that mail that waited while the server was down is tried first. */
  overdueMs: number
  /** Absent: the system chooses all addresses. */
  senders?: Senders | undefined
  /** Absent: all mail is sent directly. */
  relays?: RelayChoice | undefined
  /** Limits of relays for all nodes together; absent: there are none. */
  shared?: SharedLimits | undefined
}

/** Decides which deliveries may start, by the route of their domain (routing.ts) and its limits (sending-limits.ts). The
 *  store's claims are planned with it. Limits use the steady clock; due times and the ends of blockers are times of the
 *  wall clock. */
export class Admission {
  readonly #options: AdmissionOptions
  readonly #concurrency: DestinationConcurrency
  readonly #routing: Routing
  readonly #limits: SendingLimits

  constructor(options: AdmissionOptions) {
    const { routes, shares, senders, relays } = options
    this.#options = options
    this.#concurrency = new DestinationConcurrency(options)
    this.#routing = new Routing(senders, relays)
    this.#limits = new SendingLimits({ concurrency: this.#concurrency, shares, routes, warmups: senders?.warmups })
  }

  /** What a queue whose first delivery is due since `dueAt` may start now. Without a plan it reserves nothing. */
  limitsOf(queue: string, dueAt: number, plan?: ClaimPlan): ClaimLimits | Blocker {
    const { clock, clockChanges, overdueMs, routes } = this.#options
    const domain = destinationOf(queue)
    if (domain === SANDBOX) {
      plan?.grants.set(queue, TEST)
      return { quotas: [] }
    }
    const wallAt = clock.now()
    const goodSince = clockChanges.goodSince()
    if (wallAt - Math.max(dueAt, goodSince) > overdueMs) {
      plan?.grants.set(queue, EXPIRED)
      return { quotas: [], dueUntil: wallAt - overdueMs - 1 }
    }
    const at = clock.steady.now()
    const isFresh = dueAt >= goodSince && wallAt - dueAt < FRESH_MS
    const byRule = this.#routing.relayByRule(queue)
    if (byRule !== null) return this.#limitsOfRoute(byRule, isFresh, at, plan)
    const elsewhere = this.#options.parts?.elsewhere(queue) ?? null
    if (elsewhere !== null) return elsewhere
    const route = routes.routeFor(domain, at)
    if (route === null) return this.#onWallClock(this.#limits.lookUp(domain, ownerOf(queue), isFresh, at))
    let blocker: Blocker | null = null
    for (const each of this.#routing.routesOf(queue, route, plan !== undefined)) {
      const limits = this.#limitsOfRoute(each, isFresh, at, plan)
      if (!('name' in limits)) return limits
      blocker = blocker === null ? limits : sooner(blocker, limits)
    }
    return blocker ?? { name: NO_SENDER, until: null }
  }

  #limitsOfRoute(route: Route, isFresh: boolean, at: number, plan: ClaimPlan | undefined): ClaimLimits | Blocker {
    const warm = this.#routing.warmupOf(route)
    if (warm !== null && warm.mails <= 0) return { name: warm.name, until: warm.nextAt }
    const limits = this.#limits.quotasOf(route, warm, { isFresh, at, owners: plan?.owners })
    if ('name' in limits) return this.#onWallClock(limits)
    plan?.add({ ...route, pool: limits.pool, warmup: warm?.address ?? null })
    return { quotas: limits.quotas }
  }

  /** Counts the deliveries that a claim has started. */
  started(grants: readonly Grant[]): void {
    const at = this.#options.clock.steady.now()
    const counts = new Map<Grant, number>()
    for (const grant of grants) counts.set(grant, (counts.get(grant) ?? 0) + 1)
    for (const [grant, count] of counts) if (grant !== TEST && grant !== EXPIRED) this.#limits.started(grant, count, at)
  }

  /** Concurrent connections to the destination, over all organizations, and messages over each. */
  connectionsOf({ key }: Pick<Grant, 'key'>): { connections: number; maxMails: number } {
    return this.#concurrency.connectionsOf(key, this.#options.clock.steady.now())
  }

  /** Counts a claimed mail of a grant with `warmup`, before its attempt; null: it may not start. Rejects as the store. */
  async count({ warmup, route }: Grant): Promise<WarmupKey | null> {
    return (await this.#options.senders?.warmups?.count(warmup ?? '', route.destination)) ?? null
  }

  /** Records the end of an attempt. */
  ended(grant: Grant, ending: Ending): void {
    if (grant === TEST || grant === EXPIRED) return
    const { relays, senders, clock } = this.#options
    const { queue, route, relay } = grant
    const { destination } = route
    this.#limits.ended(grant, ending, clock.steady.now())
    const { address, startedAt, from, warmup, outcome } = ending
    if (relay === null) relays?.ended({ queue, destination }, ending)
    if (warmup !== undefined) senders?.warmups?.ended(warmup.counted, destination, warmup.result)
    if (from !== undefined) senders?.count(from, outcome.kind === 'delivered')
    if (address !== undefined) senders?.learn(address.source, destination, address.blockedBy, startedAt)
  }

  /** As Routing. */
  alternative(grant: Grant, address: string, mayRelay: boolean): 'address' | 'relay' | null {
    return this.#routing.alternative(grant, address, mayRelay)
  }

  /** The grant in place of `grant`, which is not counted yet, by another route: through the relay, or directly (null, or a
   *  relay that is no longer configured). Limits do not refuse it, except that a warm-up does when it is counted. */
  rerouted(grant: Grant, relay: string | null): Grant {
    const { queue, failOver } = grant
    this.#limits.unreserve(grant)
    this.#limits.undone(grant)
    const throughRelay = relay === null ? null : this.#routing.relayRoute(queue, relay, failOver)
    const known = this.#options.routes.lastRouteFor(destinationOf(queue)) ?? unknownRoute(queue)
    const route = throughRelay ?? this.#routing.directRoute(queue, known, failOver)
    const warmup = this.#routing.warmupOf(route)?.address ?? null
    const other = { ...route, warmup, pool: this.#limits.poolOf(route.key) }
    this.#limits.started(other, 1, this.#options.clock.steady.now())
    return other
  }

  /** Undoes a grant whose delivery was not attempted; `counted` by `count`, 'reserved' if `count` was not called. */
  returned(grant: Grant, counted: WarmupKey | 'reserved' | null): void {
    if (counted === 'reserved') this.#limits.unreserve(grant)
    else if (counted !== null) this.#options.senders?.warmups?.ended(counted, grant.route.destination, 'unused')
    if (grant !== TEST && grant !== EXPIRED) this.#limits.undone(grant)
  }

  /** Blockers that may have ended since the last call. */
  freed(): string[] {
    const { routes, shares, senders, shared, parts } = this.#options
    return [
      ...(parts?.freed() ?? []),
      ...routes.freed(),
      ...this.#concurrency.freed(),
      ...shares.freed(),
      ...(senders?.warmups?.freed() ?? []),
      ...(shared?.freed() ?? []),
    ]
  }

  /** As Routing. */
  chosen(queue: string, destination: string | null): Chosen | null {
    return this.#routing.chosen(queue, destination)
  }

  /** `queue`: whose mail; it decides about the addresses. */
  stateOf(destination: string, queue = ''): DestinationState {
    const { clock, senders, relays } = this.#options
    const key = this.#routing.limitKeyOf(destination, queue)
    const state = this.#stateOnWallClock(this.#concurrency.stateOf(key, clock.steady.now()))
    const addresses = relays?.isRelay(destination) ? [] : (senders?.stateOf(queue, destination) ?? [])
    if (addresses.length === 0) return state
    return {
      ...state,
      addresses: addresses.map(({ address, rest, warmup }) => ({
        address,
        rest: rest && { rule: rest.rule, until: wallTimeOf(clock, rest.until) },
        warmup,
      })),
    }
  }

  /** State of each destination, for each address that mail is sent from. */
  destinations(): DestinationState[] {
    const states = this.#concurrency.destinations(this.#options.clock.steady.now())
    return states.map((state) => this.#stateOnWallClock(state))
  }

  #onWallClock(blocker: Blocker): Blocker {
    const { name, until } = blocker
    return until === null ? blocker : { name, until: wallTimeOf(this.#options.clock, until) }
  }

  #stateOnWallClock({ lowered, pausedUntil, ...state }: DestinationState): DestinationState {
    const { clock } = this.#options
    return {
      ...state,
      lowered: lowered && { ...lowered, at: wallTimeOf(clock, lowered.at) },
      pausedUntil: pausedUntil === null ? null : wallTimeOf(clock, pausedUntil),
    }
  }
}

/** One claim: `look` plans it, `commit` counts what it claimed. Nothing counts before `commit`; a plan whose claim failed is
 *  dropped. */
export class ClaimPlan {
  /** Queue → its grant. */
  readonly grants = new Map<string, Grant>()
  readonly owners: PlannedOwners = new Map()
  readonly #admission: Admission

  constructor(admission: Admission) {
    this.#admission = admission
  }

  readonly look: Look = (queue, dueAt) => this.#admission.limitsOf(queue, dueAt, this)

  add(grant: Grant): void {
    this.grants.set(grant.queue, grant)
    const owners = this.owners.get(grant.pool)
    if (owners === undefined) this.owners.set(grant.pool, new Set([grant.owner]))
    else owners.add(grant.owner)
  }

  /** Queues of the claimed deliveries → the grant of each, in order; EXPIRED for a delivery that expired while its
   *  destination was full. */
  commit(queues: readonly string[]): Grant[] {
    const grants = queues.map((queue) => this.grants.get(queue)!) // the claim has only planned queues
    this.#admission.started(grants)
    return grants
  }
}

/** Of two blockers the one that a queue should wait behind; one without an end ends whenever an attempt does. */
function sooner(one: Blocker, other: Blocker): Blocker {
  if (one.until === null) return one
  return other.until === null || other.until < one.until ? other : one
}
