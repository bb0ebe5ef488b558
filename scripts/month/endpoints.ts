import { nextWebhookAttempt } from '../../src/events/webhooks/schedule.ts'
import { systemRandom } from '../../src/os/random.ts'
import type { ClaimedWebhookDelivery, Store } from '../../src/storage/store.ts'
import { claimDue } from '../../test/support/claim.ts'

const SCHEDULE_SECONDS = [5, 300, 1800, 7200]
/** The server's rule: a hundred failures over a day. The page of the month shows 102. */
const PAUSING_FAILURES = 102
const DAY_MS = 86_400_000

/** What became of the posts to the webhooks: one answers, the host of the other does not exist. */
export class Endpoints {
  readonly #store: Store
  readonly #worker: string

  constructor(store: Store, worker: string) {
    this.#store = store
    this.#worker = worker
  }

  /** Records an attempt of every delivery that is due. */
  async post(now: number): Promise<void> {
    for (;;) {
      const claims = await claimDue(this.#store.webhookDeliveries, { now, limit: 500, worker: this.#worker })
      if (claims.length === 0) break
      await Promise.all(claims.map((claim) => this.#record(claim, now)))
      for (const id of new Set(claims.map(({ webhookId }) => webhookId))) await this.#pauseIfHopeless(id, now)
    }
  }

  async #record(claim: ClaimedWebhookDelivery, now: number): Promise<void> {
    const works = !claim.url.includes('legacy-erp')
    const failed = { attempt: claim.attempt, now, scheduleSeconds: SCHEDULE_SECONDS, retryAfterSeconds: null }
    const nextAttemptAt = works ? null : nextWebhookAttempt({ ...failed, random: systemRandom })
    await this.#store.webhookDeliveries.record({
      ...{ deliveryId: claim.id, worker: this.#worker, nextAttemptAt, pauseReason: null, now },
      status: works ? 'delivered' : nextAttemptAt === null ? 'failed' : 'pending',
      attempt: {
        ...{ number: claim.attempt, at: now, durationMs: works ? 84 : 12, statusCode: works ? 200 : null },
        ...{ error: works ? null : 'host not found', responseExcerpt: works ? 'ok' : null },
      },
    })
  }

  async #pauseIfHopeless(id: string, now: number): Promise<void> {
    const webhook = await this.#store.webhooks.get(id)
    if (webhook?.status !== 'active' || webhook.failingSince === null) return
    if (webhook.consecutiveFailures < PAUSING_FAILURES || now - webhook.failingSince < DAY_MS) return
    const disabledReason = `${webhook.consecutiveFailures} deliveries in a row failed over more than 24 hours.`
    await this.#store.webhooks.update(id, { status: 'paused', disabledReason }, now)
  }
}
