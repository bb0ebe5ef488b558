import type { Config } from '../config/load.ts'
import { InboundLoop } from '../events/webhooks/inbound-loop.ts'
import { WebhookLoop } from '../events/webhooks/loop.ts'
import { createResolver } from '../net/dns/resolver.ts'
import { type Post, postBy } from '../net/https/requests.ts'
import { stuckEngine } from '../os/loop.ts'
import { createThreadPool, threadRunner } from '../os/thread-pool.ts'
import { createFeedback, type Feedback } from '../receiving/feedback/feedback.ts'
import { createReaders, type Readers } from '../receiving/inbound/readers.ts'
import { lateBounce } from '../sending/outbound/outcome.ts'
import type { DeliveryQueue } from '../sending/outbound/queue.ts'
import { createComplaintCounter } from '../sending/outbound/senders/warmup-complaints.ts'
import { startParsingThread } from '../threads.ts'
import { resendBody } from '../web/compat/resend/events.ts'
import type { Base } from './base.ts'
import { type DeliveryEngine, openDeliveryEngine } from './delivery-engine.ts'
import type { Https } from './https-clients.ts'
import { createReaderStarter, logSeparation } from './inbound-readers.ts'
import type { ParsingAnswer, ParsingJob } from './parsing/job.ts'
import { type Parsing, parsingIn } from './parsing/parsing.ts'
import type { Resources } from './resources.ts'

/** The background loops (delivery, webhook posts, inbound posts) and the threads they use. */
export interface Engines {
  delivery: DeliveryEngine
  queue: DeliveryQueue
  webhooks: WebhookLoop
  inbound: InboundLoop
  readers: Readers
  parsing: Parsing
  feedback: Feedback
  /** Posts TLS reports. Never reaches private networks, even those that webhooks may reach. */
  postReport: Post
  start(): void
  /** Describes an engine that is stuck; null if none is. */
  whyStuck(): string | null
  /** Lets each engine finish its work for the time that `leftMs` returns, and ends the threads. */
  stop(leftMs: () => number): Promise<void>
}

/** What the engines use beside Base. */
export interface EngineParts {
  resources: Resources
  https: Https
  userAgent: string
}

/** Creates the Engines; `start` starts them. */
export async function openEngines(config: Config, base: Base, parts: EngineParts): Promise<Engines> {
  const { clock, rollback } = base
  const { resources, https } = parts
  const webhooks = createWebhooks(config, base, parts)
  const parsingPool = createParsingPool(base)
  rollback.push(() => parsingPool.stop())
  const parsing = parsingIn(parsingPool)
  const delivery = await openDeliveryEngine(config, base, { resources, https, parsing })
  rollback.push(() => delivery.close(0))
  const reading = openReading(config, base, resources)
  rollback.push(reading.stop)
  const inbound = createInboundPosts(config, base, { ...parts, readers: reading.readers })
  const { queue } = delivery

  return {
    delivery,
    queue,
    webhooks,
    inbound,
    readers: reading.readers,
    parsing,
    feedback: createServerFeedback(config, base, resources),
    postReport: postBy(https.reports, clock.steady),
    start: () => {
      queue.start()
      webhooks.start()
      inbound.start()
      reading.start()
    },
    whyStuck: () => stuckEngine({ delivery: queue, webhook: webhooks, inbound }),
    stop: async (leftMs) => {
      await queue.stop(leftMs())
      await webhooks.stop(leftMs())
      await inbound.stop(leftMs())
      await reading.stop()
      await parsingPool.stop()
      await delivery.close(WORKERS_MS)
    },
  }
}

function createServerFeedback({ sending }: Config, base: Base, { store, verp }: Resources): Feedback {
  return createFeedback({
    store,
    verp,
    mintId: base.mintId,
    judge: (reply) => lateBounce(reply, sending.hardBounces),
    complaintScope: sending.complaintScope,
    onComplaint: createComplaintCounter(
      store,
      sending.addresses.flatMap(({ address, warmup }) => (warmup === null ? [] : [address])),
    ),
    log: base.log,
    mailLog: base.mailLog,
    notify: base.notifier.notify,
  })
}

function createWebhooks(config: Config, base: Base, { resources, https, userAgent }: EngineParts): WebhookLoop {
  const { store, workerId } = resources
  const { clock, random, log, metrics } = base
  return new WebhookLoop({
    store,
    post: postBy(https.endpoints, clock.steady, metrics.posts('webhook')),
    clock,
    random,
    log,
    settings: {
      scheduleSeconds: config.webhooks.retryScheduleSeconds,
      timeoutMs: config.webhooks.timeoutSeconds * 1000,
      maxInFlight: base.limits.posts,
      maxPerWebhook: config.webhooks.maxPerWebhook,
    },
    workerId,
    userAgent,
    shapes: {
      resend: async ({ body, messageId }) =>
        resendBody(body, messageId === null ? null : await store.messages.get(messageId)),
    },
  })
}

/** Threads that parse what tenants wrote: templates, stored mail, lists, submitted mail. */
function createParsingPool({ clock, log, metrics, computeMs }: Base) {
  const pool = createThreadPool<ParsingJob, ParsingAnswer>({
    name: 'parsing',
    start: threadRunner(startParsingThread),
    count: PARSING_THREADS,
    perRunner: 1,
    computeMs: computeMs ?? PARSING_COMPUTE_MS,
    totalMs: PARSING_TOTAL_MS,
    idleMs: PARSING_IDLE_MS,
    ownerOf: ({ owner }) => owner,
    describe: ({ kind, owner }) => ({ job: kind, organization_id: owner }),
    clock: clock.steady,
    log,
    onEvent: metrics.pools.onEvent,
  })
  metrics.pools.add('parsing', pool.state)
  return pool
}

/** The isolated processes that read inbound mail, with the resolver for SPF, DKIM and DMARC. */
function openReading(config: Config, { clock, log, metrics, computeMs }: Base, { lookups }: Resources) {
  const starter = createReaderStarter({
    onSeparation: (kind, landlock, why) => logSeparation(log, kind, landlock, why),
  })
  const resolver = createResolver(lookups)
  const readers = createReaders({
    start: starter.start,
    count: 1,
    settings: { hostname: config.hostname, authenticationMs: AUTHENTICATION_MS },
    resolver,
    clock: clock.steady,
    log,
    onEvent: metrics.pools.onEvent,
    ...(computeMs === undefined ? {} : { limits: { computeMs } }),
  })
  metrics.pools.add('inbound', readers.state)
  let probe: ReturnType<typeof setTimeout> | undefined
  return {
    readers,
    start: () => {
      if (config.smtp.inbound.listen !== null) probe = setTimeout(starter.probe, PROBE_AFTER_MS).unref()
    },
    stop: async () => {
      clearTimeout(probe)
      await readers.stop()
      resolver.close()
    },
  }
}

function createInboundPosts(
  config: Config,
  base: Base,
  { resources, https, userAgent, readers }: EngineParts & { readers: Readers },
): InboundLoop {
  const { store, workerId } = resources
  const { clock, random, log, memory, metrics } = base
  return new InboundLoop({
    store,
    post: postBy(https.endpoints, clock.steady, metrics.posts('inbound')),
    makeBody: readers.makeBody,
    clock,
    random,
    log,
    memory,
    settings: {
      scheduleSeconds: config.inbound.retryScheduleSeconds,
      timeoutMs: config.webhooks.timeoutSeconds * 1000,
      maxInFlight: base.limits.posts,
      maxPerRoute: config.webhooks.maxPerWebhook,
      largeBodyBytes: INBOUND_BODIES_BYTES,
    },
    workerId,
    userAgent,
  })
}

/** Probes shortly after the start, so that the log shows the isolation of readers before the first message. */
const PROBE_AFTER_MS = 3_000
/** With two threads, the jobs of one tenant leave a thread for others. */
const PARSING_THREADS = 2
/** The largest message parses in half a second, and so does the worst analysis; slow machines take several times that. */
const PARSING_COMPUTE_MS = 3_000
const PARSING_TOTAL_MS = 10_000
/** An idle thread holds 30 MB. */
const PARSING_IDLE_MS = 60_000
/** For SPF, DKIM, DMARC and ARC of one message together. Senders wait ten minutes for the reply (RFC 5321 §4.5.3.2.6). */
const AUTHENTICATION_MS = 15_000
/** Large bodies of inbound posts in flight. */
const INBOUND_BODIES_BYTES = 64 * 2 ** 20
/** Time for threads to send QUIT and for the last records. */
export const WORKERS_MS = 3_000
