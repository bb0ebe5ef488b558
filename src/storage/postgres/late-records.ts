import { ERASED_ADDRESS } from '../../model/erasure.ts'
import { type DeliveryStatus, isFinal } from '../../model/message.ts'
import type { Report } from '../../model/report.ts'
import type { Deliveries, LateRecord } from '../store.ts'
import type { Group, MailLane } from './group.ts'
import { insertInto } from './insert.ts'
import { DELIVERY_COLUMNS, DELIVERY_STATE, type DeliveryRow } from './message-row.ts'
import type { OutcomeRow } from './outcomes.ts'
import type { Reads } from './reads.ts'

// Two reports of one delivery are decided one after the other.
const LOCK = 'select id from deliveries where id = $1 for no key update'
/** A delivery with what a further outcome of it needs. */
export const STATE = `select ${DELIVERY_COLUMNS}, d.organization_id as "organizationId", coalesce(o.seq, 0) as seq,
    not exists (select 1 from deliveries s where s.message_id = d.message_id and s.id <> d.id) as "isOnlyRecipient"
  from deliveries d ${DELIVERY_STATE} where d.id = $1 and d.address <> '${ERASED_ADDRESS}'`
const IS_KNOWN = 'select 1 from reports where delivery_id = $1 and digest = $2'
const UNQUEUE = 'delete from delivery_queue where id = $1'
const NOTE_SEQ = 'update delivery_queue set seq = $2, status = $3 where id = $1'
const REPORTS = `select d.email, r.kind, r.received_at::float8 as "receivedAt", r.digest, r.reporter, r.status, r.diagnostic,
    r.cause, r.feedback_type as "feedbackType"
  from deliveries d join reports r on r.delivery_id = d.id where d.message_id = $1 order by r.received_at, r.number`

const addReport = insertInto<Report & { deliveryId: string; organizationId: string }>('reports', {
  delivery_id: ['text', ({ deliveryId }) => deliveryId],
  digest: ['bytea', ({ digest }) => digest],
  organization_id: ['text', ({ organizationId }) => organizationId],
  kind: ['text', ({ kind }) => kind],
  received_at: ['bigint', ({ receivedAt }) => receivedAt],
  reporter: ['text', ({ reporter }) => reporter],
  status: ['text', ({ status }) => status],
  diagnostic: ['text', ({ diagnostic }) => diagnostic],
  cause: ['text', ({ cause }) => (cause === null ? null : JSON.stringify(cause))],
  feedback_type: ['text', ({ feedbackType }) => feedbackType],
})

export type State = DeliveryRow & { organizationId: string; seq: number; isOnlyRecipient: boolean }

/** What is learned of a delivery after its last attempt. */
export function postgresLateRecords(reads: Reads, lane: MailLane): Pick<Deliveries, 'recordLate' | 'reports'> {
  return {
    recordLate: (record) =>
      lane.perform(async (group) => {
        const { deliveryId, report, expected, change, events, suppression } = record
        const { statements, add } = group
        await statements.query(LOCK, [deliveryId])
        const [state] = await statements.query<State>(STATE, [deliveryId])
        if (state === undefined) return 'unknown'
        if ((await statements.query(IS_KNOWN, [deliveryId, report.digest])).length > 0) return 'duplicate'
        if (state.status !== expected) return 'changed'
        await addReport(statements, [{ ...report, deliveryId, organizationId: state.organizationId }])
        if (change !== null) await addChange(group, state, change, record.now)
        const isLate = state.status === 'delivered'
        for (const event of events) add.append(event, { isLate })
        if (suppression !== null) add.suppress(suppression)
        return 'recorded'
      }),
    reports: async (messageId) => {
      const rows = await reads.query<Omit<Report, 'cause'> & { email: string; cause: string | null }>(REPORTS, [
        messageId,
      ])
      return rows.map(({ email, digest, cause, ...rest }) => ({
        email,
        report: { ...rest, digest: new Uint8Array(digest), cause: cause === null ? null : JSON.parse(cause) },
      }))
    },
  }
}

/** Adds the state after a late report. A delivery that becomes final leaves its queue: a worker that is attempting it
 *  loses its lease. */
async function addChange(
  { statements, add }: Group,
  state: State,
  change: NonNullable<LateRecord['change']>,
  now: number,
): Promise<void> {
  const { id, messageId, organizationId, isOnlyRecipient } = state
  const { status } = change
  const deliveredAt = isFinal(status) ? deliveredAtOf(state, status, now) : state.deliveredAt
  const seq = state.seq + 1
  const row: OutcomeRow = { ...state, ...change, deliveryId: id, seq, organizationId, deliveredAt, attempt: null }
  add.outcome(row)
  if (isFinal(status)) {
    add.mark({ message: { id: messageId, organizationId }, status, isOnlyRecipient })
    await statements.run(UNQUEUE, [id])
  } else await statements.run(NOTE_SEQ, [id, seq, status])
}

function deliveredAtOf({ deliveredAt }: State, status: DeliveryStatus, now: number): number | null {
  return status === 'delivered' ? (deliveredAt ?? now) : null
}
