import { iso } from '../../model/event.ts'
import type { Store, Waiting } from '../../storage/store.ts'
import { queueAnswers } from '../answers/queues.ts'
import { type Operation, operation } from '../operation.ts'

/** `/v1/queues`: what waits in the house, for the operator. */
export function queueOperations({ store }: { store: Pick<Store, 'queues'> }): Operation[] {
  return [
    operation({
      id: 'queues_get',
      method: 'GET',
      path: '/v1/queues',
      permission: 'admin',
      forOperator: true,
      summary: 'How much waits to be delivered, how much later, and since when',
      answers: queueAnswers,
      async handle({ now }) {
        const { deliveries, webhookDeliveries, inboundDeliveries } = await store.queues.waiting(now)
        return {
          status: 200,
          body: {
            deliveries: queueRecord(deliveries),
            webhook_deliveries: queueRecord(webhookDeliveries),
            inbound_deliveries: queueRecord(inboundDeliveries),
          },
        }
      },
    }),
  ]
}

function queueRecord({ due, later, oldestDueAt }: Waiting) {
  return { due, later, oldest_due_at: oldestDueAt === null ? null : iso(oldestDueAt) }
}
