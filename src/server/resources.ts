import { randomUUID } from 'node:crypto'
import { type Config, planNamed } from '../config/load.ts'
import { createFeed, type Feed } from '../event-stream/event-stream.ts'
import { createForwardLinks, type ForwardLinks } from '../mail/forward-link.ts'
import { createRecipientParts, type RecipientPartsOf } from '../mail/recipient-parts.ts'
import { createVerp, type Verp } from '../mail/verp.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { createResolver, type Resolver, type ResolverOptions, systemServers } from '../net/dns/resolver.ts'
import type { WallClock } from '../os/clock.ts'
import type { MintId } from '../os/ids.ts'
import type { Log } from '../os/log.ts'
import type { MailLog } from '../os/mail-log.ts'
import type { Random } from '../os/random.ts'
import { journalFolder } from '../outbound/journal/delivered-journal.ts'
import { recordDelivered } from '../outbound/journal/record-delivered.ts'
import { openStore } from '../storage/sqlite/open.ts'
import type { Store } from '../storage/store.ts'

/** What all rooms stand on: the store, with what a stop or a crash left behind put right; the secrets that are kept in it;
 *  and the way to ask the DNS. */
export interface Ground {
  store: Store
  /** Events as they are told. */
  feed: Feed
  /** Names this process where it holds a lease. */
  workerId: string
  verp: Verp
  ownParts: RecipientPartsOf
  trackingSecret: Uint8Array
  /** In mails that ask for the confirmation of a forward target. */
  forwardLinks: ForwardLinks
  /** In the mail we pass on, to know it again. */
  loopTag: string
  lookups: ResolverOptions
  resolver: Resolver
  /** Without a cache: whoever asks to look again has just changed something. */
  freshResolver: Resolver
}

/** Config → the Ground. `undo` gets what takes it back, also when it rejects: with what the store throws. */
export async function openGround(
  config: Config,
  house: {
    clock: WallClock
    random: Random
    mintId: MintId
    metrics: Metrics
    /** As it is known; links in mail begin with it. */
    publicUrl: () => string
    log: Log
    mailLog: MailLog
  },
  undo: (() => unknown)[],
): Promise<Ground> {
  const { clock, random, metrics, log } = house
  const { steady } = clock
  let feed: Feed | null = null
  const steps: string[] = []
  const store = await openStore({
    dataDir: config.dataDir,
    now: clock.now(),
    told: { ...metrics, happened: (organizationIds) => organizationIds.forEach((id) => void feed?.ring(id)) },
    minFreeBytes: config.storage.minFreeBytes,
    plans: planNamed(config),
    onUpgrade: (taken) => steps.push(...taken),
    onTorn: (bytes) => log.warn('the log of the database ended in an unfinished change, which was left out', { bytes }),
  })
  undo.push(() => store.close())
  feed = createFeed({ events: store.events, clock: steady, lookMs: FEED_LOOK_MS })
  await tellHeld(store, log)
  await logUpgrade(store, steps, log)
  const workerId = randomUUID()
  await recordDelivered(journalFolder(config.dataDir), { ...house, now: clock.now, deliveries: store.deliveries })
  await takeUpAgain(config, store, workerId, clock.now())

  const verp = createVerp(await store.secret('verp', random.bytes(32)))
  const trackingSecret = await store.secret('tracking', random.bytes(32))
  const ownParts = createRecipientParts({ verp, secret: trackingSecret, publicUrl: house.publicUrl })
  const forwardLinks = createForwardLinks(await store.secret('forward', random.bytes(32)))
  const loopTag = Buffer.from(await store.secret('loop', random.bytes(16))).toString('hex')

  const servers = config.dns.servers.length > 0 ? [...config.dns.servers] : systemServers()
  const lookups = { servers, trustedServers: config.dns.trustedResolvers, clock: steady, random }
  const resolver = createResolver(lookups)
  const freshResolver = createResolver({ ...lookups, maxCacheEntries: 0 })
  undo.push(() => {
    resolver.close()
    freshResolver.close()
  })
  return {
    store,
    feed,
    workerId,
    verp,
    ownParts,
    trackingSecret,
    forwardLinks,
    loopTag,
    lookups,
    resolver,
    freshResolver,
  }
}

/** What an upgrade decided for the operator. */
async function logUpgrade(store: Store, steps: readonly string[], log: Log): Promise<void> {
  if (steps.length === 0) return
  log.info('store upgraded', { steps: steps.join(' ') })
  const targets = await store.forwardTargets.countByUpgrade()
  if (steps.includes('0004_forward_targets') && targets > 0) {
    log.warn('forward targets of existing routes count as confirmed; look at them in the dashboard', { targets })
  }
}

/** After a restore nothing of what waited goes by itself, and somebody should know. */
async function tellHeld(store: Store, log: Log): Promise<void> {
  if ((await store.held.restored()) === null) return
  const { deliveries, webhookDeliveries, inboundDeliveries } = await store.held.count()
  if (deliveries + webhookDeliveries + inboundDeliveries === 0) return
  const counts = { deliveries, webhook_deliveries: webhookDeliveries, inbound_deliveries: inboundDeliveries }
  log.warn('held since a restore, until `postrider restore release`', counts)
}

/** What another process had under way is due again, and nothing waits longer than the config lets it. */
async function takeUpAgain(config: Config, store: Store, workerId: string, now: number): Promise<void> {
  const queues = [
    { queue: store.deliveries, ladder: config.delivery.retryScheduleSeconds },
    { queue: store.webhookDeliveries, ladder: config.webhooks.retryScheduleSeconds },
    { queue: store.inboundDeliveries, ladder: config.inbound.retryScheduleSeconds },
  ]
  for (const { queue } of queues) await queue.endForeignLeases(workerId, now)
  for (const { queue, ladder } of queues) await queue.waitAtMostUntil(now + longestMs(ladder))
}

/** No wait of this ladder is longer, nor one that an endpoint asked for. */
const longestMs = (ladderSeconds: readonly number[]) =>
  Math.max(DAY_SECONDS, ...ladderSeconds.map((s) => s * 1.25)) * 1000
const DAY_SECONDS = 86_400

/** Events of other processes, such as a test mail sent on the command line, come to those who follow after so long. */
const FEED_LOOK_MS = 1_000
