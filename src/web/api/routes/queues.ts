import { iso } from '../../../model/event.ts'
import type { Store, Waiting } from '../../../storage/store.ts'
import { OPERATOR } from '../access.ts'
import { type Operation, operation } from '../operation.ts'

/** The operation of `/v1/queues`: sizes of the delivery queues. For the operator only. */
export function queueOperations({ store }: { store: Pick<Store, 'queues' | 'held'> }): Operation[] {
  return [
    operation({
      id: 'queues_get',
      method: 'GET',
      path: '/v1/queues',
      tag: 'Operator',
      access: OPERATOR,
      summary: 'Retrieve the delivery queue',
      description: 'Counts of due, scheduled and held deliveries, and how long the oldest has been due.',
      responses: async () => (await import('../responses/queues.ts')).queueResponses,
      async handle({ now }) {
        const { deliveries, webhookDeliveries, inboundDeliveries } = await store.queues.waiting(now)
        const held = await store.held.count()
        return {
          status: 200,
          body: {
            deliveries: queueRecord(deliveries, held.deliveries),
            webhook_deliveries: queueRecord(webhookDeliveries, held.webhookDeliveries),
            inbound_deliveries: queueRecord(inboundDeliveries, held.inboundDeliveries),
          },
        }
      },
    }),
  ]
}

function queueRecord({ due, later, oldestDueAt }: Waiting, held: number) {
  return { due, later, held, oldest_due_at: oldestDueAt === null ? null : iso(oldestDueAt) }
}
