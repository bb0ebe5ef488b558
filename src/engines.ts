import { readFileSync } from 'node:fs'
import { resendBody } from './compat/resend/events.ts'
import type { Config } from './config.ts'
import { type Dispatch, openDispatch } from './dispatch.ts'
import { createFeedback, type Feedback } from './feedback/feedback.ts'
import type { Ground } from './ground.ts'
import { createReaders, type Readers } from './inbound/readers.ts'
import type { Metrics } from './metrics/metrics.ts'
import type { OutboundLoop } from './outbound/loop.ts'
import { lateBounce } from './outbound/outcome.ts'
import type { WallClock } from './platform/clock.ts'
import { createGet, createPost, type Post } from './platform/fetch-public.ts'
import type { MintId } from './platform/ids.ts'
import { createAddressGuard } from './platform/ip.ts'
import type { Log } from './platform/log.ts'
import { stuckEngine } from './platform/loop.ts'
import type { MailLog } from './platform/maillog.ts'
import type { Memory } from './platform/memory.ts'
import type { Random } from './platform/random.ts'
import type { Shares } from './shares.ts'
import type { DeliveryLoop } from './webhooks/delivery-loop.ts'
import { createInboundLoop } from './webhooks/inbound-loop.ts'
import { createWebhookLoop } from './webhooks/loop.ts'

/** What works by itself, in turns: mail goes out, events and inbound mail are posted; and the threads that do it. */
export interface Engines {
  dispatch: Dispatch
  outbound: OutboundLoop
  webhooks: DeliveryLoop
  inbound: DeliveryLoop
  readers: Readers
  feedback: Feedback
  /** To where domains of the world send us: never into the operator's own network, whatever webhooks may reach. */
  postAbroad: Post
  start(): void
  /** Which of them is stuck, in words; null when all is well. */
  whyStuck(): string | null
  /** Lets each finish what it has, as long as `leftMs` says, and ends the threads. */
  stop(leftMs: () => number): Promise<void>
}

/** Config and the Ground → the Engines, not started yet. `undo` gets what takes them back, also when it rejects. */
export async function openEngines(
  config: Config,
  house: Ground & {
    clock: WallClock
    random: Random
    mintId: MintId
    metrics: Metrics
    shares: Shares
    userAgent: string
    /** Something happened to this message. */
    onChange: (messageId: string) => void
    log: Log
    mailLog: MailLog
    memory: Memory
  },
  undo: (() => unknown)[],
): Promise<Engines> {
  const { store, resolver, metrics, shares, userAgent } = house
  const clock = house.clock.steady
  const ca = config.webhooks.caFile === null ? undefined : readFileSync(config.webhooks.caFile, 'utf8')
  const mayReach = createAddressGuard([...config.webhooks.allowedPrivateNetworks])
  const post = createPost({ resolver, mayConnect: mayReach, ca, clock, userAgent })
  const mayConnect = config.delivery.allowPrivateDestinations ? () => true : createAddressGuard([])
  const abroad = { resolver, mayConnect, clock, userAgent }

  const webhooks = createWebhookLoop({
    ...house,
    post: metrics.posts('webhook', post),
    settings: {
      ladderSeconds: config.webhooks.retryScheduleSeconds,
      timeoutMs: config.webhooks.timeoutSeconds * 1000,
      maxInFlight: shares.posts,
      maxPerWebhook: config.webhooks.maxPerWebhook,
    },
    shapes: {
      resend: async ({ body, messageId }) =>
        resendBody(body, messageId === null ? null : await store.messages.get(messageId)),
    },
  })
  const dispatch = await openDispatch(config, { ...house, get: createGet(abroad), wakeWebhooks: webhooks.wake })
  undo.push(() => dispatch.close(0))
  const readers = createReaders({
    // Here, beside main.ts, because a compiled binary finds its workers from the folder of its entry.
    spawn: () => new Worker(new URL('./inbound/worker.ts', import.meta.url).href, { smol: true }),
    count: 1,
    settings: { hostname: config.hostname, dnsServers: house.lookups.servers, authenticationMs: AUTHENTICATION_MS },
    clock,
    log: house.log,
  })
  undo.push(() => readers.stop())
  const inbound = createInboundLoop({
    ...house,
    post: metrics.posts('inbound', post),
    attachments: readers.attachments,
    settings: {
      ladderSeconds: config.inbound.retryScheduleSeconds,
      timeoutMs: config.webhooks.timeoutSeconds * 1000,
      maxInFlight: shares.posts,
      maxPerRoute: config.webhooks.maxPerWebhook,
      bodyRoomBytes: INBOUND_BODY_ROOM_BYTES,
    },
  })
  const feedback = createFeedback({ ...house, judge: lateBounce, wakeWebhooks: webhooks.wake })
  const outbound = dispatch.loop

  return {
    dispatch,
    outbound,
    webhooks,
    inbound,
    readers,
    feedback,
    postAbroad: createPost(abroad),
    start: () => {
      outbound.start()
      webhooks.start()
      inbound.start()
    },
    whyStuck: () => stuckEngine({ delivery: outbound, webhook: webhooks, inbound }),
    stop: async (leftMs) => {
      await outbound.stop(leftMs())
      await webhooks.stop(leftMs())
      await inbound.stop(leftMs())
      await readers.stop()
      await dispatch.close(WORKERS_MS)
    },
  }
}

/** SPF, DKIM, DMARC and ARC of one mail, all together; a sender waits ten minutes for the reply behind the dot. */
const AUTHENTICATION_MS = 15_000
/** Inbound mail with its attachments on its way to endpoints, at once. */
const INBOUND_BODY_ROOM_BYTES = 64 * 2 ** 20
/** For the threads to say QUIT and for the last records. */
export const WORKERS_MS = 3_000
