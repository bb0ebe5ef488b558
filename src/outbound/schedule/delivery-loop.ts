import type { Warmup } from '../../model/warmup.ts'
import type { Resolver } from '../../net/dns/resolver.ts'
import { type ConcurrencyLimiter, createConcurrencyLimiter } from '../../net/limiters/concurrency.ts'
import { type ClockChanges, wallTimeOf, watchClockChanges } from '../../os/clock-changes.ts'
import { createFreedBlockers, type FreedBlockers } from '../../os/freed-blockers.ts'
import { createLoop, type Loop } from '../../os/loop.ts'
import { createQueueRecovery, type QueueRecovery } from '../../os/queue-recovery.ts'
import { within } from '../../os/within.ts'
import type { ClaimedDelivery, Store } from '../../storage/store.ts'
import { Deliverer, type DelivererDeps } from '../deliver.ts'
import { createDirectHealth } from '../relays/direct-health.ts'
import { createRelayChoice, type RelayChoice, type RelaySettings } from '../relays/relay-choice.ts'
import { createSharedLimits, type SharedLimits } from '../relays/shared-limits.ts'
import type { KeptRests } from '../senders/kept-rests.ts'
import type { PoolOf } from '../senders/pools.ts'
import { type AddressUse, createSenders, type Senders } from '../senders/senders.ts'
import { createWarmupLimits, type WarmupState } from '../senders/warmups.ts'
import { type Admission, createAdmission, GIVEN_UP, type Grant } from './admission.ts'
import { type ConfiguredTerms, createTermsOf, type DestinationTerms } from './destination-limits.ts'
import { createDestinationRoutes } from './destination-routes.ts'
import type { DestinationState } from './destination-state.ts'
import { createOwnerShares } from './owner-shares.ts'

/** The delivery engine: claims due deliveries, lets workers attempt them, records the results, and schedules
 *  retries.
 *
 *  Retried: every temporary failure, by the schedule. Lost: nothing; the store counts a claim before the attempt,
 *  and a record that cannot be written is written later. Twice: a mail whose connection or process died between the
 *  final dot and its reply (journal/delivered-journal.ts). It is retried with the same Message-ID, as every mail
 *  server does. */
export interface OutboundLoop {
  start(): void
  wake(): void
  /** As os/loop.ts. */
  turningMs(): number
  /** Claims nothing more and waits up to `graceMs` for attempts in progress. Unfinished deliveries are due again at
   *  the next start, when the lease of this process ends. */
  stop(graceMs: number): Promise<void>
  underWay(): number
  /** Reputation and limits of a queue's mail at a destination. */
  stateOf(destination: string, queue?: string): DestinationState
  /** The same for every known destination with attempts since the start. */
  destinations(): DestinationState[]
  /** As Admission. */
  chosen: Admission['chosen']
  /** What was sent from each configured address since the start; rests end at times in ms UTC. */
  addresses(): AddressUse[]
  /** Where each address in warm-up is, by destination group; [] without any. */
  warmups(): WarmupState[]
}

export interface OutboundLoopDeps extends Omit<DelivererDeps, 'admission' | 'clockGoodSince' | 'store'> {
  store: Pick<Store, 'deliveries' | 'messages' | 'relays' | 'suppressions' | 'warmups' | 'rates' | 'leases' | 'nodes'>
  settings: DelivererDeps['settings'] & {
    maxInFlight: number
    maxPerDestination: number
    destinations: Readonly<Record<string, ConfiguredTerms>>
  }
  /** Relays and the rules about them; absent: all mail is sent directly. */
  relays?: RelaySettings
  /** Closes the idle connections to a relay. */
  closeIdle?: (destination: string) => void
  /** Whether port 25 is blocked, by connections to mail servers that certainly accept them. */
  isPort25Blocked?: () => Promise<boolean>
  /** Addresses that mail is sent from; absent: the system chooses. */
  poolOf?: PoolOf
  /** Those of them in warm-up. */
  warmups?: readonly { address: string; warmup: Warmup }[]
  /** Rests of these addresses; absent: none is known, and none is kept. */
  keptRests?: KeptRests
  resolver: Pick<Resolver, 'mx'>
}

/** Dependencies → a loop that is not started yet. */
export function createOutboundLoop(deps: OutboundLoopDeps): OutboundLoop {
  const scheduler = new Scheduler(deps)
  const { loop, admission } = scheduler
  return {
    start: loop.start,
    wake: loop.wake,
    turningMs: loop.turningMs,
    stop: (graceMs) => scheduler.stop(graceMs),
    underWay: () => scheduler.running(),
    stateOf: admission.stateOf,
    chosen: admission.chosen,
    destinations: admission.destinations,
    addresses: () =>
      (scheduler.senders?.uses() ?? []).map((use) => ({
        ...use,
        rests: use.rests.map((rest) => ({ ...rest, until: wallTimeOf(deps.clock, rest.until) })),
      })),
    warmups: () => scheduler.senders?.warmups?.states() ?? [],
  }
}

class Scheduler {
  readonly loop: Loop
  readonly admission: Admission
  readonly senders: Senders | undefined
  readonly #deps: OutboundLoopDeps
  readonly #shared: SharedLimits | undefined
  readonly #clockChanges: ClockChanges
  readonly #deliverer: Deliverer
  readonly #slots: ConcurrencyLimiter
  readonly #recovery: QueueRecovery
  readonly #freed: FreedBlockers
  /** Claims whose result is not stored yet. */
  readonly #underWay = new Set<ClaimedDelivery>()
  #isStopping = false
  /** The second in which expired deliveries were last ended. */
  #expiredIn = Number.NaN

  constructor(deps: OutboundLoopDeps) {
    const { store, clock, settings, log } = deps
    this.#deps = deps
    this.#clockChanges = watchClockChanges(clock)
    this.#freed = createFreedBlockers(store.deliveries)
    const poolOf = deps.poolOf ?? (hasFailOver(deps.relays) ? () => [] : undefined)
    this.senders = poolOf && createSenders(poolOf, clock.steady.now, { kept: deps.keptRests, warmups: warmupsOf(deps) })
    this.#shared = sharedLimitsOf(deps)
    this.admission = this.#createAdmission()
    this.#deliverer = new Deliverer({
      ...deps,
      admission: this.admission,
      clockGoodSince: this.#clockChanges.goodSince,
    })
    this.#slots = createConcurrencyLimiter({
      total: settings.maxInFlight,
      perKey: settings.maxInFlight,
      onFree: () => this.loop.wake(),
    })
    this.#recovery = createQueueRecovery({
      queue: store.deliveries,
      clock,
      clockChanges: this.#clockChanges,
      workerId: deps.workerId,
      underWay: () => this.#underWay.values().map(({ delivery }) => delivery.id),
      onClockSet: (byMs) => log.warn('system clock changed', { by_ms: byMs }),
    })
    this.loop = createLoop({
      clock,
      idleMs: IDLE_MS,
      tick: () => this.#tick(),
      onError: (error) => {
        log.error('delivery scheduler failed', { error })
        this.#recovery.turnFailed()
      },
    })
  }

  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true
    this.#deliverer.leave()
    await this.loop.stop()
    await within(this.#deps.clock, graceMs, this.#slots.drained())
    this.#deliverer.giveUp()
    const { log } = this.#deps
    await this.senders?.warmups?.flush().catch((error) => log.warn('results of warm-up not stored', { error }))
    await this.#deps.keptRests?.settled()
  }

  running(): number {
    return this.#slots.running()
  }

  #createAdmission(): Admission {
    const { store, clock, settings, resolver } = this.#deps
    const { retryScheduleSeconds: scheduleSeconds } = settings
    const shares = createOwnerShares(clock.steady.now)
    const routes = createDestinationRoutes({
      shares,
      resolver,
      now: clock.steady.now,
      shareLimits: store.deliveries.shareLimits,
      onKnown: (blockers) => {
        this.#freed.add(blockers)
        this.loop.wake()
      },
    })
    return createAdmission({
      shares,
      routes,
      clock,
      clockGoodSince: this.#clockChanges.goodSince,
      maxInFlight: settings.maxInFlight,
      termsOf: this.#termsOf(),
      longestPauseMs: (strikes) =>
        (scheduleSeconds[Math.min(strikes, scheduleSeconds.length) - 1] ?? 0) * 1000 * PAUSE_OF_RETRY,
      overdueMs: settings.maxAgeSeconds * 1000,
      senders: this.senders,
      relays: this.#relayChoice(),
      shared: this.#shared,
    })
  }

  #relayChoice(): RelayChoice | undefined {
    const { relays, clock, isPort25Blocked = async () => false } = this.#deps
    if (relays === undefined || relays.rules.length === 0) return undefined
    return createRelayChoice(
      relays,
      hasFailOver(relays) ? createDirectHealth(clock.steady.now, isPort25Blocked) : undefined,
    )
  }

  /** A relay has its own limits beside those that its host has as a destination. */
  #termsOf(): (destination: string) => DestinationTerms {
    const { settings, relays } = this.#deps
    const termsOf = createTermsOf(settings.destinations, settings.maxPerDestination)
    const limits = new Map((relays?.relays ?? []).map((relay) => [relay.destination, relay]))
    if (limits.size === 0) return termsOf
    return (destination) => {
      const terms = termsOf(destination)
      const { maxConnections = 0, maxMailsPerMinute = 0 } = limits.get(destination) ?? {}
      return {
        ...terms,
        maxConnections: maxConnections || terms.maxConnections,
        maxMailsPerMinute: maxMailsPerMinute || terms.maxMailsPerMinute,
      }
    }
  }

  async #tick(): Promise<number | null> {
    const { clock } = this.#deps
    const isMore = await this.#recovery.turn()
    await this.senders?.warmups?.turn()
    await this.#shared?.turn((destination) => this.admission.stateOf(destination).underWay)
    await this.#endExpired()
    const nextAt = await this.#claim(clock.now())
    return isMore ? clock.now() : nextAt
  }

  /** Runs once a second: a message that expires does not wait until its destination is available again. */
  async #endExpired(): Promise<void> {
    const { store, clock, workerId: worker } = this.#deps
    const now = clock.now()
    const second = Math.floor(now / 1000)
    const limit = this.#claimLimit()
    if (this.#isStopping || limit === 0 || second === this.#expiredIn) return
    const claims = await store.deliveries.claimExpired({ now, limit, worker })
    for (const claim of claims) this.#begin(claim, GIVEN_UP)
    if (claims.length < limit) this.#expiredIn = second
  }

  async #claim(now: number): Promise<number | null> {
    const { store, clock, workerId: worker } = this.#deps
    const { admission } = this
    if (this.#isStopping || this.#claimLimit() === 0) return null
    this.#freed.add(admission.freed())
    await this.#freed.report()
    const dueAt = await store.deliveries.nextDueAt(admission.look, now)
    if (dueAt === null || dueAt > now) return dueAt
    const draft = admission.draft()
    const plan = await store.deliveries.planClaims({ now, limit: this.#claimLimit(), look: draft.look })
    // Slots may have become free until the store planned.
    const request = {
      now: clock.now(),
      limit: this.#claimLimit(),
      worker,
      contentBytes: this.#deliverer.smallBytes,
      plan,
    }
    const claims = await store.deliveries.claimDue(request).catch(async (error) => {
      await store.deliveries.putBack(plan)
      throw error
    })
    const grants = draft.commit(claims.map(({ delivery }) => delivery.queue))
    claims.forEach((claim, at) => {
      this.#begin(claim, grants[at]!)
    })
    return this.#slots.free() === 0 ? null : store.deliveries.nextDueAt(admission.look, clock.now())
  }

  #claimLimit(): number {
    return Math.min(this.#slots.free(), CLAIM_MAX)
  }

  #begin(claim: ClaimedDelivery, grant: Grant): void {
    this.#underWay.add(claim)
    this.#slots.start(grant.route.destination, () =>
      this.#deliverer.deliver(claim, grant).finally(() => this.#underWay.delete(claim)),
    )
  }
}

const hasFailOver = (relays: RelaySettings | undefined) =>
  relays?.rules.some(({ failOver }) => failOver !== null) === true

/** Absent without addresses in warm-up: then nothing is read or counted. */
function warmupsOf({ store, clock, log, warmups = [] }: OutboundLoopDeps) {
  if (warmups.length === 0) return undefined
  const onError = (error: unknown) => log.warn('counts of warm-up not stored or read, will retry', { error })
  return createWarmupLimits({ store: store.warmups, clock, addresses: warmups, onError })
}

/** Absent where this process is the only one: then the limits of each destination are enough. */
function sharedLimitsOf({ store, clock, log, relays, closeIdle = () => {} }: OutboundLoopDeps) {
  const { rates } = store
  if (rates === null || relays === undefined || relays.relays.length === 0) return undefined
  const onError = (error: unknown) => log.warn('limits of relays not shared with other nodes, will retry', { error })
  return createSharedLimits(relays.relays, {
    store: { leases: store.leases, nodes: store.nodes, rates },
    clock,
    closeIdle,
    onError,
  })
}

const IDLE_MS = 1_000
/** One claim is one transaction: enough to fill the workers, short enough to keep the main thread free. */
const CLAIM_MAX = 100
/** Longest pause of a destination, as a fraction of the wait before the next attempt (which varies by a tenth). */
const PAUSE_OF_RETRY = 0.8
