import { tableOf } from '../../os/records.ts'
import { DueIndex } from '../due-index.ts'

/** The queues of mail, and the table of each: its rows wait in the order of `next_attempt_at` behind their key, and have a
 *  worker while they are attempted. */
export const QUEUES = {
  deliveries: { table: 'deliveries', key: 'queue' },
  webhookDeliveries: { table: 'webhook_deliveries', key: 'webhook_id' },
  inboundDeliveries: { table: 'inbound_deliveries', key: 'route_id' },
} as const

/** As the roles of the store name their queues. */
export type QueueName = keyof typeof QUEUES

export const QUEUE_NAMES = Object.keys(QUEUES) as QueueName[]

export const isQueueName = (name: string): name is QueueName => Object.hasOwn(QUEUES, name)

/** An empty index for each queue. */
export const dueIndexes = (): Record<QueueName, DueIndex> => tableOf(QUEUE_NAMES, () => new DueIndex())
