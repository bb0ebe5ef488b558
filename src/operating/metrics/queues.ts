import type { Store } from '../../storage/store.ts'
import { CLUSTER } from './nodes.ts'
import type { Registry } from './registry.ts'

/** Gauges of the queues, from the last count. */
export interface QueueGauges {
  /** Counts again if the last count is older than 5 s. Never rejects; a failed count removes the samples. */
  refresh(): Promise<void>
}

/** Concurrent scrapes share one count. */
const FRESH_MS = 5_000

export function gaugeQueues(
  registry: Registry,
  { queues, held }: Pick<Store, 'queues' | 'held'>,
  now: () => number,
): QueueGauges {
  let counted = Promise.resolve()
  let countedAt = Number.NEGATIVE_INFINITY
  let rows: { queue: string; due: number; later: number; oldestDueAt: number | null }[] = []
  let heldRows: [queue: string, count: number][] = []
  const count = async () => {
    const waits = await held.count()
    heldRows = [
      ['delivery', waits.deliveries],
      ['webhook_post', waits.webhookDeliveries],
      ['inbound_post', waits.inboundDeliveries],
    ]
    const { deliveries, webhookDeliveries, inboundDeliveries } = await queues.waiting(now())
    rows = [
      { queue: 'delivery', ...deliveries },
      { queue: 'webhook_post', ...webhookDeliveries },
      { queue: 'inbound_post', ...inboundDeliveries },
    ]
  }
  registry.gauges(
    'postrider_queued',
    'Queued work: due, or later (deferred, scheduled or in progress).',
    ['queue', 'when', 'scope'],
    () =>
      rows.flatMap(({ queue, due, later }) => [
        { values: [queue, 'due', CLUSTER], value: due },
        { values: [queue, 'later', CLUSTER], value: later },
      ]),
  )
  registry.gauges('postrider_oldest_due_seconds', 'Age of the oldest due entry.', ['queue', 'scope'], () =>
    rows.map(({ queue, oldestDueAt }) => {
      return { values: [queue, CLUSTER], value: oldestDueAt === null ? 0 : Math.max(0, now() - oldestDueAt) / 1000 }
    }),
  )
  registry.gauges('postrider_held', 'Entries on hold after a restore.', ['queue', 'scope'], () =>
    heldRows.map(([queue, value]) => ({ values: [queue, CLUSTER], value })),
  )
  return {
    refresh: async () => {
      if (now() - countedAt >= FRESH_MS) {
        countedAt = now()
        counted = count().catch(() => {
          rows = []
          heldRows = []
        })
      }
      await counted
    },
  }
}
