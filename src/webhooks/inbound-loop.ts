import type { Post, PostResult } from '../net/https/requests.ts'
import type { WallClock } from '../os/clock.ts'
import type { Log } from '../os/log.ts'
import { ampleMemory, type Memory } from '../os/memory.ts'
import type { Random } from '../os/random.ts'
import type { ClaimedInboundDelivery, Store } from '../storage/store.ts'
import { answering, createDeliveryLoop, type DeliveryLoop } from './delivery-loop.ts'
import { createInboundBodies } from './inbound-body.ts'
import { signInbound } from './sign.ts'
import { judge, type Verdict } from './verdict.ts'

/** The scheduler of inbound deliveries: delivery-loop.ts over the mail that routes owe to their endpoints, each one
 *  mail as a flat JSON body with three headers.
 *
 *  An attempt goes by the route as it is then: its URL, its secret, and whether it wants attachments. A route that is
 *  disabled, or no longer posts, keeps its deliveries waiting. An answer of 410 is a failure like any other: somebody
 *  waits for this mail, and what is not taken after five attempts can be redelivered. Large bodies have bounded room
 *  (inbound-body.ts); one that gets none within a minute is given back untried. A mail that retention has dropped
 *  meanwhile fails at once. */
export interface InboundLoopOptions {
  store: Pick<Store, 'inbound' | 'inboundDeliveries'>
  post: Post
  /** Raw mail → base64 of its attachments in the order of ParsedMail.attachments, or null when they cannot be read. */
  attachments: (raw: Uint8Array) => Promise<string[] | null>
  clock: WallClock
  random: Random
  log: Log
  memory?: Memory
  settings: {
    /** Waits before attempts 2 to 5. */
    ladderSeconds: readonly number[]
    /** For the whole answer. */
    timeoutMs: number
    maxInFlight: number
    maxPerRoute: number
    /** Bodies under way over all routes, as far as they are large. */
    bodyRoomBytes: number
  }
  /** Names this process in leases. */
  workerId: string
  userAgent: string
}

/** Store, door to the world and settings → a loop that has not started. */
export function createInboundLoop(options: InboundLoopOptions): DeliveryLoop {
  const { store, clock, random, log, workerId, userAgent } = options
  const { ladderSeconds, timeoutMs, maxInFlight, maxPerRoute, bodyRoomBytes } = options.settings
  const post = answering(options.post, 'inbound', log)
  const bodies = createInboundBodies({ memory: ampleMemory, ...options, roomBytes: bodyRoomBytes })
  const means = { clock, random, ladderSeconds }

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

  const send = (claim: ClaimedInboundDelivery, body: Uint8Array, now: number): Promise<PostResult> => {
    const { url, secret } = claim.route
    const signed = signInbound({ secret, body, attempt: claim.attempt, now })
    return post(url, { headers: { ...signed, 'User-Agent': userAgent }, body, timeoutMs })
  }

  return createDeliveryLoop(
    {
      noun: 'inbound',
      queue: store.inboundDeliveries,
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

/** Tried again all the same: a disk may recover, and a backup be brought back. */
const UNREADABLE: PostResult = { kind: 'no_answer', error: 'the stored message cannot be read', durationMs: 0 }

/** Nothing can be posted any more, whatever comes. */
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
