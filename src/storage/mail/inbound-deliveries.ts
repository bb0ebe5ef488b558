import type { InboundDelivery } from '../../model/inbound-message.ts'
import type { PostAttempt } from '../../model/post-attempt.ts'
import type { DueIndex } from '../due-index.ts'
import type { Encryption } from '../encryption.ts'
import { type Database, rows, sql, type Work } from '../sql.ts'
import type { InboundDeliveries } from '../store.ts'
import { claimInbound, recordInbound, redeliver, targetOf } from './inbound-posts.ts'
import type { MailInside } from './inside.ts'
import type { MailLane, Others } from './lane.ts'
import { INBOUND_LEASES } from './leases.ts'
import { mailQueue } from './queue.ts'
import { INBOUND_WAITS } from './waits.ts'

// While an attempt is in progress, there is no next one.
const DELIVERIES = sql<Omit<InboundDelivery, 'attempts'> & { number: number }>(
  `select d.number::float8 as number, d.id, m.id as "inboundMessageId", d.route_id as "routeId", d.status,
    case when d.worker is null then d.next_attempt_at end::float8 as "nextAttemptAt", d.created_at::float8 as "createdAt"
  from inbound_messages m join inbound_deliveries d on d.message_number = m.number
  where m.id = $1 order by d.number desc`,
)
const ATTEMPTS = sql<PostAttempt & { deliveryNumber: number }>(
  `select a.delivery_number::float8 as "deliveryNumber", a.number, a.at::float8 as at,
    a.duration_ms::float8 as "durationMs", a.status_code as "statusCode", a.error,
    a.response_excerpt as "responseExcerpt"
  from inbound_messages m join inbound_deliveries d on d.message_number = m.number
    join inbound_attempts a on a.delivery_number = d.number
  where m.id = $1 order by a.delivery_number, a.number`,
)

/** The queue of deliveries of inbound mail, and what becomes of each. */
export function mailInboundDeliveries(
  reads: Pick<Database, 'read'>,
  lane: MailLane,
  {
    others,
    routes,
    ...claiming
  }: { others: Others; routes: MailInside['routes']; dueIndex: DueIndex; encryption: Encryption },
): InboundDeliveries {
  const { dueIndex } = claiming
  return {
    ...mailQueue({
      lane,
      reads,
      others,
      dueIndex,
      leases: INBOUND_LEASES,
      waits: INBOUND_WAITS,
      isActive: (id) => targetOf(routes.get(id)) !== null,
    }),
    claimDue: async (request) =>
      request.plan.length === 0 ? [] : lane.perform((inside) => claimInbound(inside, claiming, request)),
    record: (record) => lane.write(recordInbound, record),
    ofMessage: (inboundMessageId) => reads.read(() => deliveriesOf(inboundMessageId)),
    redeliver: (inboundMessageId, id, now) =>
      lane.perform((inside) => redeliver(inside, { inboundMessageId, id, now })),
  }
}

function* deliveriesOf(inboundMessageId: string): Work<InboundDelivery[]> {
  const deliveries = yield* rows(DELIVERIES, inboundMessageId)
  const attemptsOf = Map.groupBy(yield* rows(ATTEMPTS, inboundMessageId), ({ deliveryNumber }) => deliveryNumber)
  return deliveries.map(({ number, ...delivery }) => ({
    ...delivery,
    attempts: (attemptsOf.get(number) ?? []).map(({ deliveryNumber: _, ...attempt }) => attempt),
  }))
}
