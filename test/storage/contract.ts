import { describe, test } from 'bun:test'
import type { Store } from '../../src/storage/store.ts'
import type { Backend } from './backends.ts'
import { apiKeyPromises } from './contract-api-keys.ts'
import { auditLogPromises } from './contract-audit-log.ts'
import { claimPromises } from './contract-claims.ts'
import { deliveryPromises } from './contract-deliveries.ts'
import { domainPromises } from './contract-domains.ts'
import { engagementPromises } from './contract-engagement.ts'
import { eventPromises } from './contract-events.ts'
import { heldPromises } from './contract-held.ts'
import { inboundPromises } from './contract-inbound.ts'
import { inboundDeliveryPromises } from './contract-inbound-deliveries.ts'
import { inboundRoutePromises } from './contract-inbound-routes.ts'
import { messageListPromises } from './contract-message-list.ts'
import { messagePromises } from './contract-messages.ts'
import { mtaStsPromises } from './contract-mta-sts.ts'
import { qualityPromises } from './contract-quality.ts'
import { reportPromises } from './contract-reports.ts'
import { retentionPromises } from './contract-retention.ts'
import { sessionPromises } from './contract-sessions.ts'
import { statsPromises } from './contract-stats.ts'
import { suppressionPromises } from './contract-suppressions.ts'
import { templatePromises } from './contract-templates.ts'
import { webhookDeliveryPromises } from './contract-webhook-deliveries.ts'
import { webhookPromises } from './contract-webhooks.ts'
import { writingPromises } from './contract-writing.ts'
import { createRecords, type Records } from './records.ts'

/** Defines a test of the contract: `body` runs on an empty store, with records to fill it. */
export type Holds = (
  promise: string,
  body: (store: Store, records: Records, context: ContractContext) => Promise<void>,
) => void

export interface ContractContext {
  /** Closes the store and opens it again. A store in memory stays open and is returned. */
  reopen(): Promise<Store>
}

/** Defines the tests of everything that src/storage/store.ts promises, for one backend. It opens a store and no server. */
export function testStoreContract(backend: Backend): void {
  const holds: Holds = (promise, body) =>
    test(promise, async () => {
      const opened = await backend.open()
      try {
        await body(opened.store, createRecords(), { reopen: opened.reopen ?? (async () => opened.store) })
      } finally {
        await opened.remove()
      }
    })
  describe(backend.name, () => {
    describe('writing', () => writingPromises(holds))
    describe('domains and organizations', () => domainPromises(holds))
    describe('api keys', () => apiKeyPromises(holds))
    describe('sessions', () => sessionPromises(holds))
    describe('audit log', () => auditLogPromises(holds))
    describe('messages', () => messagePromises(holds))
    describe('list of messages', () => messageListPromises(holds))
    describe('claims', () => claimPromises(holds))
    describe('deliveries', () => deliveryPromises(holds))
    describe('held after a restore', () => heldPromises(holds))
    describe('engagement', () => engagementPromises(holds))
    describe('reports', () => reportPromises(holds))
    describe('events', () => eventPromises(holds))
    describe('stats', () => statsPromises(holds))
    describe('quality', () => qualityPromises(holds))
    describe('MTA-STS policies', () => mtaStsPromises(holds))
    describe('retention', () => retentionPromises(holds))
    describe('suppressions', () => suppressionPromises(holds))
    describe('templates', () => templatePromises(holds))
    describe('webhooks', () => webhookPromises(holds))
    describe('webhook deliveries', () => webhookDeliveryPromises(holds))
    describe('inbound routes', () => inboundRoutePromises(holds))
    describe('inbound', () => inboundPromises(holds))
    describe('inbound deliveries', () => inboundDeliveryPromises(holds))
  })
}
