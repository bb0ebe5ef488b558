import type { InboundDelivery, InboundDeliveryStatus } from '../../model/inbound-message.ts'
import { FIXED_LIMITS } from '../../model/limits.ts'
import type { PostAttempt } from '../../model/post-attempt.ts'
import type { DueIndex } from '../due-index.ts'
import type { Encryption } from '../encryption.ts'
import { type InboundRow, toInboundMessage } from '../inbound-rows.ts'
import { INBOUND_COLUMNS } from '../records/inbound.ts'
import type { SigningRoute } from '../records/inbound-routes.ts'
import type { ClaimedInboundDelivery, InboundDeliveries } from '../store.ts'
import { textArray } from './arrays.ts'
import type { Chosen, Leased, Queue } from './claims.ts'
import type { Kind, MailLane } from './group.ts'
import type { InboundQueue } from './inbound-queue.ts'
import { END_INBOUND } from './inbound-row.ts'
import type { Mirror } from './mirror.ts'
import { createPostQueue } from './post-queue.ts'
import { type Endpoint, readHeaders } from './read-headers.ts'
import type { Reads } from './reads.ts'
import type { Queries } from './transactions.ts'

type InboundRecord = Parameters<InboundDeliveries['record']>[0]

const MESSAGES = `select d.id as "deliveryId", ${INBOUND_COLUMNS}
  from inbound_deliveries d join inbound_messages m on m.id = d.message_id where d.id = any($1::text[])`
// While an attempt is in progress, there is no next one.
const OF_MESSAGE = `select d.id, d.message_id as "inboundMessageId", d.route_id as "routeId", d.status,
    case when q.worker is null then q.due_at end::float8 as "nextAttemptAt", d.created_at::float8 as "createdAt"
  from inbound_deliveries d left join inbound_queue q on q.id = d.id
  where d.message_id = $1 order by d.number desc`
const ATTEMPTS = `select a.delivery_id as "deliveryId", a.number, a.at::float8 as at,
    a.duration_ms::float8 as "durationMs", a.status_code as "statusCode", a.error,
    a.response_excerpt as "responseExcerpt"
  from inbound_deliveries d join inbound_attempts a on a.delivery_id = d.id
  where d.message_id = $1 order by a.number`
const SOURCE = `select m.organization_id as "organizationId", m.route_id as "routeId", m.delivery_status as status,
    (select count(*) from inbound_deliveries d where d.message_id = m.id)::int as deliveries
  from inbound_messages m where m.id = $1 for no key update`
const SET_STATUS = 'update inbound_messages set delivery_status = $2 where id = $1'

export function postgresInboundDeliveries(
  reads: Reads,
  lane: MailLane,
  inside: {
    claims: Queue
    queue: InboundQueue
    routes: Mirror<SigningRoute>
    dueIndex: DueIndex
    encryption: Encryption
  },
): InboundDeliveries {
  const { claims, queue, routes, dueIndex, encryption } = inside
  const posts = createPostQueue('inbound_queue', 'inbound_attempts')

  /** The route as a delivery needs it; null while it accepts none. */
  const targetOf = (routeId: string): Target | null => {
    const found = routes.get(routeId)
    if (found === null || !found.route.enabled || found.route.action.type !== 'webhook') return null
    return { id: routeId, ...found.route.action.config, secret: found.secret }
  }
  const record: Kind<InboundRecord, 'recorded' | 'lease_lost'> = {
    perform: async ({ statements, add }, records) => {
      add.afterCommit(() => claims.finished(records.map(({ deliveryId }) => deliveryId)))
      const keys = await posts.held(statements, records)
      const held = records.filter((_, at) => keys[at] !== null)
      const ended = Map.groupBy(
        held.filter(({ nextAttemptAt }) => nextAttemptAt === null),
        ({ status }) => status,
      )
      await Promise.all([
        posts.record(statements, held),
        ...[...ended].map(([status, ofIt]) =>
          statements.run(END_INBOUND, [textArray(ofIt.map(({ deliveryId }) => deliveryId)), status]),
        ),
      ])
      return records.map(({ nextAttemptAt }, at) => {
        const key = keys[at] ?? null
        if (key === null) return 'lease_lost'
        if (nextAttemptAt !== null) add.afterCommit(() => dueIndex.offer(key, nextAttemptAt))
        return 'recorded'
      })
    },
  }

  return {
    ...claims.methods(lane, reads, (routeId) => targetOf(routeId) !== null),
    claimDue: claims.claimDue(lane, ({ plan, worker }) => {
      // As they are now: others were disabled since the plan was made.
      const targets = new Map(plan.map(({ key }) => [key, targetOf(key)]))
      return {
        mayClaim: (key) => targets.get(key) !== null,
        read: (statements, chosen) => readClaimed(statements, chosen, { worker, targets, encryption }),
      }
    }),
    record: (each) => lane.write(record, each),
    ofMessage: async (inboundMessageId) => {
      const [deliveries, attempts] = await Promise.all([
        reads.query<Omit<InboundDelivery, 'attempts'>>(OF_MESSAGE, [inboundMessageId]),
        reads.query<PostAttempt & { deliveryId: string }>(ATTEMPTS, [inboundMessageId]),
      ])
      const attemptsOf = Map.groupBy(attempts, ({ deliveryId }) => deliveryId)
      return deliveries.map((delivery) => ({
        ...delivery,
        attempts: (attemptsOf.get(delivery.id) ?? []).map(({ deliveryId: _, ...attempt }) => attempt),
      }))
    },
    redeliver: (inboundMessageId, deliveryId, now) =>
      lane.perform(async (group) => {
        const { query, run } = group.statements
        const [source] = await query<{
          organizationId: string
          routeId: string
          status: InboundDeliveryStatus | null
          deliveries: number
        }>(SOURCE, [inboundMessageId])
        if (source === undefined) throw new Error(`there is no inbound message ${inboundMessageId}`)
        const { organizationId, routeId, status, deliveries } = source
        if (status === 'pending') return 'under_way'
        if (deliveries >= FIXED_LIMITS.redeliveries) return 'limit'
        const delivery = { id: deliveryId, organizationId, messageId: inboundMessageId, routeId, dueAt: now }
        const newStatus = queue.statusOf(routeId)
        await queue.add(group, [{ ...delivery, status: newStatus }])
        await run(SET_STATUS, [inboundMessageId, newStatus])
        return 'queued'
      }),
  }
}

/** A route as a delivery needs it, without its headers. */
type Target = Omit<ClaimedInboundDelivery['route'], 'headers'> & Endpoint

interface Claiming {
  worker: string
  targets: ReadonlyMap<string, Target | null>
  encryption: Encryption
}

async function readClaimed(
  queries: Queries,
  chosen: readonly Chosen[],
  { worker, targets, encryption }: Claiming,
): Promise<(rows: readonly Leased[]) => ClaimedInboundDelivery[]> {
  const ids = textArray(chosen.map(({ id }) => id))
  const messages = await queries.query<InboundRow & { deliveryId: string }>(MESSAGES, [ids])
  const messageOf = new Map(messages.map(({ deliveryId, ...row }) => [deliveryId, toInboundMessage(row)]))
  const endpoints = [...targets.values()].filter((target) => target !== null)
  const headersOf = await readHeaders(queries, 'inbound_routes', endpoints, encryption)
  return (rows) =>
    rows.map(({ id, key, attempts }) => {
      const [message, target] = [messageOf.get(id), targets.get(key) ?? null]
      if (message === undefined || target === null) throw new Error(`${id} waits and has no message or no route`)
      const { headerNames: _, ...route } = target
      return { id, message, route: { ...route, headers: headersOf.get(key) ?? [] }, attempt: attempts, worker }
    })
}
