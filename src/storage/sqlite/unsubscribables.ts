import type { Deliveries } from '../store.ts'
import type { Connection } from './driver.ts'
import type { AppendInside } from './fan-out.ts'
import type { SuppressInside } from './suppressions.ts'
import type { Writer } from './writer.ts'

const GET = `select delivery_id as deliveryId, organization_id as organizationId, domain_id as domainId,
    stream, message_id as messageId, sender as "from", email, sent_at as sentAt
  from unsubscribables where delivery_id = ?`
const MARK_REPORTED = 'update unsubscribables set is_told = 1 where delivery_id = ? and is_told = 0'

/** Remaining records of removed deliveries whose recipients may still unsubscribe. */
export function sqliteUnsubscribables(
  db: Connection,
  writer: Writer,
  { append, suppress }: { append: AppendInside; suppress: SuppressInside },
): Pick<Deliveries, 'unsubscribable' | 'recordUnsubscribable'> {
  const get = db.prepare<unknown[], Awaited<ReturnType<Deliveries['unsubscribable']>>>(GET)
  const markReported = db.prepare(MARK_REPORTED)
  const find = (id: string) => get.get(id) ?? null
  return {
    unsubscribable: async (id) => find(id),
    recordUnsubscribable: (id, event, suppression) =>
      writer.write(() => {
        if (find(id) === null) return 'unknown'
        const isNew = suppress(suppression)
        if (markReported.run(id).changes === 0 && !isNew) return 'known'
        append(event)
        return 'recorded'
      }),
  }
}
