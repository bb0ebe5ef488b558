import { afterAll, describe, test } from 'bun:test'
import { type Plan, UNLIMITED_PLAN } from '../../src/model/organization.ts'
import type { Store } from '../../src/storage/store.ts'
import type { Backend } from './backends.ts'
import { addressRestPromises } from './contract-address-rests.ts'
import { addressUsePromises } from './contract-address-uses.ts'
import { alertPromises } from './contract-alerts.ts'
import { answeredPromises } from './contract-answered.ts'
import { apiKeyPromises } from './contract-api-keys.ts'
import { auditLogPromises } from './contract-audit-log.ts'
import { blockedLinkPromises } from './contract-blocked-links.ts'
import { canaryPromises } from './contract-canaries.ts'
import { claimPromises } from './contract-claims.ts'
import { dedicatedAddressPromises } from './contract-dedicated-addresses.ts'
import { deliveryPromises } from './contract-deliveries.ts'
import { domainPromises } from './contract-domains.ts'
import { engagementPromises } from './contract-engagement.ts'
import { contentRemovalPromises, erasurePromises } from './contract-erasures.ts'
import { eventPromises } from './contract-events.ts'
import { factorPromises } from './contract-factors.ts'
import { heldPromises } from './contract-held.ts'
import { inboundPromises } from './contract-inbound.ts'
import { inboundDeliveryPromises } from './contract-inbound-deliveries.ts'
import { inboundRoutePromises } from './contract-inbound-routes.ts'
import { invitationPromises } from './contract-invitations.ts'
import { limitPromises } from './contract-limits.ts'
import { messageListPromises } from './contract-message-list.ts'
import { messagePromises } from './contract-messages.ts'
import { mtaStsPromises } from './contract-mta-sts.ts'
import { onDemandEventPromises } from './contract-on-demand-events.ts'
import { policyReportPromises } from './contract-policy-reports.ts'
import { qualityPromises } from './contract-quality.ts'
import { relayPromises } from './contract-relays.ts'
import { reportPromises } from './contract-reports.ts'
import { retentionPromises } from './contract-retention.ts'
import { sessionPromises } from './contract-sessions.ts'
import { singleSignOnPromises } from './contract-single-sign-on.ts'
import { statsPromises } from './contract-stats.ts'
import { suppressionPromises } from './contract-suppressions.ts'
import { templatePromises } from './contract-templates.ts'
import { userPromises } from './contract-users.ts'
import { warmupPromises } from './contract-warmups.ts'
import { webhookDeliveryPromises } from './contract-webhook-deliveries.ts'
import { webhookPromises } from './contract-webhooks.ts'
import { writingPromises } from './contract-writing.ts'
import { createRecords, type Records } from './records.ts'

/** Defines a test of the contract: `body` runs on an empty store, with records to fill it. `plan`: limits of all
 *  organizations; by default nothing is limited. */
export type Holds = (
  promise: string,
  body: (store: Store, records: Records, context: ContractContext) => Promise<void>,
  plan?: Partial<Plan>,
) => void

export interface ContractContext {
  /** Closes the store and opens it again. A store in memory stays open and is returned. */
  reopen(): Promise<Store>
}

/** Defines the tests of everything that src/storage/store.ts promises, for one backend; `only`: of these sections. It
 *  opens a store and no server. */
export function testStoreContract(backend: Backend, only = Object.keys(SECTIONS) as Section[]): void {
  const holds: Holds = (promise, body, plan = {}) => {
    test(promise, async () => {
      const opened = await backend.open({ ...UNLIMITED_PLAN, ...plan })
      try {
        await body(opened.store, createRecords(), { reopen: opened.reopen ?? (async () => opened.store) })
      } finally {
        await opened.remove()
      }
    })
  }
  describe(backend.name, () => {
    for (const what of only) describe(what, () => SECTIONS[what](holds))
    afterAll(() => backend.stop?.())
  })
}

type Section = keyof typeof SECTIONS

const SECTIONS = {
  writing: writingPromises,
  'domains and organizations': domainPromises,
  'api keys': apiKeyPromises,
  users: userPromises,
  factors: factorPromises,
  invitations: invitationPromises,
  sessions: sessionPromises,
  'single sign-on': singleSignOnPromises,
  'audit log': auditLogPromises,
  'blocked links': blockedLinkPromises,
  'dedicated addresses': dedicatedAddressPromises,
  warmups: warmupPromises,
  alerts: alertPromises,
  'rests of addresses': addressRestPromises,
  'uses of addresses': addressUsePromises,
  canaries: canaryPromises,
  relays: relayPromises,
  messages: messagePromises,
  'answered messages': answeredPromises,
  'list of messages': messageListPromises,
  claims: claimPromises,
  deliveries: deliveryPromises,
  'held after a restore': heldPromises,
  engagement: engagementPromises,
  reports: reportPromises,
  events: eventPromises,
  'on-demand events': onDemandEventPromises,
  stats: statsPromises,
  quality: qualityPromises,
  'MTA-STS policies': mtaStsPromises,
  'policy reports': policyReportPromises,
  retention: retentionPromises,
  'content removal': contentRemovalPromises,
  erasures: erasurePromises,
  suppressions: suppressionPromises,
  templates: templatePromises,
  webhooks: webhookPromises,
  'webhook deliveries': webhookDeliveryPromises,
  'inbound routes': inboundRoutePromises,
  inbound: inboundPromises,
  limits: limitPromises,
  'inbound deliveries': inboundDeliveryPromises,
} satisfies Record<string, (holds: Holds) => void>
