import type { InboundDeliveryStatus } from '../../model/inbound-message.ts'
import type { DueIndex } from '../due-index.ts'
import type { SigningRoute } from '../records/inbound-routes.ts'
import { slotOf } from '../slots.ts'
import type { Group } from './group.ts'
import { insertInto } from './insert.ts'
import type { Mirror } from './mirror.ts'

export interface NewInboundDelivery {
  id: string
  organizationId: string
  messageId: string
  routeId: string
  /** InboundQueue.statusOf. */
  status: InboundDeliveryStatus
  dueAt: number
}

/** Writes deliveries of inbound messages to their routes. */
export interface InboundQueue {
  /** Status of a new delivery to this route: it fails immediately if the route was removed meanwhile. */
  statusOf(routeId: string): InboundDeliveryStatus
  /** Writes deliveries inside the change that causes them. */
  add(group: Group, deliveries: readonly NewInboundDelivery[]): Promise<void>
}

export function createInboundQueue(routes: Mirror<SigningRoute>, dueIndex: DueIndex): InboundQueue {
  const addDeliveries = insertInto<NewInboundDelivery>('inbound_deliveries', {
    id: ['text', ({ id }) => id],
    message_id: ['text', ({ messageId }) => messageId],
    route_id: ['text', ({ routeId }) => routeId],
    status: ['text', ({ status }) => status],
    created_at: ['bigint', ({ dueAt }) => dueAt],
  })
  const queueDeliveries = insertInto<NewInboundDelivery>('inbound_queue', {
    id: ['text', ({ id }) => id],
    organization_id: ['text', ({ organizationId }) => organizationId],
    slot: ['smallint', ({ routeId }) => slotOf(routeId)],
    key: ['text', ({ routeId }) => routeId],
    due_at: ['bigint', ({ dueAt }) => dueAt],
    accepted_at: ['bigint', ({ dueAt }) => dueAt],
  })
  return {
    statusOf: (routeId) => (routes.get(routeId) === null ? 'failed' : 'pending'),
    add: async ({ statements, add }, deliveries) => {
      const pending = deliveries.filter(({ status }) => status === 'pending')
      await Promise.all([addDeliveries(statements, deliveries), queueDeliveries(statements, pending)])
      add.afterCommit(() => {
        for (const { routeId, dueAt } of pending) dueIndex.offer(routeId, dueAt)
      })
    },
  }
}
