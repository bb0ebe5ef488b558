import type { Config } from '../config/load.ts'
import type { HealthWatch } from '../operating/health/watch.ts'
import { VERSION } from '../version.ts'
import { createStreams, type Streams } from '../web/api/streams.ts'
import { type Base, createBase, type Rollback, type StartOptions } from './base.ts'
import { type Engines, openEngines } from './engines.ts'
import { watchHealth } from './health.ts'
import { type Https, openHttps } from './https-clients.ts'
import { openResources, type Resources } from './resources.ts'

/** Everything below the listeners. */
export interface Core extends Base {
  resources: Resources
  https: Https
  engines: Engines
  health: HealthWatch
  /** Open HTTP streams of events. */
  streams: Streams
}

/** Opens the store and creates engines and clients; nothing is started yet. What it opened is closed by `rollback`. */
export async function openCore(config: Config, options: StartOptions, rollback: Rollback): Promise<Core> {
  const base = createBase(config, options, rollback)
  const { metrics, notifier, clock } = base
  const resources = await openResources(config, base)
  const { onEvent } = metrics.pools
  const https = openHttps(config, { lookups: resources.lookups, userAgent: USER_AGENT, log: base.log, onEvent })
  metrics.pools.add('https', https.state)
  metrics.pools.add('downloads', https.fileState)
  rollback.push(https.stop)
  const engines = await openEngines(config, base, { resources, https, userAgent: USER_AGENT })
  notifier.on('deliveries', () => engines.queue.wake())
  notifier.on('webhook deliveries', () => engines.webhooks.wake())
  notifier.on('inbound deliveries', () => engines.inbound.wake())
  const health = watchHealth(config, base, resources.store)
  return { ...base, resources, https, engines, health, streams: createStreams({ clock: clock.steady }) }
}

const USER_AGENT = `Postrider/${VERSION}`
