import { type Plan, UNLIMITED_PLAN } from '../../model/organization.ts'
import { batched } from '../../os/batched.ts'
import type { CommitListener } from '../commit-reports.ts'
import type { Encryption } from '../encryption.ts'
import { BY_STATEMENT } from '../lists/slices.ts'
import { suppressedAmong } from '../lists/suppressions.ts'
import { listsOf, listWorks } from '../lists/works.ts'
import { removeParts } from '../mail/contents.ts'
import { recordRoles } from '../records/roles.ts'
import { contentsInside } from '../roles/contents.ts'
import type { Store } from '../store.ts'
import { databaseAddress } from './address.ts'
import { postgresCertificates } from './certificates.ts'
import { connect, type Open } from './connection.ts'
import { postgresDatabase } from './database.ts'
import { tidyUp } from './ended-nodes.ts'
import { mailRolesOnNode } from './mail-roles.ts'
import { postgresMessageSearch } from './message-search.ts'
import { isUpgradePending, migrate } from './migrate.ts'
import { postgresNodes } from './node-list.ts'
import type { NodeOptions } from './node-options.ts'
import { endNode } from './nodes.ts'
import { openParts, type Parts } from './parts.ts'
import { postgresRates } from './rates.ts'
import { postgresSnapshot } from './snapshot.ts'
import { startNode } from './start.ts'
import { createStorageCount } from './stored-bytes.ts'
import { resume, takeOver } from './take-over.ts'

const LISTS = listWorks(postgresMessageSearch(BY_STATEMENT), BY_STATEMENT)
/** Questions for suppressions in one statement. */
const ASKED_TOGETHER = 256
/** Moves new words from the list where they wait to the tree of the index, outside of any group: 15 µs a message.
 *  Otherwise the accept that fills the list, or a vacuum, does it. */
const MERGE_SEARCH_INDEX = `select gin_clean_pending_list('messages_by_word')`

/** URL of a database, and the data directory with the encryption key → its store, created and upgraded where needed.
 *  `onUpgrade` gets the schema steps of an upgrade. `plans`: limits of the plan with that name; by default nothing is
 *  limited. Throws StoreMismatch for a newer schema, EncryptionKeyUnusable without its key, and DatabaseUnusable if
 *  the database cannot be used. */
export async function openPostgresStore(options: {
  url: string
  /** PEM file of the CA certificates of the servers, instead of the built-in ones. */
  caFile?: string | null
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
  const { caFile = null, node = {} } = options
  const address = databaseAddress({ url, caFile })
  const open: Open = (name, settings = {}) => connect({ address, name: `postrider ${name}`, settings })
  const { encryption, history, ...registered } = await startNode(address, { dataDir, now, onUpgrade, node })
  const parts = await openParts({ address, open, encryption, registered, history, clock, plans, commitListener, node })
  const { reads, lanes, workers } = parts
  const roles = rolesOf(parts, encryption, { nodeId: registered.node.id, open })
  const queues = [roles.deliveries, roles.webhookDeliveries, roles.inboundDeliveries]
  const pending = lanes.shared.pendingFanOuts
  await resume(reads, pending)
  await parts.distribution.start(() => takeOver(reads, { workers, queues, pending, clock }))
  return {
    ...roles,
    maintain: async (what, timeIsUp) => {
      // PostgreSQL gives back the space of removed rows by itself.
      if (what === 'recent') await reads.query(MERGE_SEARCH_INDEX)
      if (what !== 'ended') return false
      if (await isUpgradePending(reads)) await upgradeRest(open, clock())
      const isAnyGone = await lanes.records.perform(({ pace }) => removeParts(pace.parts, timeIsUp))
      return (await tidyUp(reads, clock())) || isAnyGone
    },
    // Every group writes to `lanes`.
    checkWritable: () => lanes.accepting.perform(function* () {}),
    close: async () => {
      await parts.close()
      await endNode(reads, registered.node.key).catch(() => {})
      reads.close()
    },
  }
}

/** Runs the steps that waited for older nodes to end, if these have. */
async function upgradeRest(open: Open, now: number): Promise<void> {
  const connection = await open('schema')
  await migrate(connection, now).finally(() => connection.close())
}

function rolesOf(
  parts: Parts,
  encryption: Encryption,
  { nodeId, open }: { nodeId: number; open: Open },
): Omit<Store, 'maintain' | 'checkWritable' | 'close'> {
  const { reads, lanes, settings, mirrors, action, distribution, workers, leases } = parts
  const { records, shared } = lanes
  const database = postgresDatabase(reads, records, settings)
  const lists = listsOf(database, LISTS)
  const storageCount = createStorageCount(() => open('count'), records, mirrors.organization)
  return {
    ...recordRoles(database, {
      planOf: shared.planOf,
      encryption,
      action,
      organization: mirrors.organization.get,
      domain: mirrors.domain.get,
      hasErased: (organizationId) => mirrors.erasure.get(organizationId) !== null,
      suppressions: {
        list: (filter, page) => lists.ask('suppressions', filter.organizationId, filter, page),
        among: batched((asked) => database.read(() => suppressedAmong(asked)), ASKED_TOGETHER),
      },
      recount: { beginCount: async () => storageCount.begin(), countSome: storageCount.step },
    }),
    ...mailRolesOnNode(parts, database, { lists, encryption }),
    snapshot: postgresSnapshot(mirrors, () => distribution.isCurrent()),
    contents: contentsInside,
    workers,
    nodes: postgresNodes(reads, { nodeId, distribution, open, encryption }),
    leases,
    rates: postgresRates(reads, nodeId),
    certificates: postgresCertificates(database, encryption),
  }
}
