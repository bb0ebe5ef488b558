import type { Attempt, Delivery } from '../../model/delivery.ts'
import type { DueIndex } from '../due-index.ts'
import { AlreadyRemembered, type Messages } from '../store.ts'
import { type Acceptance, acceptKind, contentsOf } from './accept.ts'
import { textArray } from './arrays.ts'
import { cancelAll, WAITING_COLUMNS, type WaitingDelivery } from './cancel.ts'
import { postgresContentRemoval } from './content-removal.ts'
import { type LargeContents, readContent } from './contents.ts'
import type { MailLane } from './group.ts'
import {
  DELIVERY_COLUMNS,
  DELIVERY_STATE,
  type DeliveryRow,
  MESSAGE_COLUMNS,
  type MessageRow,
  toMessage,
} from './message-row.ts'
import type { Reads } from './reads.ts'
import type { Usage } from './usage.ts'
import type { Writer } from './writer.ts'

const GET = `select ${MESSAGE_COLUMNS} from messages m where m.id = $1`
const EXISTING = `select owner_id as id from contents where owner_id = any($1::text[]) and kind = 'content'`
const DELIVERIES = `select ${DELIVERY_COLUMNS} from deliveries d ${DELIVERY_STATE}
  where d.message_id = $1 order by d.position`
const ATTEMPTS = `select d.email, o.attempt from deliveries d join delivery_outcomes o on o.delivery_id = d.id
  where d.message_id = $1 and o.attempt is not null order by (o.attempt::json ->> 'startedAt')::float8, d.position, o.seq`
const VOLUMES = `select period as month, sum(used)::float8 as accepted from usage
  where organization_id = $1 and name = 'volume' group by 1 order by 1 desc`
const LOCK = `select ${WAITING_COLUMNS} from delivery_queue where message_id = $1 for update`
// It is not on hold any more: its author has decided.
const RESCHEDULE = `update delivery_queue set due_at = $2::bigint, held_due_at = null, expires_at = $3::bigint
  where message_id = $1`
// The time limit of a message counts from its due time.
const SET_SCHEDULED_AT = `update messages set expires_at = expires_at + $2::bigint - scheduled_at, scheduled_at = $2::bigint
  where id = $1 returning expires_at::float8 as "expiresAt"`

export function postgresMessages(
  reads: Reads,
  lane: MailLane,
  inside: { large: LargeContents; usage: Usage; dueIndex: DueIndex; list: Messages['list']; writer: Writer },
): Messages {
  const { usage, dueIndex } = inside
  const accept = acceptKind(usage)
  /** The refusal that a call would get now; contents are not written for nothing. */
  const refusalOf = (acceptance: Acceptance) =>
    lane.perform(async ({ statements, add }) => {
      // Nothing is added: only the decision is made.
      const untouched = { ...add, message: () => {}, use: () => {}, remember: () => {} }
      const few = acceptance.accepted.map((each) => ({ ...each, content: new Uint8Array() }))
      const [answer] = await accept.perform({ statements, add: untouched }, [{ ...acceptance, accepted: few }])
      return answer?.kind === 'accepted' ? null : (answer ?? null)
    })

  return {
    ...postgresContentRemoval(reads, inside.writer),
    accept: async (accepted, volume, record) => {
      const acceptance = { accepted, volume, record }
      const answer = await inside.large.ahead(
        contentsOf(accepted),
        () => lane.write(accept, acceptance),
        () => refusalOf(acceptance),
      )
      if (answer.kind === 'repeated') throw new AlreadyRemembered()
      return answer
    },
    volume: (organizationId, month) => usage.used(reads, organizationId, 'volume', month),
    volumes: (organizationId) => reads.query(VOLUMES, [organizationId]),
    get: async (id) => {
      const [row] = await reads.query<MessageRow>(GET, [id])
      return row === undefined ? null : toMessage(row)
    },
    list: inside.list,
    existing: async (ids) =>
      new Set((await reads.query<{ id: string }>(EXISTING, [textArray(ids)])).map(({ id }) => id)),
    content: (id) => readContent(reads, id, 'content'),
    deliveries: (id) => reads.query<DeliveryRow>(DELIVERIES, [id]),
    attempts: async (id) => {
      const rows = await reads.query<{ email: string; attempt: string }>(ATTEMPTS, [id])
      return rows.map(({ email, attempt }) => ({ email, attempt: JSON.parse(attempt) as Attempt }))
    },
    cancel: (id, now) =>
      lane.perform(async (group) => {
        const { query } = group.statements
        const waiting = await query<WaitingDelivery>(LOCK, [id])
        const deliveries = await query<Delivery>(DELIVERIES, [id])
        const hasLeft =
          waiting.some(({ worker }) => worker !== null) ||
          deliveries.some(({ status }) => status === 'delivered' || status === 'bounced')
        if (waiting.length === 0 || hasLeft) return 'invalid_state'
        await cancelAll(group, waiting, deliveries, now)
        return 'cancelled'
      }),
    reschedule: (id, at, now) =>
      lane.perform(async ({ statements, add }) => {
        const { query, run } = statements
        const waiting = await query<WaitingDelivery>(LOCK, [id])
        const isScheduled = waiting.every(
          ({ status, worker, attempts }) => status === 'scheduled' && worker === null && attempts === 0,
        )
        if (waiting.length === 0 || !isScheduled) return 'invalid_state'
        const dueAt = Math.max(at, now)
        const [row] = await query<{ expiresAt: number | null }>(SET_SCHEDULED_AT, [id, at])
        await run(RESCHEDULE, [id, dueAt, row?.expiresAt ?? null])
        add.afterCommit(() => {
          for (const { key } of waiting) dueIndex.offer(key, dueAt)
        })
        return 'rescheduled'
      }),
  }
}
