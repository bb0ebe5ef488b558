import type { Plan } from '../../model/organization.ts'
import type { CommitListener } from '../commit-listener.ts'
import type { Encryption } from '../encryption.ts'
import { createMailCounts } from '../mail-counts.ts'
import { type AuditedAction, auditedAction } from '../records/audit-log.ts'
import type { NodeObserver } from '../store.ts'
import { accompanying } from './accompany.ts'
import { createCollector } from './additions.ts'
import type { DatabaseAddress } from './address.ts'
import { type Connection, NoAnswer, Refused } from './connection.ts'
import { createLargeContents, type LargeContents } from './contents.ts'
import { createDestinations, type Destinations } from './destinations.ts'
import { createDistribution, type Distribution, type NodeOptions } from './distribution.ts'
import { createEventKinds } from './event-kinds.ts'
import { createFanOut, type FanOut } from './fan-out.ts'
import type { MailLane } from './group.ts'
import type { History } from './history.ts'
import { createLeases, type NodeLeases } from './leases.ts'
import { createMailLane } from './mail-lane.ts'
import { createMirrors, loadMirrors, type Mirrors } from './mirrors.ts'
import type { Registered } from './nodes.ts'
import { createReads, type Reads } from './reads.ts'
import { createSearchRanges } from './search-ranges.ts'
import type { Open } from './start.ts'
import { createStorageCount, type StorageCount } from './stored-bytes.ts'
import { createTransactions } from './transactions.ts'
import { createUsage, type Usage } from './usage.ts'
import { postgresWorkers } from './workers.ts'
import { createWriter, type Writer } from './writer.ts'

/** What the roles of the store share. */
export interface Parts {
  reads: Reads
  /** For mail and its events. */
  lane: MailLane
  /** For everything else. */
  writer: Writer
  mirrors: Mirrors
  action: AuditedAction
  usage: Usage
  large: LargeContents
  fanOut: FanOut
  destinations: Destinations
  distribution: Distribution
  storageCount: StorageCount
  workers: ReturnType<typeof postgresWorkers>
  leases: NodeLeases
  close(): Promise<void>
}

/** Reads and the statements of the mail lane walk indexes in their order, with plans that are made once. Otherwise a
 *  plan made while a table was small stays, and reads and sorts all of it. */
const INDEXES_ONLY = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_material: 'off',
  jit: 'off',
}

/** Opens connections, reads the settings into memory, and joins the other nodes. */
export async function openParts(options: {
  address: DatabaseAddress
  open: Open
  encryption: Encryption
  registered: Registered
  history: History
  /** Clock in ms UTC. */
  clock: () => number
  plans: (name: string) => Plan
  commitListener: CommitListener | undefined
  node: NodeOptions
}): Promise<Parts> {
  const { address, open, encryption, registered, history, clock, plans, commitListener } = options
  const { node, settingsLane, contentsLane, mailLane } = registered
  const connectTo = (name: string) => () => open(name)
  const reads = createReads(() => open('reads', INDEXES_ONLY))
  const mirrors = createMirrors(encryption)
  await loadMirrors(mirrors, reads).catch((error) => {
    reads.close()
    throw error
  })
  const unplaced = { writtenTo: () => 0 }
  const onGroup = (lane: Parameters<NodeObserver['wroteGroup']>[0]) => (ms: number, changes: number) =>
    options.node.observer?.wroteGroup(lane, ms, changes)
  const transactions = createTransactions({
    connect: connectTo('settings'),
    laneId: settingsLane,
    ...unplaced,
    onGroup: onGroup('settings'),
  })
  const largeContents = createTransactions({
    connect: connectTo('contents'),
    laneId: contentsLane,
    ...unplaced,
    onGroup: onGroup('contents'),
  })
  const action = auditedAction()
  const accompany = accompanying(action)
  const writer = createWriter(transactions, {
    reads,
    mirrors,
    accompany,
    version: node.configurationVersion,
    mailSettled: () => lane.settled(),
    announce: (version) => distribution.announce(version),
  })
  const usage = createUsage(mirrors.organization, plans)
  const workers = postgresWorkers(reads, node.id)
  const distribution = createDistribution({
    address,
    connect: connectTo('beats'),
    reads,
    node,
    places: mailLane.places,
    options: options.node,
    clock,
    settings: () => writer,
    lane: () => lane,
    fanOut: () => fanOut,
    destinations: () => destinations,
    workers,
    history,
  })
  const destinations = createDestinations({
    reads,
    writer,
    limits: options.node.limits ?? { ofAll: null, areOfNode: false },
    announce: distribution.announceDestinations,
    placement: distribution.placement,
  })
  const { due } = distribution
  const fanOut = createFanOut(mirrors.webhook, due.webhookDeliveries)
  const lane = createMailLane({
    connect: async () => whole(await open('mail', INDEXES_ONLY), history),
    ...mailLane,
    onGroup: onGroup('mail'),
    settled: writer.settled,
    accompany,
    collect: createCollector({
      places: mailLane.places,
      counts: createMailCounts(),
      fanOut,
      usage,
      dueIndex: due.deliveries,
      queueOf: destinations.queueOf,
      searchRanges: createSearchRanges(),
      eventKinds: createEventKinds(),
      commitListener,
      happened: distribution.happened,
    }),
  })
  const large = createLargeContents(largeContents)
  await fanOut.load(reads)
  const storageCount = createStorageCount(connectTo('count'), writer, { organizations: mirrors.organization, usage })
  await large.removeLeft()
  await destinations.load()
  await distribution.start()
  const leases = createLeases(reads, node.id, () => performance.now())
  if (options.node.isCommand !== true) leases.start()
  return {
    reads,
    lane,
    writer,
    mirrors,
    action,
    usage,
    large,
    fanOut,
    destinations,
    distribution,
    storageCount,
    workers,
    leases,
    close: async () => {
      await leases.close()
      await lane.close()
      await largeContents.close()
      await transactions.close()
      await distribution.close()
    },
  }
}

/** A new connection of the lane that claims: nothing is claimed from a database that went back. */
async function whole(connection: Connection, history: History): Promise<Connection> {
  try {
    const fault = await history.check(connection)
    if (fault !== null) throw new NoAnswer(fault)
    return connection
  } catch (error) {
    connection.close()
    throw error instanceof Refused ? new NoAnswer(error.message, { cause: error }) : error
  }
}
