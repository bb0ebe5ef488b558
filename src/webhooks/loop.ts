import type { Webhook } from '../model/webhook.ts'
import type { Clock } from '../platform/clock.ts'
import type { Post } from '../platform/fetch-public.ts'
import type { Log } from '../platform/log.ts'
import { createLoop } from '../platform/loop.ts'
import type { Random } from '../platform/random.ts'
import { createSlots } from '../platform/slots.ts'
import { type ClaimedWebhookDelivery, type Store, StoreUnavailable } from '../storage/store.ts'
import { type AttemptVerdict, attemptDelivery } from './attempt.ts'
import { createShares } from './share.ts'

/** THE FLOW of webhook deliveries: claim → sign → post → record → when next.
 *
 *  A tick fills the free slots and does not wait for them; a slot that frees wakes the loop. At most `maxPerWebhook`
 *  requests of one webhook are under way, and slow endpoints share half of the slots (share.ts).
 *
 *  Retried       what was not answered 2xx, up to five attempts (attempt.ts, schedule.ts). An outcome that the store
 *                cannot write is offered again every second, and nothing new is claimed meanwhile.
 *  Twice         a process that dies between the answer and the record, or that may not write until its lease ends,
 *                has posted what will be posted again. The attempt stays counted and the event id is the same; if it
 *                was the fifth, one more follows, because nobody knows what the endpoint said.
 *  Never lost    a delivery is a row; what nobody records is due again when its lease ends. */
export interface WebhookLoop {
  start(): void
  /** There may be something due: call it after each write of events. */
  wake(): void
  /** Claims nothing more, waits at most `graceMs` for what is under way; what is still not recorded then is due again
   *  when its lease ends, at the next start. */
  stop(graceMs: number): Promise<void>
  /** Requests under way, those whose outcome is being written included. */
  inFlight(): number
}

export interface WebhookLoopOptions {
  store: Pick<Store, 'webhooks' | 'webhookDeliveries'>
  post: Post
  clock: Clock
  random: Random
  log: Log
  settings: {
    /** Waits before attempts 2 to 5. */
    ladderSeconds: readonly number[]
    /** For the whole answer. */
    timeoutMs: number
    maxInFlight: number
    maxPerWebhook: number
  }
  /** Names this process in leases. */
  workerId: string
  userAgent: string
}

/** Store, door to the world and settings → a WebhookLoop that has not started. */
export function createWebhookLoop(options: WebhookLoopOptions): WebhookLoop {
  const { store, clock, random, log, workerId: worker, userAgent } = options
  const { ladderSeconds, timeoutMs, maxInFlight, maxPerWebhook } = options.settings
  const means = { post: answering(options.post, log), clock, random, ladderSeconds, timeoutMs, userAgent }
  const shares = createShares({ total: maxInFlight, perWebhook: maxPerWebhook })
  const slots = createSlots({ total: maxInFlight, perKey: shares.limitOf, onFree: () => loop.wake() })
  const giveUp = new AbortController()
  let stopping = false
  let unwritten = 0

  const tick = async (): Promise<number | null> => {
    await turnOfTheEventLoop() // what one commit recorded frees its slots one by one: claim for all of them at once
    if (slots.free() === 0 || unwritten > 0) return null // whatever frees a slot wakes us
    const now = clock.now()
    const dueAt = store.webhookDeliveries.nextDueAt(slots.freeFor)
    if (dueAt === null || dueAt > now) return dueAt
    const claims = await store.webhookDeliveries.claimDue({
      now,
      limit: slots.free(),
      lease: { worker, until: now + timeoutMs + LEASE_SPARE_MS },
      freeFor: slots.freeFor,
    })
    if (stopping) {
      await store.webhookDeliveries.release(claims.map(held), clock.now())
      return null
    }
    for (const claim of claims) slots.start(claim.webhookId, () => deliver(claim))
    return store.webhookDeliveries.nextDueAt(slots.freeFor)
  }

  const loop = createLoop({
    clock,
    idleMs: IDLE_MS,
    tick,
    onError: (error) => log.error('webhook deliveries cannot be claimed', { error }),
  })

  /** One claim from the POST to the written outcome. Never rejects: an error is logged, the lease ends by itself. */
  const deliver = async (claim: ClaimedWebhookDelivery) => {
    try {
      const verdict = await attemptDelivery(claim, means)
      shares.learn(claim.webhookId, verdict.attempt.durationMs > SLOW_MS ? 'slow' : 'quick')
      await record(claim, verdict)
    } catch (error) {
      log.error('webhook outcome not written, the attempt will be repeated', { ...factsOf(claim), error })
    }
  }

  const record = async (claim: ClaimedWebhookDelivery, verdict: AttemptVerdict) => {
    const { attempt, status, pauseReason } = verdict
    const recorded = await written(() =>
      store.webhookDeliveries.record({ ...verdict, deliveryId: claim.id, worker, now: clock.now() }),
    )
    const facts = { ...factsOf(claim), status_code: attempt.statusCode, error: attempt.error }
    if (recorded.kind === 'lease_lost') return log.warn('webhook outcome came after its lease', facts)
    log.debug(`webhook delivery ${status}`, facts)
    if (status === 'failed' && recorded.webhook.status === 'active') await pauseIfHopeless(recorded.webhook)
    if (pauseReason !== null) tellPaused(claim.webhookId, pauseReason)
  }

  const pauseIfHopeless = async (webhook: Webhook) => {
    const { id, consecutiveFailures, failingSince, updatedAt } = webhook
    if (consecutiveFailures < HOPELESS_FAILURES || failingSince === null) return
    const hopefulSince = Math.max(failingSince, updatedAt) // whoever has just changed or resumed it gets the day anew
    if (clock.now() - hopefulSince < HOPELESS_MS) return
    const disabledReason = `${consecutiveFailures} deliveries in a row failed over more than 24 hours`
    await written(() => store.webhooks.update(id, { status: 'paused', disabledReason }, clock.now()))
    tellPaused(id, disabledReason)
  }

  const tellPaused = (webhookId: string, reason: string) => {
    shares.forget(webhookId)
    log.warn('webhook paused', { webhook: webhookId, reason })
  }

  /** What `write` answers, asked again every second while the store cannot write and we are not to give up. */
  const written = async <T>(write: () => Promise<T>): Promise<T> => {
    let isWaiting = false
    try {
      for (;;) {
        try {
          return await write()
        } catch (error) {
          if (!(error instanceof StoreUnavailable) || giveUp.signal.aborted) throw error
          if (unwritten === 0) log.warn('webhook outcomes wait for the store', { error })
          if (!isWaiting) unwritten++
          isWaiting = true
          await clock.sleep(REWRITE_MS, giveUp.signal)
          if (giveUp.signal.aborted) throw error
        }
      }
    } finally {
      if (isWaiting) unwritten--
    }
  }

  return {
    start: () => loop.start(),
    wake: () => loop.wake(),
    stop: async (graceMs) => {
      stopping = true
      await loop.stop()
      const patience = new AbortController()
      void slots.drained().then(() => patience.abort())
      await clock.sleep(graceMs, patience.signal)
      giveUp.abort()
    },
    inFlight: () => slots.running(),
  }
}

/** A `post` that throws is a bug of ours; it is logged and counts as an attempt without an answer, so that it ends
 *  after five like any other. */
function answering(post: Post, log: Log): Post {
  return async (url, request) => {
    try {
      return await post(url, request)
    } catch (error) {
      log.error('webhook request could not be made', { error })
      return { kind: 'no_answer', error: 'internal error', durationMs: 0 }
    }
  }
}

const factsOf = (claim: ClaimedWebhookDelivery) => ({
  delivery: claim.id,
  webhook: claim.webhookId,
  event: claim.eventId,
  attempt: claim.attempt,
})

const held = ({ id, attempt, lease }: ClaimedWebhookDelivery) => ({ id, attempt, worker: lease.worker })

const turnOfTheEventLoop = () => new Promise<void>((resolve) => setImmediate(resolve))

/** For what became due without a wake. A look that finds nothing due costs no statement. */
const IDLE_MS = 1000
/** A lease outlasts its attempt by the time a record may take, or two workers hold one delivery. */
const LEASE_SPARE_MS = 60_000
const REWRITE_MS = 1000
/** A sixth of the 30 s that an endpoint is given. */
const SLOW_MS = 5000
/** contract §4 "100 failed deliveries in a row over at least 24 h" */
const HOPELESS_FAILURES = 100
const HOPELESS_MS = 86_400_000
