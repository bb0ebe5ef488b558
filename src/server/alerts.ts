import { readFileSync } from 'node:fs'
import { type AlertChannel, type Config, configuredSources, nodeName, readSecretFile } from '../config/load.ts'
import { createSourceNames } from '../domains/source-names.ts'
import { canarySource } from '../events/alerts/canary-source.ts'
import { type ChannelDeps, createChannel } from '../events/alerts/channels.ts'
import { checkSource, QUICK_CHECKS } from '../events/alerts/check-source.ts'
import { type AlertSender, createAlertSender, type SenderChannel } from '../events/alerts/sender.ts'
import { addressSource, installationSources, threadSource } from '../events/alerts/sources.ts'
import { strangerSource } from '../events/alerts/stranger-source.ts'
import { type AlertWatch, createAlertWatch } from '../events/alerts/watch.ts'
import type { Resolver } from '../net/dns/resolver.ts'
import type { Post } from '../net/https/requests.ts'
import { namesOf } from '../operating/canary/canary.ts'
import type { WallClock } from '../os/clock.ts'
import type { UserMail } from '../sending/submission/user-mail.ts'
import { VERSION } from '../version.ts'
import type { Core } from './core.ts'

/** The configured channels, each with how to tell it. */
export function alertChannels(
  config: Config,
  parts: { postAlert: Post; userMail: UserMail; resolver: Resolver; clock: WallClock; publicUrl: () => string },
): (SenderChannel & Pick<AlertChannel, 'type'>)[] {
  const means: ChannelDeps = {
    post: parts.postAlert,
    userMail: parts.userMail,
    resolver: parts.resolver,
    now: parts.clock.now,
    readSecret: readSecretFile,
    readFile: (path) => readFileSync(path, 'utf8'),
    mailFrom: config.users.mailFrom,
    about: { hostname: config.hostname, publicUrl: parts.publicUrl },
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
  core: Core,
  channels: readonly SenderChannel[],
): (AlertWatch & AlertSender) | null {
  const { health, engines, clock, random, log, metrics } = core
  const { store, freshResolver: resolver } = core.resources
  if (channels.length === 0) return null
  const { leads } = store.leases
  const node = config.database.url === '' ? '' : nodeName(config)
  const runQuick = async () => {
    const { runCheckup } = await import('../operating/checkup/run.ts')
    const server = { pid: process.pid, ports: [] }
    return (await runCheckup(config, { clock, random, store, held: null, server, only: QUICK_CHECKS })).checks
  }
  const sources = [
    checkSource({ health, runQuick, leads, node }),
    ...installationSources({ store, leads, channels: channels.map(({ name }) => name) }),
    addressSource(node, () => engines.queue.addresses()),
    threadSource(node, metrics.pools.deaths),
    canarySource({ store, leads, mailboxes: config.canary.everyMinutes === 0 ? [] : namesOf(config.canary) }),
    strangerSource({
      store,
      sourceNames: createSourceNames({ resolver, clock: clock.steady }),
      leads,
      own: configuredSources(config),
    }),
  ]
  const watch = createAlertWatch({ alerts: store.alerts, sources, mintId: () => core.mintId('alr'), log })
  const sender = createAlertSender({
    alerts: store.alerts,
    channels,
    repeatAfterMs: config.alerts.repeatAfterHours * 3_600_000,
    now: clock.now,
    log,
  })
  return { ...watch, ...sender }
}
