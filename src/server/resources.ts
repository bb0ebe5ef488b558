import { randomUUID } from 'node:crypto'
import { type Config, nodeName, objectPlaceOf, planNamed } from '../config/load.ts'
import { sharedSettings } from '../config/shared-settings.ts'
import { createEventStream, type EventStream } from '../events/event-stream/event-stream.ts'
import { createDownloadLinks, type DownloadLinks } from '../mail/download-link.ts'
import { createForwardLinks, type ForwardLinks } from '../mail/forward-link.ts'
import { createRecipientParts, type RecipientPartsOf } from '../mail/recipient-parts.ts'
import { createReplyAddresses, type ReplyAddresses } from '../mail/reply-address.ts'
import { createVerp, type Verp } from '../mail/verp.ts'
import { createResolver, type Resolver, type ResolverOptions, systemServers } from '../net/dns/resolver.ts'
import type { Log } from '../os/log.ts'
import { journalFolder } from '../sending/outbound/journal/delivered-journal.ts'
import { recordDelivered } from '../sending/outbound/journal/record-delivered.ts'
import { publishedPlacement, readPlacement } from '../sending/outbound/senders/placement.ts'
import { withForwardLinks } from '../sending/submission/forward-mail.ts'
import { createUserLinks } from '../sending/submission/user-links.ts'
import { userLinkSecret } from '../sending/submission/user-mail.ts'
import { endLeasesOfEndedWorkers } from '../storage/ended-workers.ts'
import { openStore } from '../storage/open.ts'
import type { Store } from '../storage/store.ts'
import { VERSION } from '../version.ts'
import type { Base } from './base.ts'
import { createOwnAddresses, dedicatedIn, type OwnAddresses } from './dedicated-addresses.ts'
import { openReadingThread } from './reading-thread.ts'

/** The open store, the secrets kept in it, and DNS resolvers: what every other part of the server uses. */
export interface Resources {
  store: Store
  ownAddresses: OwnAddresses
  /** New events, for clients of the event stream. */
  eventStream: EventStream
  /** Identifies this process in leases. */
  workerId: string
  verp: Verp
  replyAddresses: ReplyAddresses
  recipientParts: RecipientPartsOf
  trackingSecret: Uint8Array
  /** Links in emails that ask the owner of a forward target to confirm. */
  forwardLinks: ForwardLinks
  /** Links that download received mail without a key. */
  downloadLinks: DownloadLinks
  /** Marks forwarded mail, so that a mail loop is detected. */
  loopTag: string
  lookups: ResolverOptions
  resolver: Resolver
  /** Has no cache: used for checks on request after DNS records changed. */
  freshResolver: Resolver
}

/** Opens the store, recovers what a stop or crash left unfinished, and creates secrets and resolvers. Rejects with the
 *  store's error. */
export async function openResources(config: Config, base: Base): Promise<Resources> {
  const { clock, random, mintId, publicUrl, log, mailLog, rollback } = base
  const ownAddresses = createOwnAddresses()
  const { store, eventStream } = await openStoreWithEvents(config, base, ownAddresses)
  if (dedicatedIn(config).length > 0) await ownAddresses.refresh(store)
  const workerId = randomUUID()
  await recordDelivered(journalFolder(config.dataDir), {
    deliveries: store.deliveries,
    now: clock.now,
    mintId,
    log,
    mailLog,
  })
  await endLeasesOfEndedWorkers(store, workerId, clock.now())

  const verp = createVerp(await store.secret('verp', random.bytes(32)))
  const replyAddresses = createReplyAddresses(await store.secret('reply', random.bytes(32)))
  const trackingSecret = await store.secret('tracking', random.bytes(32))
  const userLinks = createUserLinks(await userLinkSecret(store, random), random)
  const forwardLinks = createForwardLinks(await store.secret('forward', random.bytes(32)))
  const partsOf = createRecipientParts({ verp, replyAddresses, secret: trackingSecret, publicUrl })
  const recipientParts = withForwardLinks(userLinks.fill(partsOf), forwardLinks)
  const downloadLinks = createDownloadLinks(await store.secret('download', random.bytes(32)))
  const loopTag = Buffer.from(await store.secret('loop', random.bytes(16))).toString('hex')

  const servers = config.dns.servers.length > 0 ? [...config.dns.servers] : systemServers()
  const lookups = { servers, trustedServers: config.dns.trustedResolvers, clock: clock.steady, random }
  const resolver = createResolver(lookups)
  const freshResolver = createResolver({ ...lookups, maxCacheEntries: 0 })
  rollback.push(() => {
    resolver.close()
    freshResolver.close()
  })
  return {
    store,
    ownAddresses,
    eventStream,
    workerId,
    verp,
    replyAddresses,
    recipientParts,
    trackingSecret,
    forwardLinks,
    downloadLinks,
    loopTag,
    lookups,
    resolver,
    freshResolver,
  }
}

/** Opens the store and the event stream, which is notified after each commit. Logs upgrades and held deliveries. */
async function openStoreWithEvents(
  config: Config,
  { notifier, clock, metrics, log, rollback, onReplaced, onTime }: Base,
  ownAddresses: OwnAddresses,
): Promise<{ store: Store; eventStream: EventStream }> {
  const steps: string[] = []
  const store = await openStore({
    dataDir: config.dataDir,
    database: config.database,
    objects: objectPlaceOf(config),
    now: clock.now(),
    clock: clock.now,
    commitListener: {
      ...metrics,
      happened: (organizationIds) => {
        for (const id of organizationIds) notifier.notify(`events of ${id}`)
      },
      onDemand: () => notifier.notify('webhook deliveries'),
    },
    minFreeBytes: config.storage.minFreeBytes,
    plans: planNamed(config),
    onUpgrade: (taken) => steps.push(...taken),
    readingThread:
      config.database.url === '' ? openReadingThread(config, { clock, pools: metrics.pools, log }) : undefined,
    onTorn: (bytes) => log.warn('incomplete transaction at the end of the database log discarded', { bytes }),
    node: {
      name: nodeName(config),
      hostname: config.hostname,
      version: VERSION,
      takeoverMs: config.cluster.takeoverSeconds * 1000,
      placement: placementOf(config, ownAddresses, log),
      settings: sharedSettings(config),
      onEnded: (reason) => {
        log.error('node ended', { name: nodeName(config), reason })
        onReplaced()
      },
      onTakeOverFailed: (error) => log.error('work of ended nodes not taken over, trying again in 1 s', { error }),
      observer: metrics.nodes,
      onWork: (queue) => notifier.notify(WORK[queue]),
      onEvents: (organizationId) => notifier.notify(`events of ${organizationId}`),
      onTime,
    },
  })
  rollback.push(() => store.close())
  const { on } = notifier
  const eventStream = createEventStream({ events: store.events, clock: clock.steady, lookMs: EVENT_POLL_MS, on })
  await warnOfHeldDeliveries(store, log)
  await warnOfWaitingUsers(store, log)
  if (steps.length > 0) log.info('database migrated', { steps: steps.join(' ') })
  return { store, eventStream }
}

/** How the nodes agree on which of them sends from which address. */
function placementOf({ sending }: Config, ownAddresses: OwnAddresses, log: Log) {
  return {
    published: publishedPlacement(sending),
    read: (published: string) => readPlacement(published, ownAddresses.of),
    onAbsent: (names: readonly string[]) => {
      const nodes = names.join(' ')
      if (names.length === 0) log.info('all nodes with sending addresses are running')
      else log.warn('nodes with sending addresses are not running, their mail is sent from other addresses', { nodes })
    },
  }
}

/** Names, at each start, users with rights that wait for a verified address. */
async function warnOfWaitingUsers({ users }: Pick<Store, 'users'>, log: Log): Promise<void> {
  const waiting = await users.waiting()
  if (waiting.length === 0) return
  const names = waiting.map(({ id, email }) => email ?? id).join(' ')
  log.warn('rights of users wait, because nobody has verified the address. Run postrider doctor', { users: names })
}

/** After a restore, queued work is held until the operator releases it. */
async function warnOfHeldDeliveries(store: Store, log: Log): Promise<void> {
  if ((await store.held.restored()) === null) return
  const { deliveries, webhookDeliveries, inboundDeliveries } = await store.held.count()
  if (deliveries + webhookDeliveries + inboundDeliveries === 0) return
  const counts = { deliveries, webhook_deliveries: webhookDeliveries, inbound_deliveries: inboundDeliveries }
  log.warn('mail on hold since a restore, run `postrider restore release`', counts)
}

/** Notifications for the schedulers when another node wrote something that is due here. */
const WORK = {
  deliveries: 'deliveries',
  webhookDeliveries: 'webhook deliveries',
  inboundDeliveries: 'inbound deliveries',
} as const

/** How often to look for events of other processes, such as a test message sent from the command line. */
const EVENT_POLL_MS = 1_000
