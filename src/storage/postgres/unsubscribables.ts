import type { Unsubscribable } from '../../model/unsubscribable.ts'
import type { Deliveries } from '../store.ts'
import type { MailLane } from './group.ts'
import type { Reads } from './reads.ts'
import { suppressOne } from './suppressions.ts'

const GET = `select delivery_id as "deliveryId", organization_id as "organizationId", domain_id as "domainId",
    stream, message_id as "messageId", sender as "from", email, sent_at::float8 as "sentAt"
  from unsubscribables where delivery_id = $1`
const FIND = 'select is_reported as "isReported" from unsubscribables where delivery_id = $1 for update'
const MARK_REPORTED = 'update unsubscribables set is_reported = true where delivery_id = $1'

/** Remaining records of removed deliveries whose recipients may still unsubscribe. */
export function postgresUnsubscribables(
  reads: Reads,
  lane: MailLane,
): Pick<Deliveries, 'unsubscribable' | 'recordUnsubscribable'> {
  return {
    unsubscribable: async (id) => (await reads.query<Unsubscribable>(GET, [id]))[0] ?? null,
    recordUnsubscribable: (id, event, suppression) =>
      lane.perform(async (group) => {
        const { statements, add } = group
        const [row] = await statements.query<{ isReported: boolean }>(FIND, [id])
        if (row === undefined) return 'unknown'
        const isNew = await suppressOne(group, suppression)
        if (row.isReported && !isNew) return 'known'
        await statements.run(MARK_REPORTED, [id])
        add.append(event)
        return 'recorded'
      }),
  }
}
