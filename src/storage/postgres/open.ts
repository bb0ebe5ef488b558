import { type Plan, UNLIMITED_PLAN } from '../../model/organization.ts'
import type { CommitListener } from '../commit-listener.ts'
import type { Encryption } from '../encryption.ts'
import { firstEncryption, knownEncryption, proofOf } from '../encryption-key.ts'
import { createMailCounts } from '../mail-counts.ts'
import type { Store } from '../store.ts'
import { createCollector } from './additions.ts'
import { parseDatabaseUrl } from './address.ts'
import { postgresApiKeys } from './api-keys.ts'
import { createAuditRecorder, postgresAuditLog } from './audit-log.ts'
import { postgresBlockedLinks } from './blocked-links.ts'
import { type Connection, connect } from './connection.ts'
import { createLargeContents } from './contents.ts'
import { postgresDeliveries } from './deliveries.ts'
import { createDistribution, type NodeOptions } from './distribution.ts'
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
import { mergeSearchIndex } from './search-index.ts'
import { createSearchRanges } from './search-ranges.ts'
import { postgresSessions } from './sessions.ts'
import { postgresSnapshot } from './snapshot.ts'
import { postgresStats } from './stats.ts'
import { createStorageCount } from './stored-bytes.ts'
import { postgresSuppressions } from './suppressions.ts'
import { postgresTemplates } from './templates.ts'
import { postgresTlsSessions } from './tls-sessions.ts'
import { createTransactions } from './transactions.ts'
import { createUsage } from './usage.ts'
import { postgresUsage } from './usage-counts.ts'
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
  const { name = '', version = '', isCommand = false } = options.node ?? {}
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
  const writer = createWriter(transactions, {
    reads,
    mirrors,
    accompany,
    version: node.configurationVersion,
    mailSettled: () => lane.settled(),
    announce: (version) => distribution.announce(version),
  })
  const usage = createUsage(mirrors.organization, plans)
  const remember = rememberInside
  const workers = postgresWorkers(reads, node.id)
  const distribution = createDistribution({
    address,
    connect: connectTo('beats'),
    reads,
    node,
    places: mailLane.places,
    options: options.node ?? {},
    clock,
    settings: () => writer,
    lane: () => lane,
    fanOut: () => fanOut,
    workers,
  })
  const { due, queues } = distribution
  const fanOut = createFanOut(mirrors.webhook, due.webhookDeliveries)
  const lane = createMailLane({
    connect: () => open('mail', INDEXES_ONLY),
    ...mailLane,
    passed: distribution.passed,
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
  await distribution.start()
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
      await distribution.close()
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
