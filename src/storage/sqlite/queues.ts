import type { Queues } from '../roles/queues.ts'
import { type Connection, one } from './driver.ts'

/** Counts the entries of the due indexes, which contain only what waits: a tenth of a second for a million. */
export function countWaiting(db: Connection): (now: number) => Awaited<ReturnType<Queues['waiting']>> {
  const deliveries = counted(db, 'deliveries')
  const webhookDeliveries = counted(db, 'webhook_deliveries')
  const inboundDeliveries = counted(db, 'inbound_deliveries')
  return (now) => ({
    deliveries: deliveries(now),
    webhookDeliveries: webhookDeliveries(now),
    inboundDeliveries: inboundDeliveries(now),
  })
}

function counted(db: Connection, table: string) {
  const sums = db.prepare<unknown[], { due: number; total: number; earliest: number | null }>(
    `select count(*) as total, cast(total(next_attempt_at <= ?) as integer) as due, min(next_attempt_at) as earliest
      from ${table} indexed by ${table}_due where next_attempt_at is not null`,
  )
  return (now: number) => {
    const { total, due, earliest } = one(sums, now)
    return { due, later: total - due, oldestDueAt: due > 0 ? earliest : null }
  }
}
