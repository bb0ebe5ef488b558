import { type Plan, UNLIMITED_PLAN } from '../../model/organization.ts'
import { createDueIndex } from '../due-index.ts'
import type { Encryption } from '../encryption.ts'
import { firstEncryption, knownEncryption, proofOf } from '../encryption-key.ts'
import { createMailCounts } from '../mail-counts.ts'
import { slotOf, slotOfQueue } from '../slots.ts'
import type { Store } from '../store.ts'
import { createCollector } from './additions.ts'
import { parseDatabaseUrl } from './address.ts'
import { postgresApiKeys } from './api-keys.ts'
import { numberArray } from './arrays.ts'
import { createAuditRecorder, postgresAuditLog } from './audit-log.ts'
import { postgresBlockedLinks } from './blocked-links.ts'
import { createQueue, type QueueTable } from './claims.ts'
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
import { postgresOrganizations } from './organizations.ts'
import { createPlaces, type Places } from './places.ts'
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

const LANE = 'insert into nodes (seat) values ($1) returning id'
const END = 'update nodes set ended_at = clock_timestamp() where id = any($1::int[])'
/** The first seat that no live lane has, and the highest place that any lane reached. */
const SEAT = `select (select min(free) from generate_series(0, 127) free
      where not exists (select 1 from nodes where seat = free and ended_at is null))::int as seat,
    greatest((select max(written_to) from nodes), (select max(newest.place) from organizations o cross join lateral (
      select place from events where organization_id = o.id collate "default" order by place desc limit 1) newest))::float8 as highest`
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
  plans?: (name: string) => Plan
  onUpgrade?: (steps: readonly string[]) => void
}): Promise<Store> {
  const { url, dataDir, now, plans = () => UNLIMITED_PLAN, onUpgrade } = options
  const address = parseDatabaseUrl(url)
  const open = (name: string, settings = {}) => connect({ address, name: `postrider ${name}`, settings })
  const first = await open('start')
  let encryption: Encryption
  let settingsLane: number
  let largeLane: number
  let mailLane: { laneId: number; places: Places }
  try {
    const steps = await migrate(first, now)
    if (steps.length > 0) onUpgrade?.(steps)
    encryption = await openEncryption(dataDir, first)
    settingsLane = await addLane(first, null)
    largeLane = await addLane(first, null)
    mailLane = await addMailLane(first)
  } finally {
    first.close()
  }

  const reads = createReads(() => open('reads', INDEXES_ONLY))
  const mirrors = createMirrors(encryption)
  await loadMirrors(mirrors, reads).catch((error) => {
    reads.close()
    throw error
  })
  const connectTo = (name: string) => () => open(name)
  const unplaced = { writtenTo: () => 0 }
  const transactions = createTransactions({ connect: connectTo('settings'), laneId: settingsLane, ...unplaced })
  const largeContents = createTransactions({ connect: connectTo('contents'), laneId: largeLane, ...unplaced })
  const recorder = createAuditRecorder()
  const { accompany } = recorder
  const writer = createWriter(transactions, { reads, mirrors, accompany })
  const usage = createUsage(mirrors.organization, plans)
  const remember = rememberInside
  const due = {
    deliveries: createDueIndex(),
    webhookDeliveries: createDueIndex(),
    inboundDeliveries: createDueIndex(),
  }
  const queues = {
    deliveries: createQueue(DELIVERY_QUEUE, due.deliveries),
    webhookDeliveries: createQueue({ table: 'webhook_queue', slotOf }, due.webhookDeliveries),
    inboundDeliveries: createQueue({ table: 'inbound_queue', slotOf }, due.inboundDeliveries),
  }
  const fanOut = createFanOut(mirrors.webhook, due.webhookDeliveries)
  const lane = createMailLane({
    connect: () => open('mail', INDEXES_ONLY),
    ...mailLane,
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
    }),
  })
  const large = createLargeContents(largeContents)
  const inboundQueue = createInboundQueue(mirrors.inboundRoute, due.inboundDeliveries)
  await Promise.all([...Object.values(queues), fanOut].map((each) => each.load(reads)))
  const storageCount = createStorageCount(connectTo('count'), writer, { organizations: mirrors.organization, usage })
  await large.removeLeft()
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
    workers: postgresWorkers(reads),
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
    // Every group writes to `nodes`.
    checkWritable: () => lane.perform(async () => {}),
    close: async () => {
      await lane.close()
      await largeContents.close()
      await transactions.close()
      await reads.query(END, [numberArray([settingsLane, largeLane, mailLane.laneId])]).catch(() => {})
      reads.close()
    },
  }
}

async function addLane(connection: Connection, seat: number | null): Promise<number> {
  const [row] = await connection.query<{ id: number }>(LANE, [seat])
  if (row === undefined) throw new Error('the lane has no row')
  return row.id
}

/** Adds a lane that writes events. */
async function addMailLane(connection: Connection): Promise<{ laneId: number; places: Places }> {
  const [row] = await connection.query<{ seat: number | null; highest: number | null }>(SEAT)
  if (row === undefined || row.seat === null) throw new Error('no seat is free for a writing lane')
  return { laneId: await addLane(connection, row.seat), places: createPlaces(Date.now, row.seat, row.highest ?? 0) }
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

/** After two attempts that ended with their process, a delivery waits 5 s, 20 s, 45 s, so that a message that crashes
 *  the process lets the server run in between. */
const DELIVERY_QUEUE: QueueTable = {
  table: 'delivery_queue',
  slotOf: slotOfQueue,
  isDated: `q.status = 'scheduled'`,
  pauseMs: '5000 * greatest(0, q.attempts - q.recorded - 2) * greatest(0, q.attempts - q.recorded - 2)',
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
