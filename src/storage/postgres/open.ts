import { type Plan, UNLIMITED_PLAN } from '../../model/organization.ts'
import type { CommitListener } from '../commit-listener.ts'
import type { Encryption } from '../encryption.ts'
import { createErasureKey, findingErased } from '../erased-address.ts'
import { addressRestRecords } from '../records/address-rests.ts'
import { alertRecords } from '../records/alerts.ts'
import { apiKeyRecords } from '../records/api-keys.ts'
import { auditRecords } from '../records/audit-log.ts'
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
import { statsRecords } from '../records/stats.ts'
import { suppressionRecords } from '../records/suppressions.ts'
import { templateRecords } from '../records/templates.ts'
import { tlsSessionRecords } from '../records/tls-sessions.ts'
import { usageRecords } from '../records/usage-counts.ts'
import { userRecords } from '../records/users.ts'
import { warmupRecords } from '../records/warmups.ts'
import { webhookRecords } from '../records/webhooks.ts'
import { contentsInside } from '../roles/contents.ts'
import type { Store } from '../store.ts'
import { databaseAddress } from './address.ts'
import { postgresCertificates } from './certificates.ts'
import { connect } from './connection.ts'
import { postgresDatabase } from './database.ts'
import { postgresDeliveries } from './deliveries.ts'
import type { NodeOptions } from './distribution.ts'
import { tidyUp } from './ended-nodes.ts'
import { eraseMail } from './erasure-work.ts'
import { postgresEventReading } from './event-list.ts'
import { postgresEventWriting } from './events.ts'
import { postgresHeld } from './held.ts'
import { postgresInbound } from './inbound.ts'
import { postgresInboundDeliveries } from './inbound-deliveries.ts'
import { createInboundQueue } from './inbound-queue.ts'
import { postgresInside } from './inside.ts'
import { postgresMessageList } from './message-list.ts'
import { postgresMessages } from './messages.ts'
import { isUpgradePending, migrate } from './migrate.ts'
import { postgresNodes } from './node-list.ts'
import { endNode } from './nodes.ts'
import { openParts, type Parts } from './parts.ts'
import { postgresQueues } from './queues.ts'
import { postgresRates } from './rates.ts'
import { postgresRetention } from './retention.ts'
import { mergeSearchIndex } from './search-index.ts'
import { postgresSnapshot } from './snapshot.ts'
import { type Open, startNode } from './start.ts'
import { postgresSuppressionReading } from './suppressions.ts'
import { postgresWebhookDeliveries } from './webhook-deliveries.ts'
import { postgresWebhookDeliveryReading } from './webhook-delivery-list.ts'

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
  const { encryption, history, ...registered } = await startNode(address, { dataDir, now, clock, onUpgrade, node })
  const parts = await openParts({ address, open, encryption, registered, history, clock, plans, commitListener, node })
  const { reads, lane } = parts
  return {
    ...rolesOf(parts, encryption, { nodeId: registered.node.id, open }),
    maintain: async (what) => {
      // PostgreSQL gives back the space of removed rows by itself.
      if (what === 'recent') await mergeSearchIndex(reads)
      if (what !== 'ended') return false
      await parts.large.removeLeft()
      if (await isUpgradePending(reads)) await upgradeRest(open, clock())
      const isMore = (await parts.destinations.prune(PRUNED)) === PRUNED
      return (await tidyUp(reads, clock())) || isMore
    },
    // Every group writes to `lanes`.
    checkWritable: () => lane.perform(async () => {}),
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

/** Domains that one step removes. */
const PRUNED = 1_000

function rolesOf(
  parts: Parts,
  encryption: Encryption,
  { nodeId, open }: { nodeId: number; open: Open },
): Omit<Store, 'maintain' | 'checkWritable' | 'close'> {
  const {
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
  } = parts
  const { due, queues } = distribution
  const database = postgresDatabase(reads, writer, lane)
  const inside = postgresInside(usage, fanOut)
  const secret = secretRecords(database, encryption)
  const erasureKey = createErasureKey(secret)
  const inboundQueue = createInboundQueue(mirrors.inboundRoute, due.inboundDeliveries)
  return {
    snapshot: postgresSnapshot(mirrors, distribution.isCurrent),
    organizations: organizationRecords(database, mirrors.organization.get),
    domains: domainRecords(database, inside, { encryption, get: mirrors.domain.get }),
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
    messages: postgresMessages(reads, lane, {
      large,
      usage,
      dueIndex: due.deliveries,
      list: postgresMessageList(reads),
      writer,
    }),
    contents: contentsInside,
    deliveries: {
      ...postgresDeliveries(reads, lane, {
        queue: queues.deliveries,
        domains: mirrors.domain,
        offer: due.deliveries.offer,
        destinations,
      }),
      ...engagementRecords(database, inside),
    },
    events: { ...postgresEventWriting(lane, usage), ...postgresEventReading(reads, distribution) },
    webhookDeliveries: {
      ...postgresWebhookDeliveries(reads, lane, {
        writer,
        queue: queues.webhookDeliveries,
        webhooks: mirrors.webhook,
        dueIndex: due.webhookDeliveries,
        fanOut,
        encryption,
      }),
      ...postgresWebhookDeliveryReading(reads),
    },
    suppressions: findingErased(
      { ...suppressionRecords(database, inside), ...postgresSuppressionReading(reads) },
      {
        hasErased: (organizationId) => mirrors.erasure.get(organizationId) !== null,
        key: erasureKey,
      },
    ),
    templates: templateRecords(database, inside),
    forwardTargets: forwardTargetRecords(database, inside),
    webhooks: webhookRecords(database, inside, encryption),
    inboundRoutes: inboundRouteRecords(database, inside, encryption),
    inbound: {
      ...postgresInbound(reads, lane, { large, usage, queue: inboundQueue }),
      ...inboundRecords(database),
    },
    inboundDeliveries: postgresInboundDeliveries(reads, lane, {
      claims: queues.inboundDeliveries,
      queue: inboundQueue,
      routes: mirrors.inboundRoute,
      dueIndex: due.inboundDeliveries,
      encryption,
    }),
    workers,
    nodes: postgresNodes(reads, { nodeId, distribution, open }),
    leases,
    rates: postgresRates(reads, nodeId),
    certificates: postgresCertificates(reads, writer, encryption),
    queues: postgresQueues(reads),
    held: postgresHeld(reads, lane, { writer, dueIndexes: due, fanOut }),
    mtaSts: mtaStsRecords(database),
    tlsSessions: tlsSessionRecords(database),
    policyReports: policyReportRecords(database),
    idempotency: idempotencyRecords(database, inside),
    auditLog: auditRecords(database, action),
    stats: statsRecords(database),
    quality: qualityRecords(database, inside),
    retention: postgresRetention(reads, writer),
    usage: usageRecords(database, inside, {
      beginCount: async () => storageCount.begin(),
      countSome: storageCount.step,
    }),
    erasures: erasureRecords(database, inside, { mail: eraseMail(), encryption, key: erasureKey }),
    secret,
  }
}
