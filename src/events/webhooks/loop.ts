import type { Post } from '../../net/https/requests.ts'
import type { WallClock } from '../../os/clock.ts'
import type { Log, LogFields } from '../../os/log.ts'
import type { Random } from '../../os/random.ts'
import type { ClaimedWebhookDelivery, Store } from '../../storage/store.ts'
import { type AttemptMeans, type AttemptVerdict, attemptDelivery, type Shapes } from './attempt.ts'
import { answering, DeliveryLoop } from './delivery-loop.ts'

/** Dependencies and settings of the scheduler. */
export interface WebhookLoopOptions {
  store: Pick<Store, 'snapshot' | 'webhooks' | 'webhookDeliveries' | 'nodes'>
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

/** The webhook scheduler: delivery-loop.ts for webhook deliveries, each one signed event to one endpoint. Retries
 *  have the same event ID. An endpoint that answers 410 is paused, and so is one with a hundred failed deliveries in
 *  a row over a day; its deliveries wait. */
export class WebhookLoop extends DeliveryLoop<ClaimedWebhookDelivery, AttemptVerdict> {
  readonly #options: WebhookLoopOptions
  readonly #means: AttemptMeans

  /** `start` starts it. */
  constructor(options: WebhookLoopOptions) {
    const { store, clock, random, log, workerId, userAgent, shapes } = options
    const { scheduleSeconds, timeoutMs, maxInFlight, maxPerWebhook } = options.settings
    super({
      noun: 'webhook',
      queue: store.webhookDeliveries,
      ...{ clock, log, workerId, timeoutMs, maxInFlight, perEndpoint: maxPerWebhook, nodes: store.nodes },
    })
    this.#options = options
    const post = answering(options.post, 'webhook', log)
    this.#means = { post, clock, random, scheduleSeconds, timeoutMs, userAgent, shapes }
  }

  protected override ownerOf(webhookId: string): string | null {
    return this.#options.store.snapshot.ownerOfWebhook(webhookId)
  }

  protected override endpointOf({ webhookId }: ClaimedWebhookDelivery): string {
    return webhookId
  }

  protected override factsOf({ id, webhookId, eventId, attempt }: ClaimedWebhookDelivery): LogFields {
    return { delivery_id: id, webhook_id: webhookId, event_id: eventId, attempt }
  }

  protected override attempt(claim: ClaimedWebhookDelivery): Promise<AttemptVerdict> {
    return attemptDelivery(claim, this.#means)
  }

  protected override record({ id }: ClaimedWebhookDelivery, verdict: AttemptVerdict) {
    const { store, clock, workerId } = this.#options
    return store.webhookDeliveries.record({ ...verdict, deliveryId: id, worker: workerId, now: clock.now() })
  }

  protected override async recorded(
    { webhookId }: ClaimedWebhookDelivery,
    { status, pauseReason }: AttemptVerdict,
  ): Promise<void> {
    if (pauseReason !== null) this.#announcePause(webhookId, pauseReason)
    else if (status === 'failed') await this.#pauseIfHopeless(webhookId)
  }

  async #pauseIfHopeless(id: string): Promise<void> {
    const { store, clock } = this.#options
    const webhook = await this.written(() => store.webhooks.get(id))
    if (webhook?.status !== 'active') return
    const { consecutiveFailures, failingSince, updatedAt } = webhook
    if (consecutiveFailures < PAUSING_FAILURES || failingSince === null) return
    const failingFrom = Math.max(failingSince, updatedAt) // changing or resuming a webhook starts the day again
    if (clock.now() - failingFrom < PAUSING_MS) return
    const disabledReason = `The last ${consecutiveFailures} deliveries failed for more than 24 hours.`
    const isPaused = await this.written(() => store.webhooks.pauseFailing(webhook, disabledReason, clock.now()))
    if (isPaused) this.#announcePause(id, disabledReason)
  }

  #announcePause(webhookId: string, reason: string): void {
    this.reset(webhookId)
    this.#options.log.warn('webhook paused', { webhook_id: webhookId, reason })
  }
}

/** A webhook is paused after 100 failed deliveries in a row over at least 24 h. */
const PAUSING_FAILURES = 100
const PAUSING_MS = 86_400_000
