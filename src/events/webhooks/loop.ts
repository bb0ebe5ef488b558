import type { Webhook } from '../../model/webhook.ts'
import type { Post } from '../../net/https/requests.ts'
import type { WallClock } from '../../os/clock.ts'
import type { Log } from '../../os/log.ts'
import type { Random } from '../../os/random.ts'
import type { ClaimedWebhookDelivery, Store } from '../../storage/store.ts'
import { type AttemptVerdict, attemptDelivery, type Shapes } from './attempt.ts'
import { answering, createDeliveryLoop, type DeliveryLoop, type Written } from './delivery-loop.ts'

/** The webhook scheduler: delivery-loop.ts for webhook deliveries, each one signed event to one endpoint. Retries
 *  have the same event ID. An endpoint that answers 410 is paused, and so is one with a hundred failed deliveries in
 *  a row over a day; its deliveries wait. */
export type WebhookLoop = DeliveryLoop

/** Dependencies and settings of the scheduler. */
export interface WebhookLoopOptions {
  store: Pick<Store, 'snapshot' | 'webhooks' | 'webhookDeliveries'>
  post: Post
  clock: WallClock
  random: Random
  log: Log
  settings: {
    /** Waits before attempts 2 to 5, in seconds. */
    scheduleSeconds: readonly number[]
    /** Time limit for the whole response. */
    timeoutMs: number
    maxInFlight: number
    maxPerWebhook: number
  }
  /** Identifies this process in leases. */
  workerId: string
  userAgent: string
  shapes: Shapes
}

/** Creates a WebhookLoop from the store, an HTTP client and settings. It is not started yet. */
export function createWebhookLoop(options: WebhookLoopOptions): WebhookLoop {
  const { store, clock, random, log, workerId, userAgent, shapes } = options
  const { scheduleSeconds, timeoutMs, maxInFlight, maxPerWebhook } = options.settings
  const post = answering(options.post, 'webhook', log)
  const means = { post, clock, random, scheduleSeconds, timeoutMs, userAgent, shapes }

  const record = async (claim: ClaimedWebhookDelivery, verdict: AttemptVerdict) => {
    const outcome = { ...verdict, deliveryId: claim.id, worker: workerId, now: clock.now() }
    const recorded = await store.webhookDeliveries.record(outcome)
    return recorded.kind === 'lease_lost' ? recorded.kind : recorded.webhook
  }

  const recorded = async (
    claim: ClaimedWebhookDelivery,
    { status, pauseReason }: AttemptVerdict,
    webhook: Webhook,
    written: Written,
  ) => {
    if (status === 'failed' && webhook.status === 'active') await pauseIfHopeless(webhook, written)
    if (pauseReason !== null) announcePause(claim.webhookId, pauseReason)
  }

  const pauseIfHopeless = async (webhook: Webhook, written: Written) => {
    const { id, consecutiveFailures, failingSince, updatedAt } = webhook
    if (consecutiveFailures < PAUSING_FAILURES || failingSince === null) return
    const failingFrom = Math.max(failingSince, updatedAt) // changing or resuming a webhook starts the day again
    if (clock.now() - failingFrom < PAUSING_MS) return
    const disabledReason = `${consecutiveFailures} deliveries in a row failed over more than 24 hours.`
    await written(() => store.webhooks.update(id, { status: 'paused', disabledReason }, clock.now()))
    announcePause(id, disabledReason)
  }

  const announcePause = (webhookId: string, reason: string) => {
    loop.reset(webhookId)
    log.warn('webhook paused', { webhook_id: webhookId, reason })
  }

  const loop = createDeliveryLoop(
    {
      noun: 'webhook',
      queue: store.webhookDeliveries,
      ownerOf: store.snapshot.ownerOfWebhook,
      endpointOf: (claim) => claim.webhookId,
      factsOf,
      attempt: (claim) => attemptDelivery(claim, means),
      record,
      recorded,
    },
    { clock, log, workerId, timeoutMs, maxInFlight, perEndpoint: maxPerWebhook },
  )
  return loop
}

const factsOf = (claim: ClaimedWebhookDelivery) => ({
  delivery_id: claim.id,
  webhook_id: claim.webhookId,
  event_id: claim.eventId,
  attempt: claim.attempt,
})

/** A webhook is paused after 100 failed deliveries in a row over at least 24 h. */
const PAUSING_FAILURES = 100
const PAUSING_MS = 86_400_000
