import { type Plan, UNLIMITED_PLAN } from '../../model/organization.ts'
import { tableOf } from '../../os/records.ts'
import type { CommitListener } from '../commit-listener.ts'
import { createDueIndex } from '../due-index.ts'
import type { Encryption } from '../encryption.ts'
import { firstEncryption, knownEncryption, proofOf } from '../encryption-key.ts'
import { createMailCounts } from '../mail-counts.ts'
import { slotOf, slotOfQueue } from '../slots.ts'
import type { Store } from '../store.ts'
import { createCollector } from './additions.ts'
import { parseDatabaseUrl } from './address.ts'
import { postgresApiKeys } from './api-keys.ts'
import { createAuditRecorder, postgresAuditLog } from './audit-log.ts'
import { postgresBlockedLinks } from './blocked-links.ts'
import { createQueue, type QueueTable, type Share } from './claims.ts'
import { createCluster } from './cluster.ts'
import { type Connection, connect } from './connection.ts'
import { createLargeContents } from './contents.ts'
import { postgresDeliveries } from './deliveries.ts'
import { postgresDomains } from './domains.ts'
import { createEventKinds } from './event-kinds.ts'
import { postgresEventReading } from './event-list.ts'
import { postgresEventWriting } from './events.ts'
import { createFanOut } from './fan-out.ts'
import { postgresForwardTargets } from './forward-targets.ts'
import { postgresHeld } from './held.ts'
import { postgresIdempotency, rememberInside } from './idempotency.ts'
import { postgresInbound } from './inbound.ts'
import { postgresInboundDeliveries } from './inbound-deliveries.ts'
import { createInboundQueue } from './inbound-queue.ts'
import { postgresInboundRoutes } from './inbound-routes.ts'
import { createMailLane } from './mail-lane.ts'
import { postgresMessageList } from './message-list.ts'
import { postgresMessages } from './messages.ts'
import { migrate } from './migrate.ts'
import { createMirrors, loadMirrors } from './mirrors.ts'
import { postgresMtaSts } from './mta-sts.ts'
import { endNode, type Registered, registerNode } from './nodes.ts'
import { postgresOrganizations } from './organizations.ts'
import { postgresQuality } from './quality.ts'
import { postgresQueues } from './queues.ts'
import { createReads } from './reads.ts'
import { postgresRetention } from './retention.ts'
import { routedIndex } from './routed-index.ts'
import { mergeSearchIndex } from './search-index.ts'
import { createSearchRanges } from './search-ranges.ts'
import { postgresSessions } from './sessions.ts'
import { createSlotOwner } from './slot-owner.ts'
import { postgresSnapshot } from './snapshot.ts'
import { postgresStats } from './stats.ts'
import { createStorageCount } from './stored-bytes.ts'
import { postgresSuppressions } from './suppressions.ts'
import { postgresTemplates } from './templates.ts'
import { postgresTlsSessions } from './tls-sessions.ts'
import { createTransactions } from './transactions.ts'
import { createUsage } from './usage.ts'
import { postgresUsage } from './usage-counts.ts'
import { createWakeUps } from './wake-ups.ts'
import { postgresWebhookDeliveries } from './webhook-deliveries.ts'
import { postgresWebhookDeliveryReading } from './webhook-delivery-list.ts'
import { postgresWebhooks } from './webhooks.ts'
import { postgresWorkers } from './workers.ts'
import { createWriter, type Writer } from './writer.ts'

const PROOF = 'select proof from seal'
const KEEP_PROOF = 'insert into seal (one, proof) values (1, $1)'

/** URL of a database, and the data directory with the encryption key → its store, created and upgraded where needed.
 *  `onUpgrade` gets the schema steps of an upgrade. `plans`: limits of the plan with that name; by default nothing is
 *  limited. Throws StoreMismatch for a newer schema, EncryptionKeyUnusable without its key, and NoAnswer if no server
 *  accepts writes. */
export async function openPostgresStore(options: {
  url: string
  dataDir: string
  now: number
  /** Clock in ms UTC; the system's by default. */
  clock?: () => number
  plans?: (name: string) => Plan
  onUpgrade?: (steps: readonly string[]) => void
  commitListener?: CommitListener
  node?: NodeOptions
}): Promise<Store> {
  const { url, dataDir, now, clock = Date.now, plans = () => UNLIMITED_PLAN, onUpgrade, commitListener } = options
  const { name = '', version = '', takeoverMs = TAKEOVER_MS, isCommand = false, onEnded, onWork } = options.node ?? {}
  const address = parseDatabaseUrl(url)
  const open = (name: string, settings = {}) => connect({ address, name: `postrider ${name}`, settings })
  const first = await open('start')
  let encryption: Encryption
  let registered: Registered
  try {
    const steps = await migrate(first, now)
    if (steps.length > 0) onUpgrade?.(steps)
    encryption = await openEncryption(dataDir, first)
    registered = await registerNode(first, {
      dataDir: isCommand ? null : dataDir,
      key: crypto.randomUUID(),
      name,
      version,
      now: clock,
    })
  } finally {
    first.close()
  }

  const { node, settingsLane, contentsLane, mailLane } = registered
  const reads = createReads(() => open('reads', INDEXES_ONLY))
  const mirrors = createMirrors(encryption)
  await loadMirrors(mirrors, reads).catch((error) => {
    reads.close()
    throw error
  })
  const connectTo = (name: string) => () => open(name)
  const unplaced = { writtenTo: () => 0 }
  const transactions = createTransactions({ connect: connectTo('settings'), laneId: settingsLane, ...unplaced })
  const largeContents = createTransactions({ connect: connectTo('contents'), laneId: contentsLane, ...unplaced })
  const recorder = createAuditRecorder()
  const { accompany } = recorder
  const announce = async (reached: number) => {
    wakeUps.changed(reached)
    await cluster.settled(reached)
  }
  const settingsVersion = node.configurationVersion
  const writer = createWriter(transactions, {
    reads,
    mirrors,
    accompany,
    version: settingsVersion,
    mailSettled: () => lane.settled(),
    announce,
  })
  const usage = createUsage(mirrors.organization, plans)
  const remember = rememberInside
  const steadyNow = () => performance.now()
  const share: Share = {
    nodeId: node.id,
    owns: (slot) => slots.owns(slot),
    mayClaim: (slot) => slots.owns(slot) && cluster.isSafe(),
  }
  const routed = (queue: keyof typeof QUEUES) => {
    const index = createDueIndex()
    const elsewhere = (key: string, at: number) => wakeUps.offer(queue, key, at)
    return routedIndex(index, { slotOf: QUEUES[queue].slotOf, owns: share.owns, elsewhere })
  }
  const due = tableOf(QUEUE_NAMES, routed)
  const queues = tableOf(QUEUE_NAMES, (queue) => createQueue(QUEUES[queue], due[queue], share))
  const allQueues = Object.values(queues)
  const slots = createSlotOwner(reads, node.id, {
    isIdle: (slot) => allQueues.every((queue) => queue.isIdle(slot)),
    nowMs: steadyNow,
  })
  const loadSlots = async (loaded: Iterable<number>) => {
    const wanted = new Set(loaded)
    if (wanted.size === 0) return
    await Promise.all(allQueues.map((queue) => queue.load(reads, wanted)))
    for (const queue of QUEUE_NAMES) onWork?.(queue)
  }
  const wakeUps = createWakeUps(
    { address, name: 'postrider wake-ups' },
    {
      offered: (queue, key, at) => {
        if (!isQueueName(queue) || !slots.owns(QUEUES[queue].slotOf(key))) return
        due[queue].offer(key, at)
        onWork?.(queue)
      },
      changed: (reached) => {
        if (reached > writer.version()) writer.catchUp().catch(() => {}) // the next beat tries again
      },
      missed: () => {
        loadSlots(slots.all()).catch(() => {}) // the next look tries again
      },
    },
  )
  /** What nodes that ended were working on is due again. */
  const continueEnded = async () => {
    for (const worker of await workers.endedNodes()) {
      for (const queue of allQueues) await queue.endLeases(lane, worker, NONE, clock())
    }
    await fanOut.load(reads)
  }
  let known: readonly number[] = []
  let lookAt = steadyNow() + LOOK_MS
  const cluster = createCluster({
    connect: () => open('beats'),
    queries: reads,
    node,
    places: mailLane.places,
    takeoverMs,
    nowMs: steadyNow,
    configurationVersion: writer.version,
    events: {
      changed: () => writer.catchUp(),
      beat: async (liveNodes) => {
        await wakeUps.check()
        if (isCommand) return
        const { taken, hasGiven } = await slots.balance(liveNodes)
        if (hasGiven) for (const queue of allQueues) queue.dropForeign()
        await loadSlots(taken)
        const hasEnded = known.some((id) => !liveNodes.includes(id))
        known = liveNodes
        if (steadyNow() < lookAt && !hasEnded) return
        lookAt = steadyNow() + (liveNodes.length > 1 ? LOOK_MS : LOOK_ALONE_MS)
        await continueEnded()
        await loadSlots(slots.all())
      },
      ended: () => onEnded?.(),
    },
  })
  const workers = postgresWorkers(reads, node.id)
  const fanOut = createFanOut(mirrors.webhook, due.webhookDeliveries)
  const lane = createMailLane({
    connect: () => open('mail', INDEXES_ONLY),
    ...mailLane,
    passed: () => cluster.passed(),
    settled: writer.settled,
    accompany,
    collect: createCollector({
      places: mailLane.places,
      counts: createMailCounts(),
      fanOut,
      usage,
      dueIndex: due.deliveries,
      searchRanges: createSearchRanges(),
      eventKinds: createEventKinds(),
      commitListener,
    }),
  })
  const large = createLargeContents(largeContents)
  const inboundQueue = createInboundQueue(mirrors.inboundRoute, due.inboundDeliveries)
  await fanOut.load(reads)
  const storageCount = createStorageCount(connectTo('count'), writer, { organizations: mirrors.organization, usage })
  await large.removeLeft()
  await cluster.start()
  return {
    snapshot: postgresSnapshot(mirrors),
    organizations: postgresOrganizations(reads, writer, mirrors.organization),
    domains: postgresDomains(reads, writer, { mirror: mirrors.domain, encryption, remember, recorder }),
    blockedLinks: postgresBlockedLinks(reads, writer, mirrors.blockedLink),
    apiKeys: postgresApiKeys(reads, writer, { remember, usage }),
    sessions: postgresSessions(reads, writer),
    messages: postgresMessages(reads, lane, {
      large,
      usage,
      dueIndex: due.deliveries,
      list: postgresMessageList(reads),
    }),
    deliveries: postgresDeliveries(reads, lane, {
      queue: queues.deliveries,
      domains: mirrors.domain,
      offer: due.deliveries.offer,
    }),
    events: { ...postgresEventWriting(lane, usage), ...postgresEventReading(reads, lane) },
    webhookDeliveries: {
      ...postgresWebhookDeliveries(reads, lane, {
        writer,
        queue: queues.webhookDeliveries,
        webhooks: mirrors.webhook,
        dueIndex: due.webhookDeliveries,
        fanOut,
      }),
      ...postgresWebhookDeliveryReading(reads),
    },
    suppressions: postgresSuppressions(reads, writer, { remember, usage }),
    templates: postgresTemplates(reads, writer, { remember, usage }),
    forwardTargets: postgresForwardTargets(reads, writer, usage),
    webhooks: postgresWebhooks(reads, writer, { encryption, remember, usage, lane }),
    inboundRoutes: postgresInboundRoutes(reads, writer, { encryption, remember, usage, lane }),
    inbound: postgresInbound(reads, lane, { large, usage, queue: inboundQueue }),
    inboundDeliveries: postgresInboundDeliveries(reads, lane, {
      claims: queues.inboundDeliveries,
      queue: inboundQueue,
      routes: mirrors.inboundRoute,
      dueIndex: due.inboundDeliveries,
    }),
    workers,
    queues: postgresQueues(reads),
    held: postgresHeld(reads, lane, { writer, dueIndexes: due, fanOut }),
    mtaSts: postgresMtaSts(reads, writer),
    tlsSessions: postgresTlsSessions(reads, writer),
    idempotency: postgresIdempotency(reads, writer),
    auditLog: postgresAuditLog(reads, writer, recorder),
    stats: postgresStats(reads),
    quality: postgresQuality(reads, writer, lane),
    retention: postgresRetention(reads, writer),
    usage: postgresUsage(reads, writer, { usage, count: storageCount }),
    secret: secrets(writer, encryption),
    maintain: async (what) => {
      // PostgreSQL gives back the space of removed rows by itself.
      if (what === 'recent') await mergeSearchIndex(reads)
      return false
    },
    // Every group writes to `lanes`.
    checkWritable: () => lane.perform(async () => {}),
    close: async () => {
      await lane.close()
      await largeContents.close()
      await transactions.close()
      await cluster.close()
      await wakeUps.close()
      await slots.leave().catch(() => {}) // others take them after this node was ended
      await endNode(reads, node.key).catch(() => {})
      reads.close()
    },
  }
}

/** Reads and the statements of the mail lane walk indexes in their order, with plans that are made once. Otherwise a
 *  plan made while a table was small stays, and reads and sorts all of it. */
const INDEXES_ONLY = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
}

/** How others know this node, and what happens to it. */
export interface NodeOptions {
  name?: string
  version?: string
  /** True for a command beside the server: it handles no mail. */
  isCommand?: boolean
  /** Others end this node when they have not seen it for so long. */
  takeoverMs?: number
  /** Another node ended this one: the process must stop. */
  onEnded?: () => void
  /** A queue has something due that another node wrote. */
  onWork?: (queue: QueueName) => void
}

const TAKEOVER_MS = 10_000
/** How often a node looks for work of ended nodes, and for due times whose notification was lost; alone it wrote all of
 *  them itself. */
const LOOK_MS = 5_000
const LOOK_ALONE_MS = 60_000
const NONE: ReadonlySet<string> = new Set()

const QUEUE_NAMES = ['deliveries', 'webhookDeliveries', 'inboundDeliveries'] as const
export type QueueName = (typeof QUEUE_NAMES)[number]

const QUEUES: Record<QueueName, QueueTable> = {
  deliveries: {
    table: 'delivery_queue',
    slotOf: slotOfQueue,
    isDated: `q.status = 'scheduled'`,
    // After two attempts that ended with their process, a delivery waits 5 s, 20 s, 45 s, so that a message that
    // crashes the process lets the server run in between.
    pauseMs: '5000 * greatest(0, q.attempts - q.recorded - 2) * greatest(0, q.attempts - q.recorded - 2)',
  },
  webhookDeliveries: { table: 'webhook_queue', slotOf },
  inboundDeliveries: { table: 'inbound_queue', slotOf },
}

const isQueueName = (name: string): name is QueueName => Object.hasOwn(QUEUES, name)

/** The key is created at the first start of the installation; a second node brings a copy of it. */
async function openEncryption(dataDir: string, connection: Connection): Promise<Encryption> {
  const known = await proofIn(connection)
  return knownEncryption(dataDir, known ?? (await keepProof(dataDir, connection)))
}

async function proofIn(connection: Connection): Promise<Uint8Array | null> {
  const [row] = await connection.query<{ proof: Uint8Array }>(PROOF)
  return row?.proof ?? null
}

/** Of two nodes that start, the first creates the key. */
async function keepProof(dataDir: string, connection: Connection): Promise<Uint8Array> {
  await connection.query('begin')
  try {
    await connection.query('lock table seal')
    const known = await proofIn(connection)
    const proof = known ?? proofOf(firstEncryption(dataDir))
    if (known === null) await connection.run(KEEP_PROOF, [proof])
    await connection.query('commit')
    return proof
  } catch (error) {
    await connection.query('rollback')
    throw error
  }
}

/** Name and fresh secret → the secret that is stored under that name, the fresh one if there was none. */
function secrets(writer: Writer, encryption: Encryption): Store['secret'] {
  return (name, fresh) =>
    writer.write(async ({ query, run }) => {
      const place = `secrets ${name}`
      await run('insert into secrets (name, value) values ($1, $2) on conflict do nothing', [
        name,
        encryption.encrypt(fresh, place),
      ])
      const [row] = await query<{ value: Uint8Array }>('select value from secrets where name = $1', [name])
      if (row === undefined) throw new Error(`the secret ${name} was not stored`)
      return new Uint8Array(encryption.decrypt(row.value, place))
    })
}
