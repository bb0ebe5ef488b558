import type { Post, PostResult } from '../../net/https/requests.ts'
import type { WallClock } from '../../os/clock.ts'
import type { Log, LogFields } from '../../os/log.ts'
import { ampleMemory, type Memory } from '../../os/memory.ts'
import type { Random } from '../../os/random.ts'
import type { ClaimedInboundDelivery, Store } from '../../storage/store.ts'
import { answering, DeliveryLoop } from './delivery-loop.ts'
import { createInboundBodies, type InboundBodies } from './inbound-body.ts'
import type { MakeInboundBody } from './inbound-payload.ts'
import { postWithHeaders } from './post-with-headers.ts'
import { signInbound } from './sign.ts'
import { type JudgeMeans, judge, type Verdict } from './verdict.ts'

/** Dependencies and settings of the scheduler. */
export interface InboundLoopOptions {
  store: Pick<Store, 'snapshot' | 'inbound' | 'inboundDeliveries' | 'nodes'>
  post: Post
  makeBody: MakeInboundBody
  clock: WallClock
  random: Random
  log: Log
  memory?: Memory
  settings: {
    /** Waits before attempts 2 to 5, in seconds. */
    scheduleSeconds: readonly number[]
    /** Time limit for the whole response. */
    timeoutMs: number
    maxInFlight: number
    maxPerRoute: number
    /** Memory for large bodies in progress, over all routes. */
    largeBodyBytes: number
  }
  /** Identifies this process in leases. */
  workerId: string
  userAgent: string
}

/** The scheduler of inbound deliveries: delivery-loop.ts for mail that routes post to their endpoints, each one mail
 *  as a flat JSON body with three headers.
 *
 *  An attempt uses the current route: its URL, its secret, and whether it requests attachments. A route that is
 *  disabled, or has another action now, keeps its deliveries waiting. A 410 is a failure like any other, because a
 *  mail must not be lost: after five attempts it can be redelivered. Large bodies have a memory budget
 *  (inbound-body.ts); one that gets none within a minute is given back without an attempt. A mail that retention has
 *  removed fails at once. */
export class InboundLoop extends DeliveryLoop<ClaimedInboundDelivery, Verdict> {
  readonly #options: InboundLoopOptions
  readonly #post: Post
  readonly #bodies: InboundBodies
  readonly #means: JudgeMeans

  /** `start` starts it. */
  constructor(options: InboundLoopOptions) {
    const { store, clock, random, log, workerId } = options
    const { scheduleSeconds, timeoutMs, maxInFlight, maxPerRoute, largeBodyBytes } = options.settings
    super({
      noun: 'inbound',
      queue: store.inboundDeliveries,
      ...{ clock, log, workerId, timeoutMs, maxInFlight, perEndpoint: maxPerRoute, nodes: store.nodes },
    })
    this.#options = options
    this.#post = answering(options.post, 'inbound', log)
    this.#bodies = createInboundBodies({ memory: ampleMemory, ...options, budgetBytes: largeBodyBytes })
    this.#means = { clock, random, scheduleSeconds }
  }

  protected override ownerOf(routeId: string): string | null {
    return this.#options.store.snapshot.ownerOfRoute(routeId)
  }

  protected override endpointOf({ route }: ClaimedInboundDelivery): string {
    return route.id
  }

  protected override factsOf({ id, route, message, attempt }: ClaimedInboundDelivery): LogFields {
    return { delivery_id: id, route_id: route.id, inbound_id: message.id, attempt }
  }

  protected override async attempt(claim: ClaimedInboundDelivery, stopping: AbortSignal): Promise<Verdict | null> {
    const made = await this.#bodies.of(claim, stopping)
    const at = this.#options.clock.now()
    switch (made.kind) {
      case 'not_now':
        return null
      case 'gone':
        return tooLate(claim.attempt, at)
      case 'damaged':
        return judge(claim.attempt, at, UNREADABLE, this.#means)
      case 'body':
        try {
          return judge(claim.attempt, at, await this.#send(claim, made.body, at), this.#means)
        } finally {
          made.leave()
        }
    }
  }

  protected override record(claim: ClaimedInboundDelivery, { attempt, status, nextAttemptAt }: Verdict) {
    const { store, clock, workerId } = this.#options
    const result = { attempt, status, nextAttemptAt }
    return store.inboundDeliveries.record({ ...result, deliveryId: claim.id, worker: workerId, now: clock.now() })
  }

  async #send(
    { id: deliveryId, message, route, attempt }: ClaimedInboundDelivery,
    body: Uint8Array,
    now: number,
  ): Promise<PostResult> {
    const { userAgent, settings } = this.#options
    const ids = { deliveryId, messageId: message.id, routeId: route.id }
    const signed = await signInbound({ secret: route.secret, ...ids, body, attempt, now })
    const request = { headers: { ...signed, 'User-Agent': userAgent }, body, timeoutMs: settings.timeoutMs }
    return postWithHeaders(this.#post, route.url, route.headers, request)
  }
}

/** Further attempts follow: the disk may recover, or the operator may restore a backup. */
const UNREADABLE: PostResult = { kind: 'no_answer', error: 'the stored message cannot be read', durationMs: 0 }

/** Verdict without further attempts: there is nothing left to post. */
function tooLate(number: number, at: number): Verdict {
  const error = 'the message was deleted after the retention period'
  const attempt = { number, at, durationMs: 0, statusCode: null, error, responseExcerpt: null }
  return { attempt, status: 'failed', nextAttemptAt: null, isGone: false }
}
