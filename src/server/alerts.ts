import { readFileSync } from 'node:fs'
import { canarySource } from '../alerts/canary-source.ts'
import { type ChannelDeps, createChannel } from '../alerts/channels.ts'
import { checkSource, QUICK_CHECKS } from '../alerts/check-source.ts'
import { type AlertSender, createAlertSender, type SenderChannel } from '../alerts/sender.ts'
import { addressSource, installationSources, threadSource } from '../alerts/sources.ts'
import { strangerSource } from '../alerts/stranger-source.ts'
import { type AlertWatch, createAlertWatch } from '../alerts/watch.ts'
import { namesOf } from '../canary/canary.ts'
import { type AlertChannel, type Config, configuredSources, nodeName, readSecretFile } from '../config/load.ts'
import { createSourceNames } from '../domains/source-names.ts'
import type { HealthWatch } from '../health/watch.ts'
import type { Resolver } from '../net/dns/resolver.ts'
import type { WallClock } from '../os/clock.ts'
import type { MintId } from '../os/ids.ts'
import type { Log } from '../os/log.ts'
import type { Random } from '../os/random.ts'
import type { ThreadDeath } from '../os/thread-deaths.ts'
import type { Store } from '../storage/store.ts'
import { VERSION } from '../version.ts'
import type { Engines } from './engines.ts'

/** The configured channels, each with how to tell it. */
export function alertChannels(
  config: Config,
  deps: Pick<ChannelDeps, 'post' | 'userMail' | 'resolver' | 'now'> & { publicUrl: () => string },
): (SenderChannel & Pick<AlertChannel, 'type'>)[] {
  const { publicUrl, ...rest } = deps
  const means: ChannelDeps = {
    ...rest,
    readSecret: readSecretFile,
    readFile: (path) => readFileSync(path, 'utf8'),
    mailFrom: config.users.mailFrom,
    about: { hostname: config.hostname, publicUrl },
    userAgent: `Postrider/${VERSION}`,
  }
  return config.alerts.channels.map((channel) => {
    const { name, type, minSeverity } = channel
    return { name, type, minSeverity, tell: createChannel(channel, means) }
  })
}

/** Alerts of the running server; null without channels, then nothing looks. */
export function openAlerts(
  config: Config,
  deps: {
    store: Store
    channels: readonly SenderChannel[]
    health: HealthWatch
    deaths: () => readonly ThreadDeath[]
    outbound: Pick<Engines['outbound'], 'addresses'>
    resolver: Resolver
    clock: WallClock
    random: Random
    mintId: MintId
    log: Log
  },
): (AlertWatch & AlertSender) | null {
  const { store, channels, health, outbound, clock, random, log } = deps
  if (channels.length === 0) return null
  const { leads } = store.leases
  const node = config.database.url === '' ? '' : nodeName(config)
  const runQuick = async () => {
    const { runCheckup } = await import('../checkup/run.ts')
    const server = { pid: process.pid, ports: [] }
    return (await runCheckup(config, { clock, random, store, held: null, server, only: QUICK_CHECKS })).checks
  }
  const sources = [
    checkSource({ health, runQuick, leads, node }),
    ...installationSources({ store, leads, channels: channels.map(({ name }) => name) }),
    addressSource(node, () => outbound.addresses()),
    threadSource(node, deps.deaths),
    canarySource({ store, leads, mailboxes: config.canary.everyMinutes === 0 ? [] : namesOf(config.canary) }),
    strangerSource({
      store,
      sourceNames: createSourceNames({ resolver: deps.resolver, clock: clock.steady }),
      leads,
      own: configuredSources(config),
    }),
  ]
  const watch = createAlertWatch({ alerts: store.alerts, sources, mintId: () => deps.mintId('alr'), log })
  const sender = createAlertSender({
    alerts: store.alerts,
    channels,
    repeatAfterMs: config.alerts.repeatAfterHours * 3_600_000,
    now: clock.now,
    log,
  })
  return { ...watch, ...sender }
}
