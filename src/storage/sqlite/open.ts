import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { INSTALLATION, type Plan, planFor, UNLIMITED_PLAN } from '../../model/organization.ts'
import type { CommitListener } from '../commit-listener.ts'
import { createDueIndex } from '../due-index.ts'
import type { Encryption } from '../encryption.ts'
import { createErasureKey, findingErased } from '../erased-address.ts'
import { addressRestRecords } from '../records/address-rests.ts'
import { alertRecords } from '../records/alerts.ts'
import { apiKeyRecords } from '../records/api-keys.ts'
import { auditedAction, auditRecords } from '../records/audit-log.ts'
import { blockedLinkRecords } from '../records/blocked-links.ts'
import { canaryRecords } from '../records/canaries.ts'
import { dedicatedAddressRecords } from '../records/dedicated-addresses.ts'
import { domainRecords } from '../records/domains.ts'
import { engagementRecords } from '../records/engagement.ts'
import { erasureRecords } from '../records/erasures.ts'
import { factorRecords } from '../records/factors.ts'
import { forwardTargetRecords } from '../records/forward-targets.ts'
import { idempotencyRecords } from '../records/idempotency.ts'
import { inboundRecords } from '../records/inbound.ts'
import { inboundRouteRecords } from '../records/inbound-routes.ts'
import { invitationRecords } from '../records/invitations.ts'
import { mtaStsRecords } from '../records/mta-sts.ts'
import { organizationRecords } from '../records/organizations.ts'
import { policyReportRecords } from '../records/policy-reports.ts'
import { qualityRecords } from '../records/quality.ts'
import { relayRecords } from '../records/relays.ts'
import { secretRecords } from '../records/secrets.ts'
import { sessionRecords } from '../records/sessions.ts'
import { singleSignOnRecords } from '../records/single-sign-on.ts'
import { suppressionRecords } from '../records/suppressions.ts'
import { templateRecords } from '../records/templates.ts'
import { tlsSessionRecords } from '../records/tls-sessions.ts'
import { usageRecords } from '../records/usage-counts.ts'
import { userRecords } from '../records/users.ts'
import { warmupRecords } from '../records/warmups.ts'
import { webhookRecords } from '../records/webhooks.ts'
import { contentsInside } from '../roles/contents.ts'
import type { SettingsKind } from '../sql.ts'
import type { Stats, Store } from '../store.ts'
import { accompanying } from './accompany.ts'
import { addMessageInside } from './add-message.ts'
import { addAttemptInside } from './attempts.ts'
import { createCommitReports } from './commit-listener.ts'
import { contentParts } from './content-parts.ts'
import { removeContentInside, sqliteContentRemoval } from './content-removal.ts'
import { createCounters } from './counters.ts'
import { type RememberInside, sqliteDatabase } from './database.ts'
import { sqliteDeliveries } from './deliveries.ts'
import { createDiskReserve, type DiskReserve } from './disk-reserve.ts'
import { type Connection, connect } from './driver.ts'
import { openEncryption } from './encryption-key.ts'
import { inboundRouteCache, webhookCache } from './endpoints.ts'
import { erasedOrganizations } from './erased-organizations.ts'
import { eraseMail, eraseSpace } from './erasure-work.ts'
import { eventKinds } from './event-kinds.ts'
import { sqliteEvents } from './events.ts'
import { createFanOut, type FanOut, onDemandEvents } from './fan-out.ts'
import { sqliteFileMaintenance } from './file-maintenance.ts'
import { type ForeignChanges, watchForeignChanges } from './foreign.ts'
import { sqliteHeld } from './held.ts'
import { sqliteInbound } from './inbound.ts'
import { sqliteInboundDeliveries } from './inbound-deliveries.ts'
import { queueInboundInside } from './inbound-queue.ts'
import { sqliteInside } from './inside.ts'
import { createLargeContents } from './large-contents.ts'
import { createLateCopy, type LateCopy } from './late-copy.ts'
import { sqliteMessages } from './messages.ts'
import { migrate } from './migrate.ts'
import { SQLITE_NODES } from './nodes.ts'
import { type Reader, type ReadingThread, readerOn, threadReader } from './reader.ts'
import { type Reading, shareReads } from './reading.ts'
import { sqliteReports } from './reports.ts'
import { sqliteRetention } from './retention.ts'
import { createSearch } from './search.ts'
import { blockedLinkCache, domainCache, keyCache, organizationCache, qualityAlertCache } from './settings.ts'
import { sqliteSnapshot } from './snapshot.ts'
import { requireFiles, requireSoundDatabase, toDamaged } from './soundness.ts'
import { createSpace } from './space.ts'
import { createStoredBytes } from './stored-bytes.ts'
import { sqliteSuppressionReading, suppressInside } from './suppressions.ts'
import { createUsage } from './usage.ts'
import { sqliteWebhookDeliveries } from './webhook-deliveries.ts'
import { sqliteWorkers } from './workers.ts'
import { createWriter, type Memory, type Writer } from './writer.ts'

export const DATABASE_FILE = 'postrider.db'
/** Wait of a change for another process's transaction: the command line beside a running server. */
const LOCK_PATIENCE_MS = 5_000
/** Part of that wait that blocks the thread: most locks of others end within it. */
const LOCK_GLANCE_MS = 5

/** Data directory → its Store, created and upgraded where needed; `:memory:` for tests. Files are readable only by
 *  their owner. `onUpgrade` gets the schema steps of an upgrade. `plans`: limits of the plan with that name; by
 *  default nothing is limited. `minFreeBytes` of the disk stay free of new mail. `readingThread` runs lists, searches and
 *  statistics, and stops with the store; without it they run at once in this thread. The log is checked first, and with
 *  `onTorn`, in the process that serves the store, the database too; `onTorn` gets the size of an unfinished change
 *  at the end of the log. Throws StoreDamaged, StoreMismatch for a newer store, EncryptionKeyUnusable without its
 *  key, and what the driver throws for an unreadable one. */
export async function openStore(options: {
  dataDir: string
  now: number
  commitListener?: CommitListener
  minFreeBytes?: number
  onTorn?: (bytes: number) => void
  plans?: (name: string) => Plan
  onUpgrade?: (steps: readonly string[]) => void
  readingThread?: ReadingThread | undefined
}): Promise<Store> {
  const { dataDir, now, commitListener, minFreeBytes = 0, onTorn, plans, onUpgrade, readingThread } = options
  const file = dataDir === ':memory:' ? dataDir : join(dataDir, DATABASE_FILE)
  let db: Connection | undefined
  try {
    const torn = file === ':memory:' ? 0 : requireFiles(file).tornBytes
    if (torn > 0) onTorn?.(torn)
    makeFile(dataDir, file)
    db = connect(file, { busyTimeoutMs: LOCK_PATIENCE_MS })
    if (onTorn !== undefined) requireSoundDatabase(db)
    const steps = migrate(db, now)
    if (onTorn !== undefined) contentParts(db).giveUp(null) // unfinished work of the last run
    const encryption = openEncryption(dataDir, db)
    db.pragma(`busy_timeout = ${LOCK_GLANCE_MS}`)
    if (steps.length > 0) onUpgrade?.(steps)
    return storeOn(db, encryption, {
      commitListener,
      plans,
      readingThread,
      reserve: createDiskReserve(dataDir, minFreeBytes),
      lockPatienceMs: LOCK_PATIENCE_MS,
    })
  } catch (error) {
    db?.close()
    throw toDamaged(error, file)
  }
}

/** Connection with this binary's schema, and the encryption of its secrets → its Store, which closes it. */
export function storeOn(
  db: Connection,
  encryption: Encryption,
  options: {
    commitListener?: CommitListener | undefined
    reserve?: DiskReserve
    lockPatienceMs?: number
    plans?: ((name: string) => Plan) | undefined
    readingThread?: ReadingThread | undefined
  } = {},
): Store {
  const {
    commitListener,
    reserve = createDiskReserve('', 0),
    lockPatienceMs = 0,
    plans = () => UNLIMITED_PLAN,
    readingThread,
  } = options
  const reading = shareReads(db)
  const reader = readingThread === undefined ? readerOn(db, reading) : threadReader(readingThread)
  const foreign = watchForeignChanges(db, reading)
  const caches = createCaches(db, foreign, { encryption, plans })
  const { organizations, usage, storedBytes, domains, blocked, webhooks, routes, erased, counters, kinds } = caches
  const commitReports = createCommitReports(commitListener)
  const action = auditedAction()
  const memory = memoryOf(caches, {
    reading,
    foreign,
    commitReports,
    later: () => ({ fanOut, late }),
  })
  const writer = createWriter(db, memory, { accompany: accompanying(db, action), lockPatienceMs })
  const database = sqliteDatabase(db, writer, { reading, forget: forgetting(caches) })
  const taking = takeWithin(reserve, writer)
  const due = {
    deliveries: createDueIndex(),
    webhookDeliveries: createDueIndex(),
    inboundDeliveries: createDueIndex(),
  }
  const parts = contentParts(db, (bytes) => late.writing(bytes))
  const large = createLargeContents(parts, { taking, writer })
  const search = createSearch(db, writer, reader)
  const space = createSpace(db, { parts, search, reading })
  const late = createLateCopy(db, space.copyLog)

  const addAttempt = addAttemptInside(db)
  const fanOut = createFanOut(db, { webhooks, dueIndex: due.webhookDeliveries, counters, kinds, foreign })
  const append = commitReports.appending(fanOut.append)
  const onDemand = onDemandEvents(webhooks, append)
  const suppress = commitReports.suppressing(suppressInside(db, usage, onDemand))
  const inside = sqliteInside({ usage, storedBytes, append, suppress, onDemand })
  const remember: RememberInside = (record) => database.perform(inside.remember(record))
  const addMessage = addMessageInside(db, {
    parts,
    addAttempt,
    append,
    onDemand,
    suppress,
    counters,
    dueIndex: due.deliveries,
    storedBytes,
    usage,
  })
  const queueDelivery = queueInboundInside(db, routes, due.inboundDeliveries)
  const removeContent = removeContentInside(db, { parts, storedBytes })
  const secret = secretRecords(database, encryption)
  const current = (id: string) => {
    foreign.glance()
    return organizations.get(id)
  }
  const erasureKey = createErasureKey(secret)

  return {
    snapshot: sqliteSnapshot({ ...caches, blockedLinks: blocked, foreign }),
    organizations: organizationRecords(database, current),
    usage: usageRecords(database, inside, {
      beginCount: () => writer.write(storedBytes.beginCount),
      countSome: () => writer.write(storedBytes.countSome),
    }),
    domains: domainRecords(database, inside, { encryption, get: domains.current }),
    addressRests: addressRestRecords(database),
    dedicatedAddresses: dedicatedAddressRecords(database),
    warmups: warmupRecords(database),
    alerts: alertRecords(database),
    canaries: canaryRecords(database),
    relays: relayRecords(database),
    blockedLinks: blockedLinkRecords(database),
    apiKeys: apiKeyRecords(database, inside),
    users: userRecords(database),
    factors: factorRecords(database, encryption),
    invitations: invitationRecords(database),
    singleSignOn: singleSignOnRecords(database),
    sessions: sessionRecords(database),
    messages: sqliteMessages(db, writer, {
      taking,
      reader,
      search,
      parts,
      large,
      addMessage,
      onDemand,
      remember,
      dueIndex: due.deliveries,
      usage,
      storedBytes,
      removal: sqliteContentRemoval(db, writer, removeContent),
    }),
    contents: contentsInside,
    deliveries: {
      ...sqliteDeliveries(db, writer, {
        domains,
        parts,
        dueIndex: due.deliveries,
        foreign,
        addAttempt,
        append,
        suppress,
        reports: sqliteReports(db),
      }),
      ...engagementRecords(database, inside),
    },
    events: sqliteEvents(db, writer, { append, reader, usage }),
    suppressions: findingErased(
      { ...suppressionRecords(database, inside), ...sqliteSuppressionReading(db, reading, reader) },
      { hasErased: erased.has, key: erasureKey },
    ),
    templates: templateRecords(database, inside),
    webhooks: webhookRecords(database, inside, encryption),
    webhookDeliveries: sqliteWebhookDeliveries(db, writer, {
      webhooks,
      dueIndex: due.webhookDeliveries,
      foreign,
      fanOut,
      onDemand,
      reader,
    }),
    inboundRoutes: inboundRouteRecords(database, inside, encryption),
    inbound: {
      ...sqliteInbound(db, taking, {
        reading,
        reader,
        parts,
        large,
        queueDelivery,
        addMessage,
        onDemand,
        usage,
        storedBytes,
      }),
      ...inboundRecords(database),
    },
    forwardTargets: forwardTargetRecords(database, inside),
    inboundDeliveries: sqliteInboundDeliveries(db, writer, {
      routes,
      dueIndex: due.inboundDeliveries,
      foreign,
      queueDelivery,
    }),
    queues: { waiting: (now) => reader.ask('waiting', INSTALLATION, now) },
    workers: sqliteWorkers(db),
    nodes: SQLITE_NODES,
    // The only server of its data directory.
    rates: null,
    certificates: null,
    leases: { leads: () => true, take: async () => true, release: async () => {} },
    held: sqliteHeld(db, writer, due, { fanOut, onDemand }),
    stats: statsFrom(reader),
    quality: qualityRecords(database, inside),
    mtaSts: mtaStsRecords(database),
    tlsSessions: tlsSessionRecords(database),
    policyReports: policyReportRecords(database),
    retention: sqliteRetention(db, writer, { parts, space, search, kinds, storedBytes }),
    idempotency: idempotencyRecords(database, inside),
    auditLog: auditRecords(database, action),
    erasures: erasureRecords(database, inside, {
      mail: eraseMail(db, { parts, search, storedBytes, removeContent }),
      space: eraseSpace({ parts, search }),
      encryption,
      key: erasureKey,
      afterStep: space.afterErasure,
    }),
    secret,
    maintain: sqliteFileMaintenance(writer, search, space),
    checkWritable: heartbeat(db, taking),
    close: async () => {
      await writer.idle()
      await reader.close()
      db.close()
    },
  }
}

/** What the store keeps in memory of what the database holds. */
function createCaches(
  db: Connection,
  foreign: ForeignChanges,
  { encryption, plans }: { encryption: Encryption; plans: (name: string) => Plan },
) {
  const organizations = organizationCache(db, foreign)
  const usage = createUsage(db, (id) => planFor(id, organizations.get(id), plans))
  return {
    organizations,
    usage,
    storedBytes: createStoredBytes(db, usage, foreign),
    keys: keyCache(db, foreign),
    domains: domainCache(db, foreign, encryption),
    blocked: blockedLinkCache(db, foreign),
    alerts: qualityAlertCache(db, foreign),
    webhooks: webhookCache(db, foreign, encryption),
    routes: inboundRouteCache(db, foreign, encryption),
    erased: erasedOrganizations(db, foreign),
    counters: createCounters(db),
    kinds: eventKinds(db),
  }
}

function statsFrom(reader: Reader): Stats {
  return {
    hours: (filter, starts) => reader.ask('hours', filter.organizationId, filter, starts),
    days: (filter, spans) => reader.ask('days', filter.organizationId, filter, spans),
    groups: (filter, by, span) => reader.ask('groups', filter.organizationId, filter, by, span),
  }
}

/** → What drops the settings of a kind from memory. */
function forgetting(caches: ReturnType<typeof createCaches>): (kind: SettingsKind) => void {
  const of: Record<SettingsKind, { drop(): void }> = {
    apiKey: caches.keys,
    blockedLink: caches.blocked,
    domain: caches.domains,
    erasure: caches.erased,
    inboundRoute: caches.routes,
    organization: caches.organizations,
    qualityAlert: caches.alerts,
    webhook: caches.webhooks,
  }
  return (kind) => of[kind].drop()
}

/** What follows each step of a transaction in memory. `later`: parts that themselves need the writer. */
function memoryOf(
  caches: ReturnType<typeof createCaches>,
  parts: {
    reading: Reading
    foreign: ForeignChanges
    commitReports: ReturnType<typeof createCommitReports>
    later: () => { fanOut: FanOut; late: LateCopy }
  },
): Memory {
  const { reading, foreign, commitReports, later } = parts
  const { usage, storedBytes, counters, kinds } = caches
  const { organizations, keys, domains, blocked, alerts, webhooks, routes, erased } = caches
  return {
    beginning: reading.end,
    begun: () => {
      foreign.check()
      later().fanOut.begun()
    },
    ending: () => {
      counters.flush()
      usage.flush()
    },
    committed: (ms) => {
      commitReports.committed(ms)
      later().late.committed()
    },
    undone: () => {
      const { fanOut, late } = later()
      for (const each of [counters, usage, storedBytes, fanOut, commitReports, kinds]) each.drop()
      for (const each of [organizations, keys, domains, blocked, alerts, webhooks, routes, erased]) each.drop()
      late.undone()
    },
  }
}

/** → What writes something and undoes nothing, to see whether the store can write. */
function heartbeat(db: Connection, taking: Writer): Store['checkWritable'] {
  // It must change something: SQLite does not write an unchanged row.
  const beat = db.prepare('update heartbeat set beats = beats + 1')
  return () =>
    taking.write(() => {
      beat.run()
    })
}

/** The Writer for new mail, which needs free disk space. */
function takeWithin(reserve: DiskReserve, writer: Writer): Writer {
  return {
    ...writer,
    write: async (change) => {
      reserve.require()
      return writer.write(change)
    },
  }
}

function makeFile(dataDir: string, file: string): void {
  if (file === ':memory:') return
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  // An empty file is an empty database, and SQLite gives -wal and -shm the mode of the database file.
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600))
}
