import type { DueIndex } from '../due-index.ts'
import type { Database } from '../sql.ts'
import type { Deliveries } from '../store.ts'
import { contentOf } from './contents.ts'
import { recordEngagement, recordUnsubscribable, UNSUBSCRIBABLE } from './engagement.ts'
import type { MailLane, Others } from './lane.ts'
import { lateReading, recordLate } from './late.ts'
import { DELIVERY_LEASES } from './leases.ts'
import { mailQueue } from './queue.ts'
import { recordAll, suppressClaims } from './record.ts'
import { ANY_EXPIRED, claimDeliveries, claimExpired, claimedOf, type Domains } from './take.ts'
import { DELIVERY_WAITS } from './waits.ts'

/** The queue of deliveries, and what becomes of each. */
export function mailDeliveries(
  reads: Pick<Database, 'row' | 'rows' | 'read'>,
  lane: MailLane,
  { others, dueIndex, domains }: { others: Others; dueIndex: DueIndex; domains: Domains },
): Deliveries {
  return {
    ...mailQueue({ lane, reads, others, dueIndex, leases: DELIVERY_LEASES, waits: DELIVERY_WAITS }),
    ...lateReading(reads),
    claimDue: async (request) => {
      if (request.plan.length === 0) return []
      const taken = await lane.perform((inside) => claimDeliveries(inside, dueIndex, request))
      return taken.map((each) => claimedOf(each, domains, request.worker))
    },
    claimExpired: async (request) => {
      if ((await reads.row(ANY_EXPIRED, request.now)) === null) return []
      const taken = await lane.perform((inside) => claimExpired(inside, request))
      return taken.map((each) => claimedOf(each, domains, request.worker))
    },
    content: (messageId) => reads.read(() => contentOf(messageId)),
    record: (record) => lane.write(recordAll, record),
    recordSuppressed: (claim, event) => lane.write(suppressClaims, { claim, event }),
    recordLate: (record) => lane.perform((inside) => recordLate(inside, record)),
    recordEngagement: (record) => lane.perform((inside) => recordEngagement(inside, record)),
    unsubscribable: (id) => reads.row(UNSUBSCRIBABLE, id),
    recordUnsubscribable: (id, event, suppression) =>
      lane.perform((inside) => recordUnsubscribable(inside, { id, event, suppression })),
  }
}
