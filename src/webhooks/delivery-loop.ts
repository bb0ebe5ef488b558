import type { Post } from '../net/https/requests.ts'
import { type ConcurrencyLimiter, createConcurrencyLimiter } from '../net/limiters/concurrency.ts'
import type { WallClock } from '../os/clock.ts'
import { watchClockChanges } from '../os/clock-changes.ts'
import type { Log, LogFields } from '../os/log.ts'
import { createLoop, type Loop } from '../os/loop.ts'
import { createQueueRecovery, type QueueRecovery } from '../os/queue-recovery.ts'
import { type ClaimQueue, StoreUnavailable } from '../storage/store.ts'
import { createOrganizationRoom, type OrganizationRoom } from './room.ts'
import { createShares, type Shares } from './share.ts'
import type { Verdict } from './verdict.ts'

/** THE FLOW of everything that is posted to endpoints: claim → post → record → when next. Webhook deliveries (loop.ts)
 *  and inbound deliveries (inbound-loop.ts) are two queues of it.
 *
 *  A tick fills the free slots and does not wait for them; a slot that frees wakes the loop. At most `perEndpoint`
 *  requests of one endpoint are under way, slow endpoints share half of the slots (share.ts), and no organization has
 *  more requests under way than there are free slots (room.ts).
 *
 *  A slot is free when the answer is there. What was answered waits for the tick that this causes, so that the outcomes of
 *  some requests and the claims of the next ones share a commit: an endpoint that answers at once waits for the disk once.
 *
 *  Retried       what was not answered 2xx, up to five attempts (verdict.ts, schedule.ts). An outcome that the store
 *                cannot write is offered again every second, and nothing new is claimed meanwhile.
 *  Twice         a process that dies between the answer and the record has posted what will be posted again. The
 *                attempt stays counted and the body is the same; if it was the fifth, one more follows, because the
 *                answer is not known.
 *  Never lost    a delivery is a row. Its lease ends with the process; a claim that was lost inside the process is due
 *                again within a minute. */
export interface DeliveryLoop {
  start(): void
  /** There may be something due: call it after each write that makes a delivery due. */
  wake(): void
  /** As os/loop.ts. */
  turningMs(): number
  /** Claims nothing more and waits at most `graceMs` for requests in progress. What is not recorded then is due again at
   *  the next start, when the lease of this process ends. */
  stop(graceMs: number): Promise<void>
  /** Requests under way, those whose outcome is being written included. */
  inFlight(): number
}

/** A claim of any queue: its attempt is counted and may start. */
export interface Claim {
  id: string
  attempt: number
  worker: string
}

/** What a queue of the store can be asked (store.ts WebhookDeliveries, InboundDeliveries). */
export interface DeliveryQueue<C extends Claim> extends ClaimQueue<C> {
  /** Writes deliveries that are still to be written, some; true while there are more. */
  fanOutSome?(): Promise<boolean>
}

/** One kind of delivery: where its claims come from, and the three things that are its own. */
export interface DeliveryKind<C extends Claim, V extends Pick<Verdict, 'attempt' | 'status'>, R> {
  /** Begins its log lines: `webhook`. */
  noun: string
  queue: DeliveryQueue<C>
  /** Organization of a webhook or route; null when it is gone. */
  ownerOf: (endpointId: string) => string | null
  /** Webhook or route: whose slots it takes. */
  endpointOf: (claim: C) => string
  /** What log lines say of a claim; neither addresses nor content. */
  factsOf: (claim: C) => LogFields
  /** One POST and what follows from it. Null: it could not begin in its time and is given back uncounted.
   *  `stopping` ends what has not begun. Rejects only with bugs and what the store throws. */
  attempt: (claim: C, stopping: AbortSignal) => Promise<V | null>
  /** Writes what came of a claim; asked again while the store cannot write. */
  record: (claim: C, verdict: V) => Promise<R | 'lease_lost'>
  /** What else follows once it is written. `written` keeps on asking while the store cannot write. */
  recorded?: (claim: C, verdict: V, record: R, written: Written) => Promise<void>
}

/** What `write` answers, asked again every second while the store cannot write and we are not to give up. */
export type Written = <T>(write: () => Promise<T>) => Promise<T>

/** What both kinds are told once. */
export interface DeliveryLoopOptions {
  clock: WallClock
  log: Log
  /** Names this process in leases. */
  workerId: string
  /** What an endpoint is given. One that takes more than half of it, or 5 s, is slow. */
  timeoutMs: number
  maxInFlight: number
  perEndpoint: number
}

/** Kind and settings → a loop that has not started. `forget`: nothing known of that endpoint's speed counts any longer. */
export function createDeliveryLoop<C extends Claim, V extends Pick<Verdict, 'attempt' | 'status'>, R>(
  kind: DeliveryKind<C, V, R>,
  options: DeliveryLoopOptions,
): DeliveryLoop & { forget(endpointId: string): void } {
  const deliveries = new Deliveries(kind, options)
  const { loop, shares } = deliveries
  return {
    start: () => loop.start(),
    wake: () => loop.wake(),
    turningMs: () => loop.turningMs(),
    stop: (graceMs) => deliveries.stop(graceMs),
    inFlight: () => deliveries.inFlight(),
    forget: shares.forget,
  }
}

class Deliveries<C extends Claim, V extends Pick<Verdict, 'attempt' | 'status'>, R> {
  readonly loop: Loop
  readonly shares: Shares
  readonly #kind: DeliveryKind<C, V, R>
  readonly #options: DeliveryLoopOptions
  readonly #slots: ConcurrencyLimiter
  readonly #room: OrganizationRoom
  readonly #recovery: QueueRecovery
  readonly #records = createConcurrencyLimiter({ total: Infinity, perKey: Infinity, onFree: () => {} })
  readonly #answered: { claim: C; verdict: V }[] = []
  /** Ids of claims whose result is not stored yet. */
  readonly #underWay = new Set<string>()
  readonly #stopping = new AbortController()
  readonly #giveUp = new AbortController()
  #unwritten = 0
  #hasTicks = true
  /** When more deliveries of events are written; null = nothing waits, as far as is known. */
  #fanOutAt: number | null = null

  constructor(kind: DeliveryKind<C, V, R>, options: DeliveryLoopOptions) {
    const { noun, queue } = kind
    const { clock, log, maxInFlight, perEndpoint } = options
    this.#kind = kind
    this.#options = options
    this.shares = createShares({ total: maxInFlight, perEndpoint })
    this.#slots = createConcurrencyLimiter({
      total: maxInFlight,
      perKey: this.shares.limitOf,
      onFree: () => this.loop.wake(),
    })
    this.#room = createOrganizationRoom({
      slots: this.#slots,
      shares: this.shares,
      organizationOf: kind.ownerOf,
    })
    this.#recovery = createQueueRecovery({
      queue,
      clock,
      clockChanges: watchClockChanges(clock),
      workerId: options.workerId,
      underWay: () => this.#underWay,
      onClockSet: () => {
        this.#fanOutAt = null
      },
    })
    this.loop = createLoop({
      clock,
      idleMs: IDLE_MS,
      tick: () => this.#tick(),
      onError: (error) => log.error(`${noun} deliveries not claimed`, { error }),
    })
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort()
    await this.loop.stop()
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

  inFlight(): number {
    return this.#slots.running() + this.#answered.length + this.#records.running()
  }

  async #tick(): Promise<number | null> {
    await turnOfTheEventLoop() // answers come one by one: write and claim for all of them at once
    this.#recordAnswered()
    const isMore = await this.#recovery.turn()
    const now = this.#options.clock.now()
    await this.#fanOut(now)
    const nextAt = earlier(this.#fanOutAt, await this.#claim(now))
    return isMore ? now : nextAt
  }

  async #fanOut(now: number): Promise<void> {
    const { clock } = this.#options
    // Also when the loop is woken before: else an organization with many webhooks would have most of the main thread.
    const at = this.#fanOutAt
    const isPause = at !== null && now < at && at <= now + LONGEST_PAUSE_MS // or the clock was set back
    if (isPause) return
    const isMore = await this.#kind.queue.fanOutSome?.()
    const tookMs = clock.now() - now
    this.#fanOutAt = isMore ? clock.now() + Math.min(Math.max(FAN_OUT_PAUSE_MS, 3 * tookMs), LONGEST_PAUSE_MS) : null
  }

  async #claim(now: number): Promise<number | null> {
    const { queue, endpointOf } = this.#kind
    const { clock, workerId: worker } = this.#options
    const { look } = this.#room
    if (this.#slots.free() === 0 || this.#unwritten > 0) return null // whatever frees a slot wakes us
    await queue.freed(this.#room.freed())
    const dueAt = await queue.nextDueAt(look, now)
    if (dueAt === null || dueAt > now) return dueAt
    const limit = this.#slots.free()
    const plan = await queue.planClaims({ now, limit, look })
    const claims = await queue.claimDue({ now, limit, worker, plan }).catch(async (error) => {
      await queue.putBack(plan)
      throw error
    })
    if (this.#stopping.signal.aborted) {
      await queue.release(claims, clock.now())
      return null
    }
    for (const each of claims) {
      this.#underWay.add(each.id)
      this.#room.start(endpointOf(each), () => this.#deliver(each))
    }
    return queue.nextDueAt(look, clock.now())
  }

  /** One claim up to its answer. Never rejects: after an error, which is logged, the claim is due again within a minute. */
  async #deliver(claim: C): Promise<void> {
    const { queue, attempt, endpointOf } = this.#kind
    const { clock, timeoutMs } = this.#options
    try {
      const verdict = await attempt(claim, this.#stopping.signal)
      if (verdict === null) {
        await queue.release([claim], clock.now())
        this.#underWay.delete(claim.id)
        return
      }
      const slowMs = Math.min(SLOW_MS, timeoutMs / 2)
      this.shares.learn(endpointOf(claim), verdict.attempt.durationMs > slowMs ? 'slow' : 'quick')
      this.#answered.push({ claim, verdict })
      if (!this.#hasTicks) this.#recordAnswered()
    } catch (error) {
      this.#logRepeated(claim, error)
      this.#underWay.delete(claim.id)
    }
  }

  #recordAnswered(): void {
    for (const { claim, verdict } of this.#answered.splice(0)) {
      this.#records.start(this.#kind.endpointOf(claim), () =>
        this.#record(claim, verdict)
          .catch((error) => this.#logRepeated(claim, error))
          .finally(() => this.#underWay.delete(claim.id)),
      )
    }
  }

  #logRepeated(claim: C, error: unknown): void {
    const { noun, factsOf } = this.#kind
    this.#options.log.error(`${noun} result not stored, the attempt will be repeated`, { ...factsOf(claim), error })
  }

  async #record(claim: C, verdict: V): Promise<void> {
    const kind = this.#kind
    const { log } = this.#options
    const { attempt, status } = verdict
    const recorded = await this.#written(() => kind.record(claim, verdict))
    const facts = { ...kind.factsOf(claim), status_code: attempt.statusCode, error: attempt.error }
    if (recorded === 'lease_lost') return log.warn(`${kind.noun} result discarded: lease ended`, facts)
    log.debug(`${kind.noun} delivery ${status}`, facts)
    await kind.recorded?.(claim, verdict, recorded, (write) => this.#written(write))
  }

  async #written<T>(write: () => Promise<T>): Promise<T> {
    const { clock, log } = this.#options
    let isWaiting = false
    try {
      for (;;) {
        try {
          return await write()
        } catch (error) {
          if (!(error instanceof StoreUnavailable) || this.#giveUp.signal.aborted) throw error
          if (this.#unwritten === 0) log.warn(`${this.#kind.noun} results waiting for the database`, { error })
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

/** A `post` that throws is a bug of ours; it is logged and counts as an attempt without an answer, so that it ends
 *  after five like any other. */
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

/** For what became due without a wake. A look that finds nothing due costs no statement. */
const IDLE_MS = 1000
const REWRITE_MS = 1000
/** Between two steps of writing deliveries, each of some milliseconds: others have three quarters of the time. */
const FAN_OUT_PAUSE_MS = 15
/** It is longer while much else is to be written. */
const LONGEST_PAUSE_MS = 200
/** A sixth of the 30 s that an endpoint is given unless configured. */
const SLOW_MS = 5000
