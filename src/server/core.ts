import { createStreams, type Streams } from '../api/streams.ts'
import type { Config, Setting } from '../config/load.ts'
import type { HealthWatch } from '../health/watch.ts'
import { createMetrics, type Metrics } from '../metrics/metrics.ts'
import { systemClock, type WallClock } from '../os/clock.ts'
import { type Descriptors, systemDescriptors } from '../os/descriptors.ts'
import { createFollowingClock } from '../os/following-clock.ts'
import { createMintId, type MintId } from '../os/ids.ts'
import type { Log } from '../os/log.ts'
import { createMailLog, type MailLog } from '../os/mail-log.ts'
import { createMemory, type Memory } from '../os/memory.ts'
import { memoryLimit } from '../os/memory-limit.ts'
import { createNotifier, type Notifier } from '../os/notifier.ts'
import { type Random, systemRandom } from '../os/random.ts'
import { VERSION } from '../version.ts'
import { type Engines, openEngines } from './engines.ts'
import { type Https, openHttps } from './https-clients.ts'
import { type ResourceLimits, resourceLimits } from './limits.ts'
import { watchHealth } from './maintenance.ts'
import { openResources, type Resources } from './resources.ts'
import type { Rollback } from './rollback.ts'

export interface StartOptions {
  log: Log
  /** The configuration keys with their sources, shown to the operator; empty by default. */
  settings?: () => readonly Setting[]
  clock?: WallClock
  random?: Random
  /** The packed manual (manual/bundle.ts), read at the first request. */
  manual: () => Promise<Uint8Array>
  /** Another node ended this one: the process must end at once. */
  onReplaced?: () => void
  /** Overrides how long a job may occupy its thread. */
  computeMs?: number
}

/** Everything below the listeners. */
export interface Core {
  log: Log
  manual: StartOptions['manual']
  settings: () => readonly Setting[]
  clock: WallClock
  random: Random
  mintId: MintId
  memory: Memory
  metrics: Metrics
  mailLog: MailLog
  descriptors: Descriptors
  limits: ResourceLimits
  publicUrl: PublicUrl
  resources: Resources
  https: Https
  notifier: Notifier
  engines: Engines
  health: HealthWatch
  streams: Streams
}

/** Where clients reach the server. Known only once the listeners are bound, unless the config says it. */
interface PublicUrl {
  current(): string
  set(url: string): void
}

/** Opens the store and creates engines and clients; nothing is started yet. What it opened is closed by `rollback`. */
export async function openCore(config: Config, options: StartOptions, rollback: Rollback): Promise<Core> {
  const { log, settings = () => [], random = systemRandom, computeMs } = options
  const following = createFollowingClock(systemClock)
  // Nodes take the time from their database.
  const { clock = config.database.url === '' ? systemClock : following } = options
  const mintId = createMintId(clock, random)
  const memory = createMemory({
    limitBytes: config.limits.memoryBytes || memoryLimit(),
    largestMailBytes: config.limits.messageBytes,
    clock: clock.steady,
  })
  const metrics = createMetrics({
    allowedNetworks: config.metrics.allowedNetworks,
    dataDir: config.dataDir,
    startedAt: clock.now(),
    now: clock.now,
    memory,
  })
  const mailLog = metrics.mail(createMailLog(log))
  const descriptors = systemDescriptors()
  const limits = resourceLimits(config, descriptors.limit)
  const publicUrl = createPublicUrl(config.http.publicUrl)
  const notifier = createNotifier(clock.sleep)
  const resources = await openResources(config, {
    notifier,
    clock,
    random,
    mintId,
    metrics,
    publicUrl: publicUrl.current,
    log,
    mailLog,
    rollback,
    onReplaced: options.onReplaced ?? (() => {}),
    onTime: following.follow,
  })
  const { store, lookups } = resources
  const https = openHttps(config, { lookups, userAgent: USER_AGENT, log, onEvent: metrics.pools.onEvent })
  metrics.pools.add('https', https.state)
  metrics.pools.add('downloads', https.fileState)
  rollback.push(https.stop)
  const engines = await openEngines(config, {
    resources,
    clock,
    random,
    mintId,
    metrics,
    limits,
    userAgent: USER_AGENT,
    https,
    notify: notifier.notify,
    log,
    mailLog,
    memory,
    computeMs,
    rollback,
  })
  notifier.on('deliveries', () => engines.outbound.wake())
  notifier.on('webhook deliveries', engines.webhooks.wake)
  notifier.on('inbound deliveries', engines.inbound.wake)
  const health = watchHealth(config, { store, clock, random, log })
  const streams = createStreams({ clock: clock.steady })
  return {
    log,
    settings,
    manual: options.manual,
    clock,
    random,
    mintId,
    memory,
    metrics,
    mailLog,
    descriptors,
    limits,
    publicUrl,
    resources,
    https,
    notifier,
    engines,
    health,
    streams,
  }
}

function createPublicUrl(configured: string): PublicUrl {
  let url = configured
  return {
    current: () => url,
    set: (next) => {
      url = next
    },
  }
}

const USER_AGENT = `Postrider/${VERSION}`
