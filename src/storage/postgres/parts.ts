import { type Plan, planFor } from '../../model/organization.ts'
import type { CommitListener } from '../commit-reports.ts'
import type { Encryption } from '../encryption.ts'
import { auditedAction } from '../records/audit-log.ts'
import type { DatabaseAddress } from './address.ts'
import { TAKEOVER_MS } from './cluster.ts'
import { type Connection, NoAnswer, type Open, Refused } from './connection.ts'
import { Distribution } from './distribution.ts'
import { DueKeys } from './due-keys.ts'
import { HeldClaims } from './held-claims.ts'
import type { History } from './history.ts'
import { createLanes } from './lanes.ts'
import { createLeases } from './leases.ts'
import { createMirrors, loadMirrors } from './mirrors.ts'
import type { NodeOptions } from './node-options.ts'
import type { Registered } from './nodes.ts'
import { createReads } from './reads.ts'
import { createSettings } from './settings.ts'
import { postgresWorkers } from './workers.ts'
import { PATIENCE_MS } from './write-lane.ts'

/** What the roles of the store share. */
export type Parts = Awaited<ReturnType<typeof openParts>>

/** Reads and the statements of mail walk indexes in their order, with plans that are made once. Otherwise a
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

/** How long a command waits for the database. Commands are not retried, and 5 s are too short on a busy machine or while a
 *  standby takes over. */
const COMMAND_PATIENCE_MS = 60_000

/** What a store is opened with. */
interface Opening {
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
}

/** Opens connections, reads the settings into memory, and joins the other nodes. */
export async function openParts(options: Opening) {
  const { address, open, encryption, registered, history, clock, plans } = options
  const { node } = registered
  const patienceMs = options.node.isCommand === true ? COMMAND_PATIENCE_MS : PATIENCE_MS
  const reads = createReads(() => open('reads', INDEXES_ONLY), patienceMs)
  const mirrors = createMirrors(encryption)
  await loadMirrors(mirrors, reads).catch((error) => {
    reads.close()
    throw error
  })
  const action = auditedAction()
  const keys = new DueKeys(reads)
  const lanes = createLanes({
    connect: async () => whole(await open('mail', INDEXES_ONLY), history),
    laneIds: registered.lanes,
    mirrors,
    planOf: (organizationId) => planFor(organizationId, mirrors.organization.get(organizationId), plans),
    settings: () => settings,
    action,
    listener: alsoShown(options.commitListener, () => distribution),
    observer: options.node.observer,
    patienceMs,
    due: keys.indexes,
    offered: (offers) => distribution.offered(offers),
  })
  const settings = createSettings(lanes.settings, {
    reads,
    mirrors,
    version: node.configurationVersion,
    mailSettled: lanes.settled,
    announce: (version) => distribution.announce(version),
    patienceMs,
  })
  const distribution = new Distribution({
    address,
    connect: () => open('beats'),
    reads,
    node,
    options: options.node,
    clock,
    settings: () => settings,
    keys,
    held: new HeldClaims(),
    history,
  })
  const leases = createLeases(reads, node.id, () => performance.now())
  if (options.node.isCommand !== true) leases.start()
  return {
    reads,
    lanes,
    settings,
    mirrors,
    action,
    distribution,
    workers: postgresWorkers(reads, node.id, options.node.takeoverMs ?? TAKEOVER_MS),
    leases,
    close: async () => {
      await leases.close()
      await lanes.close()
      await distribution.close()
    },
  }
}

/** What is told of commits, and of events also the followers at all nodes. `distribution` is used once something is
 *  committed. */
function alsoShown(listener: CommitListener | undefined, distribution: () => Distribution): CommitListener {
  return {
    committed: (ms) => listener?.committed(ms),
    suppressed: (reason) => listener?.suppressed(reason),
    onDemand: () => listener?.onDemand?.(),
    happened: (organizationIds) => {
      listener?.happened?.(organizationIds)
      distribution().happened(organizationIds)
    },
  }
}

/** A new connection of a lane: nothing is claimed from a database that went back. */
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
