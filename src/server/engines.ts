import { resendBody } from '../compat/resend/events.ts'
import type { Config } from '../config/load.ts'
import { createFeedback, type Feedback } from '../feedback/feedback.ts'
import { createReaders, type Readers } from '../inbound/readers.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { createResolver } from '../net/dns/resolver.ts'
import { askBy, type Post, postBy } from '../net/https/requests.ts'
import type { WallClock } from '../os/clock.ts'
import type { MintId } from '../os/ids.ts'
import type { Log } from '../os/log.ts'
import { stuckEngine } from '../os/loop.ts'
import type { MailLog } from '../os/mail-log.ts'
import type { Memory } from '../os/memory.ts'
import type { Notify } from '../os/notifier.ts'
import type { Random } from '../os/random.ts'
import { createThreadPool, threadRunner } from '../os/thread-pool.ts'
import { lateBounce } from '../outbound/outcome.ts'
import type { DeliveryQueue } from '../outbound/queue.ts'
import { createComplaintCounter } from '../outbound/senders/warmup-complaints.ts'
import type { ParsingAnswer, ParsingJob } from '../parsing/job.ts'
import { type Parsing, parsingIn } from '../parsing/parsing.ts'
import { startParsingThread } from '../threads.ts'
import type { DeliveryLoop } from '../webhooks/delivery-loop.ts'
import { createInboundLoop } from '../webhooks/inbound-loop.ts'
import { createWebhookLoop } from '../webhooks/loop.ts'
import { type DeliveryEngine, openDeliveryEngine } from './delivery-engine.ts'
import type { Https } from './https-clients.ts'
import { createReaderStarter, logSeparation } from './inbound-readers.ts'
import type { ResourceLimits } from './limits.ts'
import type { Resources } from './resources.ts'
import type { Rollback } from './rollback.ts'

/** The background loops (delivery, webhook posts, inbound posts) and the threads they use. */
export interface Engines {
  delivery: DeliveryEngine
  outbound: DeliveryQueue
  webhooks: DeliveryLoop
  inbound: DeliveryLoop
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

export interface EnginesDeps {
  resources: Pick<Resources, 'store' | 'ownAddresses' | 'workerId' | 'verp' | 'recipientParts' | 'lookups'>
  clock: WallClock
  random: Random
  mintId: MintId
  metrics: Metrics
  limits: ResourceLimits
  userAgent: string
  https: Https
  notify: Notify
  log: Log
  mailLog: MailLog
  memory: Memory
  /** Overrides how long a job may occupy its thread. */
  computeMs?: number
  /** Receives the steps that stop the engines, also if opening fails. */
  rollback: Rollback
}

/** Creates the Engines; `start` starts them. */
export async function openEngines(config: Config, deps: EnginesDeps): Promise<Engines> {
  const { resources, clock, metrics, https, rollback } = deps
  const webhooks = createWebhooks(config, deps)
  const parsingPool = createParsingPool(deps)
  rollback.push(() => parsingPool.stop())
  const parsing = parsingIn(parsingPool)
  const delivery = await openDeliveryEngine(config, {
    store: resources.store,
    clock,
    random: deps.random,
    mintId: deps.mintId,
    verp: resources.verp,
    recipientParts: resources.recipientParts,
    workerId: resources.workerId,
    lookups: resources.lookups,
    limits: deps.limits,
    askPolicyHost: askBy(https.policies),
    notify: deps.notify,
    log: deps.log,
    mailLog: deps.mailLog,
    memory: deps.memory,
    pools: metrics.pools,
    storedMail: parsing.storedMail,
    dedicatedOf: resources.ownAddresses.of,
    isPort25Blocked: async () => (await import('../checkup/port-25.ts')).isPort25Blocked(config, deps),
    computeMs: deps.computeMs,
  })
  rollback.push(() => delivery.close(0))
  const reading = openReading(config, deps)
  rollback.push(reading.stop)
  const inbound = createInboundPosts(config, deps, reading.readers)
  const feedback = createFeedback({
    store: resources.store,
    verp: resources.verp,
    mintId: deps.mintId,
    judge: (reply) => lateBounce(reply, config.sending.hardBounces),
    complaintScope: config.sending.complaintScope,
    onComplaint: createComplaintCounter(
      resources.store,
      config.sending.addresses.flatMap(({ address, warmup }) => (warmup === null ? [] : [address])),
    ),
    log: deps.log,
    mailLog: deps.mailLog,
    notify: deps.notify,
  })
  const outbound = delivery.queue

  return {
    delivery,
    outbound,
    webhooks,
    inbound,
    readers: reading.readers,
    parsing,
    feedback,
    postReport: postBy(https.reports, clock.steady),
    start: () => {
      outbound.start()
      webhooks.start()
      inbound.start()
      reading.start()
    },
    whyStuck: () => stuckEngine({ delivery: outbound, webhook: webhooks, inbound }),
    stop: async (leftMs) => {
      await outbound.stop(leftMs())
      await webhooks.stop(leftMs())
      await inbound.stop(leftMs())
      await reading.stop()
      await parsingPool.stop()
      await delivery.close(WORKERS_MS)
    },
  }
}

function createWebhooks(config: Config, deps: EnginesDeps): DeliveryLoop {
  const { store, workerId } = deps.resources
  const { clock, random, log, userAgent, metrics } = deps
  return createWebhookLoop({
    store,
    post: postBy(deps.https.endpoints, clock.steady, metrics.posts('webhook')),
    clock,
    random,
    log,
    settings: {
      scheduleSeconds: config.webhooks.retryScheduleSeconds,
      timeoutMs: config.webhooks.timeoutSeconds * 1000,
      maxInFlight: deps.limits.posts,
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
function createParsingPool({ clock, log, metrics, computeMs }: EnginesDeps) {
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
function openReading(config: Config, deps: EnginesDeps) {
  const { log, metrics, computeMs } = deps
  const starter = createReaderStarter({
    onSeparation: (kind, landlock, why) => logSeparation(log, kind, landlock, why),
  })
  const resolver = createResolver(deps.resources.lookups)
  const readers = createReaders({
    start: starter.start,
    count: 1,
    settings: { hostname: config.hostname, authenticationMs: AUTHENTICATION_MS },
    resolver,
    clock: deps.clock.steady,
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

function createInboundPosts(config: Config, deps: EnginesDeps, readers: Readers): DeliveryLoop {
  const { store, workerId } = deps.resources
  const { clock, random, log, memory, userAgent, metrics } = deps
  return createInboundLoop({
    store,
    post: postBy(deps.https.endpoints, clock.steady, metrics.posts('inbound')),
    makeBody: readers.makeBody,
    clock,
    random,
    log,
    memory,
    settings: {
      scheduleSeconds: config.inbound.retryScheduleSeconds,
      timeoutMs: config.webhooks.timeoutSeconds * 1000,
      maxInFlight: deps.limits.posts,
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
