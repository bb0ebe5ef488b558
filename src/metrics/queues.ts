import type { Store } from '../storage/store.ts'
import type { Registry } from './registry.ts'

/** What waits, as it was counted last. */
export interface QueueGauges {
  /** Counts anew, unless that was done within the last seconds. Never rejects; what cannot be counted has no lines. */
  refresh(): Promise<void>
}

/** Several may watch; the store counts once for all of them. */
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
    'What waits: due now, or later (put off, scheduled, under way).',
    ['queue', 'when'],
    () =>
      rows.flatMap(({ queue, due, later }) => [
        { values: [queue, 'due'], value: due },
        { values: [queue, 'later'], value: later },
      ]),
  )
  registry.gauges(
    'postrider_oldest_due_seconds',
    'For how long the oldest of what is due has been so.',
    ['queue'],
    () =>
      rows.map(({ queue, oldestDueAt }) => {
        return { values: [queue], value: oldestDueAt === null ? 0 : Math.max(0, now() - oldestDueAt) / 1000 }
      }),
  )
  registry.gauges('postrider_held', 'What a restore holds until somebody releases it.', ['queue'], () =>
    heldRows.map(([queue, value]) => ({ values: [queue], value })),
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
