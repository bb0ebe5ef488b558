import type { Post } from '../../net/https/requests.ts'
import { type ConcurrencyLimiter, createConcurrencyLimiter } from '../../net/limiters/concurrency.ts'
import type { WallClock } from '../../os/clock.ts'
import { watchClockChanges } from '../../os/clock-changes.ts'
import { createFreedBlockers, type FreedBlockers } from '../../os/freed-blockers.ts'
import type { Log, LogFields } from '../../os/log.ts'
import { createLoop, type Loop } from '../../os/loop.ts'
import { createQueueRecovery, type QueueRecovery } from '../../os/queue-recovery.ts'
import { type ClaimQueue, NodeParts, type Nodes, StoreUnavailable } from '../../storage/store.ts'
import { createEndpointConcurrency, type EndpointConcurrency } from './endpoint-concurrency.ts'
import { createOrganizationLimits, type OrganizationLimits } from './organization-limits.ts'
import type { Verdict } from './verdict.ts'

/** A claim of any queue: its attempt is counted and may start. */
export interface Claim {
  id: string
  attempt: number
  worker: string
}

/** The methods of a store queue that this loop uses (store.ts WebhookDeliveries, InboundDeliveries). */
export interface DeliveryQueue<C extends Claim> extends ClaimQueue<C> {
  /** Writes some of the deliveries that are still to be written; true while there are more. */
  fanOutSome?(): Promise<boolean>
}

/** Options of both kinds. */
export interface DeliveryLoopOptions<C extends Claim> {
  /** First word of its log lines: `webhook`. */
  noun: string
  queue: DeliveryQueue<C>
  clock: WallClock
  log: Log
  /** Identifies this process in leases. */
  workerId: string
  /** Time limit of a request. An endpoint that takes more than half of it, or 5 s, is slow. */
  timeoutMs: number
  maxInFlight: number
  /** Over all nodes. */
  perEndpoint: number
  nodes: Nodes
}

/** Delivers everything that is posted to endpoints: claims, posts, and records the result or the next attempt. Webhook
 *  deliveries (loop.ts) and inbound deliveries (inbound-loop.ts) are two queues of it, each with its own attempt and record.
 *
 *  A tick fills the free slots and does not wait for them; a slot that frees wakes the loop. An endpoint has at most
 *  `perEndpoint` requests in progress over all nodes: each node has a part of them, at least one. Slow endpoints share
 *  half of the slots (endpoint-concurrency.ts). No organization has more requests in progress than there are free slots
 *  (organization-limits.ts).
 *
 *  A slot is free once the response is there. Results wait for the tick that this causes, so that the results of some
 *  requests and the claims of the next ones share a commit: a fast endpoint waits for the disk once.
 *
 *  Retried       every response except 2xx, up to five attempts (verdict.ts, schedule.ts). A result that the store
 *                cannot write is written again every second; meanwhile nothing new is claimed.
 *  Twice         if the process dies between the response and the record, the same body is posted again. The attempt
 *                stays counted; if it was the fifth, one more follows, because the response is not known.
 *  Never lost    a delivery is a row. Its lease ends with the process; a claim that was lost inside the process is due
 *                again within a minute. */
export abstract class DeliveryLoop<C extends Claim, V extends Pick<Verdict, 'attempt' | 'status'>> {
  readonly #options: DeliveryLoopOptions<C>
  readonly #loop: Loop
  readonly #concurrency: EndpointConcurrency
  readonly #slots: ConcurrencyLimiter
  readonly #limits: OrganizationLimits
  readonly #recovery: QueueRecovery
  readonly #records = createConcurrencyLimiter({ total: Infinity, perKey: Infinity, onFree: () => {} })
  readonly #answered: { claim: C; verdict: V }[] = []
  readonly #freed: FreedBlockers
  /** Claims whose result is not stored yet. */
  readonly #underWay = new Set<C>()
  readonly #stopping = new AbortController()
  readonly #giveUp = new AbortController()
  #unwritten = 0
  /** When the last tick began its work, by the steady clock. */
  #gatheredAt = Number.NEGATIVE_INFINITY
  /** Ends the wait for more responses. */
  #enough = () => {}
  #hasTicks = true
  /** When the next deliveries of events are written; null = as far as is known, none are left. */
  #fanOutAt: number | null = null

  /** `start` starts it. */
  constructor(options: DeliveryLoopOptions<C>) {
    const { noun, queue, clock, log, maxInFlight, perEndpoint } = options
    this.#options = options
    const parts = new NodeParts(options.nodes, clock.steady)
    this.#concurrency = createEndpointConcurrency({
      total: maxInFlight,
      perEndpoint: (endpointId) => parts.of(perEndpoint, endpointId),
    })
    this.#slots = createConcurrencyLimiter({
      total: maxInFlight,
      perKey: this.#concurrency.limitOf,
      onFree: () => {
        if (this.#slots.running() < MANY) this.#enough()
        this.#loop.wake()
      },
    })
    this.#limits = createOrganizationLimits({
      slots: this.#slots,
      concurrency: this.#concurrency,
      organizationOf: (endpointId) => this.ownerOf(endpointId),
      now: clock.now,
    })
    this.#freed = createFreedBlockers(queue)
    this.#recovery = createQueueRecovery({
      queue,
      clock,
      clockChanges: watchClockChanges(clock),
      workerId: options.workerId,
      underWay: () => this.#underWay.values().map(({ id }) => id),
      onClockSet: () => {
        this.#fanOutAt = null
      },
    })
    this.#loop = createLoop({
      clock,
      idleMs: IDLE_MS,
      tick: () => this.#tick(),
      onError: (error) => {
        log.error(`${noun} deliveries not claimed`, { error })
        this.#recovery.turnFailed()
      },
    })
  }

  /** Organization of a webhook or route; null if it was deleted. */
  protected abstract ownerOf(endpointId: string): string | null
  /** The webhook or route whose slot a claim uses. */
  protected abstract endpointOf(claim: C): string
  /** Log fields of a claim; neither addresses nor content. */
  protected abstract factsOf(claim: C): LogFields
  /** One POST and its verdict. Null: it could not start in time and is given back without counting. `stopping` ends what
   *  has not started. Rejects only with bugs and what the store throws. */
  protected abstract attempt(claim: C, stopping: AbortSignal): Promise<V | null>
  /** Writes the verdict of a claim; repeated while the store cannot write. */
  protected abstract record(claim: C, verdict: V): Promise<'recorded' | 'lease_lost'>
  /** Follow-up of a written record. */
  protected async recorded(_claim: C, _verdict: V): Promise<void> {}

  start(): void {
    this.#loop.start()
  }

  /** Call it after each write that makes a delivery due. */
  wake(): void {
    this.#loop.wake()
  }

  /** As os/loop.ts. */
  turningMs(): number {
    return this.#loop.turningMs()
  }

  /** Claims nothing more and waits at most `graceMs` for requests in progress. Unrecorded results are due again at the
   *  next start, when the lease of this process ends. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort()
    await this.#loop.stop()
    this.#hasTicks = false
    this.#recordAnswered()
    const patience = new AbortController()
    void this.#slots
      .drained()
      .then(this.#records.drained)
      .then(() => patience.abort())
    await this.#options.clock.sleep(graceMs, patience.signal)
    this.#giveUp.abort()
  }

  /** Number of requests in progress, including those whose result is being written. */
  inFlight(): number {
    return this.#slots.running() + this.#answered.length + this.#records.running()
  }

  async #tick(): Promise<number | null> {
    await turnOfTheEventLoop() // responses arrive one by one: write and claim once for all of them
    await this.#gather()
    this.#recordAnswered()
    const isMore = await this.#recovery.turn()
    const now = this.#options.clock.now()
    await this.#fanOut(now)
    const nextAt = earlier(this.#fanOutAt, await this.#claim(now))
    return isMore ? now : nextAt
  }

  /** While many requests are in progress, ticks start GATHER_MS apart, or once few are left without a response. */
  async #gather(): Promise<void> {
    const { steady } = this.#options.clock
    const waitMs = this.#gatheredAt + GATHER_MS - steady.now()
    if (waitMs > 0 && this.#slots.running() >= MANY) {
      await new Promise<void>((resolve) => {
        this.#enough = resolve
        setTimeout(resolve, waitMs)
      })
    }
    this.#gatheredAt = steady.now()
  }

  async #fanOut(now: number): Promise<void> {
    const { clock } = this.#options
    // Also if the loop is woken before: otherwise an organization with many webhooks would occupy most of the main
    // thread.
    const at = this.#fanOutAt
    const isPause = at !== null && now < at && at <= now + LONGEST_PAUSE_MS // or the clock was set back
    if (isPause) return
    const isMore = await this.#options.queue.fanOutSome?.()
    const tookMs = clock.now() - now
    this.#fanOutAt = isMore ? clock.now() + Math.min(Math.max(FAN_OUT_PAUSE_MS, 3 * tookMs), LONGEST_PAUSE_MS) : null
  }

  async #claim(now: number): Promise<number | null> {
    const { queue, clock, workerId: worker } = this.#options
    const { look } = this.#limits
    if (this.#slots.free() === 0 || this.#unwritten > 0) return null // a slot that frees wakes the loop
    this.#freed.add(this.#limits.freed())
    await this.#freed.report()
    const dueAt = await queue.nextDueAt(look, now)
    if (dueAt === null || dueAt > now) return dueAt
    const plan = await queue.planClaims({ now, limit: this.#slots.free(), look })
    const request = { now: clock.now(), limit: this.#slots.free(), worker, plan }
    const claims = await queue.claimDue(request).catch(async (error) => {
      await queue.putBack(plan)
      throw error
    })
    if (this.#stopping.signal.aborted) {
      await queue.release(claims, clock.now())
      return null
    }
    for (const each of claims) {
      this.#underWay.add(each)
      this.#limits.start(this.endpointOf(each), () => this.#deliver(each))
    }
    return queue.nextDueAt(look, clock.now())
  }

  /** One claim up to its response. Never rejects: an error is logged, and the claim is due again within a minute. */
  async #deliver(claim: C): Promise<void> {
    const { queue, clock, timeoutMs } = this.#options
    try {
      const verdict = await this.attempt(claim, this.#stopping.signal)
      if (verdict === null) {
        await queue.release([claim], clock.now())
        this.#underWay.delete(claim)
        return
      }
      const slowMs = Math.min(SLOW_MS, timeoutMs / 2)
      this.#concurrency.record(this.endpointOf(claim), verdict.attempt.durationMs > slowMs ? 'slow' : 'quick')
      if (verdict.status !== 'delivered') this.#limits.failed(this.endpointOf(claim))
      this.#answered.push({ claim, verdict })
      if (!this.#hasTicks) this.#recordAnswered()
    } catch (error) {
      this.#logRepeated(claim, error)
      this.#underWay.delete(claim)
    }
  }

  #recordAnswered(): void {
    for (const { claim, verdict } of this.#answered.splice(0)) {
      this.#records.start(this.endpointOf(claim), () =>
        this.#record(claim, verdict)
          .catch((error) => this.#logRepeated(claim, error))
          .finally(() => this.#underWay.delete(claim)),
      )
    }
  }

  /** Its speed before does not count any more. */
  protected reset(endpointId: string): void {
    this.#concurrency.reset(endpointId)
  }

  #logRepeated(claim: C, error: unknown): void {
    const { noun, log } = this.#options
    log.error(`${noun} result not stored, the attempt will be repeated`, { ...this.factsOf(claim), error })
  }

  async #record(claim: C, verdict: V): Promise<void> {
    const { noun, log } = this.#options
    const { attempt, status } = verdict
    const recorded = await this.written(() => this.record(claim, verdict))
    const facts = { ...this.factsOf(claim), status_code: attempt.statusCode, error: attempt.error }
    if (recorded === 'lease_lost') return log.warn(`${noun} result discarded: lease ended`, facts)
    log.debug(`${noun} delivery ${status}`, facts)
    await this.recorded(claim, verdict)
  }

  /** The result of `write`, which is repeated every second while the store cannot write, until `stop` gives up. */
  protected async written<T>(write: () => Promise<T>): Promise<T> {
    const { noun, clock, log } = this.#options
    let isWaiting = false
    try {
      for (;;) {
        try {
          return await write()
        } catch (error) {
          if (!(error instanceof StoreUnavailable) || this.#giveUp.signal.aborted) throw error
          if (this.#unwritten === 0) log.warn(`${noun} results waiting for the database`, { error })
          if (!isWaiting) this.#unwritten++
          isWaiting = true
          await clock.sleep(REWRITE_MS, this.#giveUp.signal)
          if (this.#giveUp.signal.aborted) throw error
        }
      }
    } finally {
      if (isWaiting) this.#unwritten--
    }
  }
}

/** A `post` that throws is a bug. It is logged and counts as an attempt without a response, so that the delivery
 *  ends after five attempts like any other. */
export function answering(post: Post, noun: string, log: Log): Post {
  return async (url, request) => {
    try {
      return await post(url, request)
    } catch (error) {
      log.error(`${noun} request failed with an internal error`, { error })
      return { kind: 'no_answer', error: 'internal error', durationMs: 0 }
    }
  }
}

const earlier = (a: number | null, b: number | null) => (a === null || b === null ? (a ?? b) : Math.min(a, b))

const turnOfTheEventLoop = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Commits of results and claims took a fifth of the main thread's time for posts to an endpoint that responds at once. Ten
 *  requests to one that responds in 20 ms rarely have ticks closer than this. */
const GATHER_MS = 2
const MANY = 4

/** How often the loop looks for work that became due without waking it. While nothing is due, this costs no statement. */
const IDLE_MS = 1000
const REWRITE_MS = 1000
/** Pause between two steps of writing deliveries, which take some milliseconds each: other work gets three quarters
 *  of the time. */
const FAN_OUT_PAUSE_MS = 15
/** The pause is longer while much else is to be written. */
const LONGEST_PAUSE_MS = 200
/** A sixth of the default timeout of 30 s. */
const SLOW_MS = 5000
