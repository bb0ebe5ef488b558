import type { Post, PostResult } from '../../net/https/requests.ts'
import type { WallClock } from '../../os/clock.ts'
import type { Log } from '../../os/log.ts'
import { ampleMemory, type Memory } from '../../os/memory.ts'
import type { Random } from '../../os/random.ts'
import type { ClaimedInboundDelivery, Store } from '../../storage/store.ts'
import { answering, createDeliveryLoop, type DeliveryLoop } from './delivery-loop.ts'
import { createInboundBodies } from './inbound-body.ts'
import type { MakeInboundBody } from './inbound-payload.ts'
import { postWithHeaders } from './post-with-headers.ts'
import { signInbound } from './sign.ts'
import { judge, type Verdict } from './verdict.ts'

/** The scheduler of inbound deliveries: delivery-loop.ts for mail that routes post to their endpoints, each one mail
 *  as a flat JSON body with three headers.
 *
 *  An attempt uses the current route: its URL, its secret, and whether it requests attachments. A route that is
 *  disabled, or has another action now, keeps its deliveries waiting. A 410 is a failure like any other, because a
 *  mail must not be lost: after five attempts it can be redelivered. Large bodies have a memory budget
 *  (inbound-body.ts); one that gets none within a minute is given back without an attempt. A mail that retention has
 *  removed fails at once. */
export interface InboundLoopOptions {
  store: Pick<Store, 'snapshot' | 'inbound' | 'inboundDeliveries'>
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

/** Store, HTTP client and settings → a loop that is not started yet. */
export function createInboundLoop(options: InboundLoopOptions): DeliveryLoop {
  const { store, clock, random, log, workerId, userAgent } = options
  const { scheduleSeconds, timeoutMs, maxInFlight, maxPerRoute, largeBodyBytes } = options.settings
  const post = answering(options.post, 'inbound', log)
  const bodies = createInboundBodies({ memory: ampleMemory, ...options, budgetBytes: largeBodyBytes })
  const means = { clock, random, scheduleSeconds }

  const attempt = async (claim: ClaimedInboundDelivery, stopping: AbortSignal): Promise<Verdict | null> => {
    const made = await bodies.of(claim, stopping)
    const at = clock.now()
    switch (made.kind) {
      case 'not_now':
        return null
      case 'gone':
        return tooLate(claim.attempt, at)
      case 'damaged':
        return judge(claim.attempt, at, UNREADABLE, means)
      case 'body':
        try {
          return judge(claim.attempt, at, await send(claim, made.body, at), means)
        } finally {
          made.leave()
        }
    }
  }

  const send = async (claim: ClaimedInboundDelivery, body: Uint8Array, now: number): Promise<PostResult> => {
    const { url, secret, headers } = claim.route
    const signed = await signInbound({ secret, body, attempt: claim.attempt, now })
    const request = { headers: { ...signed, 'User-Agent': userAgent }, body, timeoutMs }
    return postWithHeaders(post, url, headers, request)
  }

  return createDeliveryLoop(
    {
      noun: 'inbound',
      queue: store.inboundDeliveries,
      ownerOf: store.snapshot.ownerOfRoute,
      endpointOf: (claim) => claim.route.id,
      factsOf,
      attempt,
      record: (claim, { attempt, status, nextAttemptAt }) =>
        store.inboundDeliveries.record({
          deliveryId: claim.id,
          worker: workerId,
          attempt,
          status,
          nextAttemptAt,
          now: clock.now(),
        }),
    },
    { clock, log, workerId, timeoutMs, maxInFlight, perEndpoint: maxPerRoute },
  )
}

/** Retried all the same: the disk may recover, or the operator may restore a backup. */
const UNREADABLE: PostResult = { kind: 'no_answer', error: 'the stored message cannot be read', durationMs: 0 }

/** Verdict without further attempts: there is nothing left to post. */
function tooLate(number: number, at: number): Verdict {
  const error = 'the message was deleted after the retention period'
  const attempt = { number, at, durationMs: 0, statusCode: null, error, responseExcerpt: null }
  return { attempt, status: 'failed', nextAttemptAt: null, isGone: false }
}

const factsOf = (claim: ClaimedInboundDelivery) => ({
  delivery_id: claim.id,
  route_id: claim.route.id,
  inbound_id: claim.message.id,
  attempt: claim.attempt,
})
