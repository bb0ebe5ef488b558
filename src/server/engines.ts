import { resendBody } from '../compat/resend/events.ts'
import type { Config } from '../config/load.ts'
import { createFeedback, type Feedback } from '../feedback/feedback.ts'
import { createReaders, type Readers } from '../inbound/readers.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { createResolver } from '../net/dns/resolver.ts'
import { getBy, type Post, postBy } from '../net/https/requests.ts'
import type { WallClock } from '../os/clock.ts'
import type { MintId } from '../os/ids.ts'
import type { Log } from '../os/log.ts'
import { stuckEngine } from '../os/loop.ts'
import type { MailLog } from '../os/mail-log.ts'
import type { Memory } from '../os/memory.ts'
import type { Random } from '../os/random.ts'
import { createThreadPool, threadRunner } from '../os/thread-pool.ts'
import { lateBounce } from '../outbound/outcome.ts'
import type { OutboundLoop } from '../outbound/schedule/delivery-loop.ts'
import type { ParsingAnswer, ParsingJob } from '../parsing/job.ts'
import { type Parsing, parsingIn } from '../parsing/parsing.ts'
import { startParsingThread } from '../threads.ts'
import type { DeliveryLoop } from '../webhooks/delivery-loop.ts'
import { createInboundLoop } from '../webhooks/inbound-loop.ts'
import { createWebhookLoop } from '../webhooks/loop.ts'
import { type Dispatch, openDispatch } from './delivery-engine.ts'
import type { Https } from './https-clients.ts'
import { createReaderStarter, logSeparation } from './inbound-readers.ts'
import type { Shares } from './limits.ts'
import type { Ground } from './resources.ts'

/** What works by itself, in turns: mail goes out, events and inbound mail are posted; and the threads that do it. */
export interface Engines {
  dispatch: Dispatch
  outbound: OutboundLoop
  webhooks: DeliveryLoop
  inbound: DeliveryLoop
  readers: Readers
  parsing: Parsing
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
    computeMs?: number
    https: Https
  },
  undo: (() => unknown)[],
): Promise<Engines> {
  const { store, metrics, shares, https } = house
  const clock = house.clock.steady
  const post = postBy(https.endpoints, clock)

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
  const parsingPool = createThreadPool<ParsingJob, ParsingAnswer>({
    name: 'parsing',
    start: threadRunner(startParsingThread),
    count: PARSING_THREADS,
    perRunner: 1,
    computeMs: house.computeMs ?? PARSING_COMPUTE_MS,
    totalMs: PARSING_TOTAL_MS,
    idleMs: PARSING_IDLE_MS,
    ownerOf: ({ owner }) => owner,
    describe: ({ kind, owner }) => ({ job: kind, organization_id: owner }),
    clock,
    log: house.log,
    onEvent: metrics.pools.onEvent,
  })
  metrics.pools.add('parsing', parsingPool.state)
  undo.push(() => parsingPool.stop())
  const parsing = parsingIn(parsingPool)
  const dispatch = await openDispatch(config, {
    ...house,
    ...parsing,
    get: getBy(https.policies),
    wakeWebhooks: webhooks.wake,
  })
  undo.push(() => dispatch.close(0))
  const readerStarter = createReaderStarter({
    onSeparation: (kind, landlock, why) => logSeparation(house.log, kind, landlock, why),
  })
  const readerResolver = createResolver(house.lookups)
  const readers = createReaders({
    start: readerStarter.start,
    count: 1,
    settings: { hostname: config.hostname, authenticationMs: AUTHENTICATION_MS },
    resolver: readerResolver,
    clock,
    log: house.log,
    onEvent: metrics.pools.onEvent,
    ...(house.computeMs === undefined ? {} : { limits: { computeMs: house.computeMs } }),
  })
  metrics.pools.add('inbound', readers.state)
  let probing: ReturnType<typeof setTimeout> | undefined
  undo.push(() => {
    clearTimeout(probing)
    readerResolver.close()
    return readers.stop()
  })
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
    parsing,
    feedback,
    postAbroad: postBy(https.reports, clock),
    start: () => {
      outbound.start()
      webhooks.start()
      inbound.start()
      if (config.smtp.inbound.listen !== null) probing = setTimeout(readerStarter.probe, PROBE_AFTER_MS).unref()
    },
    whyStuck: () => stuckEngine({ delivery: outbound, webhook: webhooks, inbound }),
    stop: async (leftMs) => {
      await outbound.stop(leftMs())
      await webhooks.stop(leftMs())
      await inbound.stop(leftMs())
      clearTimeout(probing)
      await readers.stop()
      readerResolver.close()
      await parsingPool.stop()
      await dispatch.close(WORKERS_MS)
    },
  }
}

/** Once the server is up, so that the log says it before the first mail. */
const PROBE_AFTER_MS = 3_000
/** Another tenant's work waits for no more than one job where two can be done at once. */
const PARSING_THREADS = 2
/** The largest mail is read in half a second, and so is the worst analysis; on a slow machine in some times that. */
const PARSING_COMPUTE_MS = 3_000
const PARSING_TOTAL_MS = 10_000
/** A thread is 30 MB. */
const PARSING_IDLE_MS = 60_000
/** SPF, DKIM, DMARC and ARC of one mail, all together; a sender waits ten minutes for the reply behind the dot. */
const AUTHENTICATION_MS = 15_000
/** Inbound mail with its attachments on its way to endpoints, at once. */
const INBOUND_BODY_ROOM_BYTES = 64 * 2 ** 20
/** For the threads to say QUIT and for the last records. */
export const WORKERS_MS = 3_000
