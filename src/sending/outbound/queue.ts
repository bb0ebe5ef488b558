import { type ConcurrencyLimiter, createConcurrencyLimiter } from '../../net/limiters/concurrency.ts'
import { wallTimeOf, watchClockChanges } from '../../os/clock-changes.ts'
import { createFreedBlockers, type FreedBlockers } from '../../os/freed-blockers.ts'
import { createLoop, type Loop } from '../../os/loop.ts'
import { createQueueRecovery, type QueueRecovery } from '../../os/queue-recovery.ts'
import { within } from '../../os/within.ts'
import type { ClaimedDelivery } from '../../storage/store.ts'
import type { Attempts } from './attempts.ts'
import type { DeliveryContext } from './context.ts'
import { Deliverer, type DelivererParts } from './deliver.ts'
import type { Chosen } from './relays/relay-choice.ts'
import { type Admission, ClaimPlan, EXPIRED, type Grant } from './schedule/admission.ts'
import type { DestinationState } from './schedule/destination-state.ts'
import { type AdmissionSources, type OpenAdmission, openAdmission } from './schedule/open-admission.ts'
import type { AddressUse } from './senders/senders.ts'
import type { WarmupState } from './senders/warmups.ts'

/** The queue of outgoing mail.
 *
 *  A delivery is one message to one recipient. The store has it from the acceptance of its message:
 *
 *      scheduled ──▶ queued ──▶ claimed ──▶ delivered, bounced, suppressed
 *                       ▲          │
 *                       └─deferred─┘           scheduled, queued, deferred ──▶ cancelled
 *
 *  `queued` and `deferred` deliveries have a due time. A claim gives a due delivery to this process for a lease and counts its
 *  attempt before it starts. The result of the attempt ends the lease; so does the death of the process, after which the
 *  delivery is due again. The schedule `delivery.retry_schedule` sets the time of the next attempt after a temporary failure,
 *  and with its end, or the age of the message, the delivery bounces.
 *
 *  The loop below moves deliveries. Each turn claims what is due, as much as may start, and starts Deliverer.deliver for each.
 *  Deliveries with the same sender, stream and domain form a queue of the store. Admission decides for a queue what may start:
 *
 *  - by the destination: connections, mails per minute, pauses (schedule/concurrency.ts, schedule/reputation.ts); their
 *    maximum comes from the config or the provider's published limits (schedule/destination-limits.ts)
 *  - by the organization: its share of all deliveries in progress while others have mail (schedule/owner-shares.ts)
 *  - by the address that mail is sent from: its warm-up, and rests after it was blocked (senders/)
 *  - by the relay: its connections and mails per minute over all nodes (relays/)
 *  - by the process: `maxInFlight` deliveries at once, a part of which overdue mail leaves to fresh mail
 *
 *  Lost: nothing; the store counts a claim before the attempt, and a record that cannot be written is written later. Twice: a
 *  mail whose connection or process died between the final dot and its reply (journal/delivered-journal.ts). It is retried
 *  with the same Message-ID, as every mail server does. */
export class DeliveryQueue {
  readonly #context: DeliveryContext
  readonly #sources: AdmissionSources
  readonly #loop: Loop
  readonly #admission: Admission
  readonly #senders: OpenAdmission['senders']
  readonly #shared: OpenAdmission['shared']
  readonly #deliverer: Deliverer
  readonly #slots: ConcurrencyLimiter
  readonly #recovery: QueueRecovery
  readonly #freed: FreedBlockers
  /** Claims whose result is not stored yet. */
  readonly #underWay = new Set<ClaimedDelivery>()
  #isStopping = false
  /** The second in which expired deliveries were last ended. */
  #expiredIn = Number.NaN

  /** `start` starts it. */
  constructor(
    context: DeliveryContext,
    sources: AdmissionSources,
    parts: Pick<DelivererParts, 'logins' | 'relayCounters'> & {
      attempts: Pick<Attempts, 'attempt' | 'written' | 'closeIdle'>
    },
  ) {
    const { store, clock, settings, log } = context
    this.#context = context
    this.#sources = sources
    const clockChanges = watchClockChanges(clock)
    this.#freed = createFreedBlockers(store.deliveries)
    const opened = openAdmission(context, sources, { ...parts, clockChanges, wake: () => this.wake() })
    this.#admission = opened.admission
    this.#senders = opened.senders
    this.#shared = opened.shared
    this.#deliverer = new Deliverer(context, { ...parts, admission: opened.admission, clockChanges })
    const total = settings.maxInFlight
    this.#slots = createConcurrencyLimiter({ total, perKey: total, onFree: () => this.wake() })
    this.#recovery = createQueueRecovery({
      queue: store.deliveries,
      clock,
      clockChanges,
      workerId: context.workerId,
      underWay: () => this.#underWay.values().map(({ delivery }) => delivery.id),
      onClockSet: (byMs) => log.warn('system clock changed', { by_ms: byMs }),
    })
    this.#loop = createLoop({
      clock,
      idleMs: IDLE_MS,
      tick: () => this.#turn(),
      onError: (error) => {
        log.error('delivery scheduler failed', { error })
        this.#recovery.turnFailed()
      },
    })
  }

  start(): void {
    this.#loop.start()
  }

  /** Something may be due, or a limit may allow more. */
  wake(): void {
    this.#loop.wake()
  }

  /** Claims nothing more and waits up to `graceMs` for attempts in progress. Unfinished deliveries are due again at
   *  the next start, when the lease of this process ends. */
  async stop(graceMs: number): Promise<void> {
    const { clock, log } = this.#context
    this.#isStopping = true
    this.#deliverer.cancelWaits()
    await this.#loop.stop()
    await within(clock, graceMs, this.#slots.drained())
    this.#deliverer.stopRecording()
    await this.#senders?.warmups?.flush().catch((error) => log.warn('results of warm-up not stored', { error }))
    await this.#sources.storedRests?.settled()
  }

  /** Returns the time of the next work, ms UTC; null: unknown. */
  async #turn(): Promise<number | null> {
    const { clock } = this.#context
    const isMore = await this.#recovery.turn()
    await this.#senders?.warmups?.turn()
    await this.#shared?.turn((destination) => this.#admission.stateOf(destination).underWay)
    await this.#endExpired()
    const nextAt = await this.#claimDue(clock.now())
    return isMore ? clock.now() : nextAt
  }

  /** Runs once a second: a message that expires does not wait until its destination is available again. */
  async #endExpired(): Promise<void> {
    const { store, clock, workerId: worker } = this.#context
    const now = clock.now()
    const second = Math.floor(now / 1000)
    const limit = this.#claimLimit()
    if (this.#isStopping || limit === 0 || second === this.#expiredIn) return
    const claims = await store.deliveries.claimExpired({ now, limit, worker })
    for (const claim of claims) this.#deliver(claim, EXPIRED)
    if (claims.length < limit) this.#expiredIn = second
  }

  /** Plans by the limits, claims by the plan, counts what was claimed, and starts it. */
  async #claimDue(now: number): Promise<number | null> {
    const { clock, workerId: worker } = this.#context
    const { deliveries } = this.#context.store
    const look: ClaimPlan['look'] = (queue, dueAt) => this.#admission.limitsOf(queue, dueAt)
    if (this.#isStopping || this.#claimLimit() === 0) return null
    this.#freed.add(this.#admission.freed())
    await this.#freed.report()
    const dueAt = await deliveries.nextDueAt(look, now)
    if (dueAt === null || dueAt > now) return dueAt
    const claimPlan = new ClaimPlan(this.#admission)
    const plan = await deliveries.planClaims({ now, limit: this.#claimLimit(), look: claimPlan.look })
    // Slots may have become free until the store planned.
    const limit = this.#claimLimit()
    const request = { now: clock.now(), limit, worker, contentBytes: this.#deliverer.smallBytes, plan }
    const claims = await deliveries.claimDue(request).catch(async (error) => {
      await deliveries.putBack(plan)
      throw error
    })
    const grants = claimPlan.commit(claims.map(({ delivery }) => delivery.queue))
    for (const [at, claim] of claims.entries()) this.#deliver(claim, grants[at]!)
    return this.#slots.free() === 0 ? null : deliveries.nextDueAt(look, clock.now())
  }

  #claimLimit(): number {
    return Math.min(this.#slots.free(), CLAIM_MAX)
  }

  #deliver(claim: ClaimedDelivery, grant: Grant): void {
    this.#underWay.add(claim)
    this.#slots.start(grant.route.destination, () =>
      this.#deliverer.deliver(claim, grant).finally(() => this.#underWay.delete(claim)),
    )
  }

  /** As os/loop.ts. */
  turningMs(): number {
    return this.#loop.turningMs()
  }

  /** Deliveries in progress. */
  underWay(): number {
    return this.#slots.running()
  }

  /** Reputation and limits of a queue's mail at a destination. */
  stateOf(destination: string, queue?: string): DestinationState {
    return this.#admission.stateOf(destination, queue)
  }

  /** The same for every known destination with attempts since the start. */
  destinations(): DestinationState[] {
    return this.#admission.destinations()
  }

  /** As Routing. */
  chosen(queue: string, destination: string | null): Chosen | null {
    return this.#admission.chosen(queue, destination)
  }

  /** What was sent from each configured address since the start; rests end at times in ms UTC. */
  addresses(): AddressUse[] {
    const { clock } = this.#context
    return (this.#senders?.uses() ?? []).map((use) => ({
      ...use,
      rests: use.rests.map((rest) => ({ ...rest, until: wallTimeOf(clock, rest.until) })),
    }))
  }

  /** Where each address in warm-up is, by destination group; [] without any. */
  warmups(): WarmupState[] {
    return this.#senders?.warmups?.states() ?? []
  }
}

const IDLE_MS = 1_000
/** One claim is one transaction: enough to fill the workers, short enough to keep the main thread free. */
const CLAIM_MAX = 100
