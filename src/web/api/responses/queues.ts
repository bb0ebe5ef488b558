import { z } from 'zod'
import type { ResponseShape } from '../operation.ts'
import { count, EXAMPLE_TIME, timeOrNull } from './fields.ts'

/** Response of `/v1/queues`; routes/queues.ts builds it. */

const queue = z.strictObject({
  due: count.describe('Due and waiting for a worker.'),
  later: count.describe('Deferred, scheduled or in progress.'),
  held: count.describe('On hold after a restore, until the operator releases them.'),
  oldest_due_at: timeOrNull.describe('Null when nothing is due.'),
})
const queues = z
  .strictObject({ deliveries: queue, webhook_deliveries: queue, inbound_deliveries: queue })
  .meta({ id: 'Queues' })
const nothing = { due: 0, later: 0, held: 0, oldest_due_at: null }

export const queueResponses: ResponseShape[] = [
  {
    status: 200,
    description: 'Queued deliveries of all organizations.',
    schema: queues,
    example: {
      deliveries: { due: 12, later: 340, held: 0, oldest_due_at: EXAMPLE_TIME },
      webhook_deliveries: { ...nothing, later: 3 },
      inbound_deliveries: nothing,
    },
  },
]
