import { isFinal } from '../../model/message.ts'
import { tlsOf } from '../message-rows.ts'
import type { DeliveryRecord, HeldClaim } from '../store.ts'
import { numberArray, textArray, valueArray } from './arrays.ts'
import { claimKey } from './claims.ts'
import type { Group, Kind } from './group.ts'

const HELD = `select q.id, q.worker, q.attempts as attempt, q.message_id as "messageId", q.organization_id as "organizationId", q.key, q.seq,
    q.attempted_at::float8 as "attemptedAt", q.is_only_recipient as "isOnlyRecipient",
    coalesce((select soft_bounce_reported from delivery_outcomes o where o.delivery_id = q.id and o.seq = q.seq), false)
      as "isSoftBounceReported"
  from unnest($1::text[], $2::text[], $3::int[]) as claimed (id, worker, attempts)
  join delivery_queue q on q.id = claimed.id and q.worker = claimed.worker and q.attempts = claimed.attempts
  order by q.id for update of q`
const UNQUEUE = 'delete from delivery_queue where id = any($1::text[])'
const WAIT = `update delivery_queue q set worker = null, recorded = q.recorded + 1, seq = q.seq + 1, due_at = later.due_at,
    recorded_at = later.recorded_at, status = later.status
  from unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[]) as later (id, due_at, recorded_at, status)
  where q.id = later.id`

/** A row of HELD. */
interface HeldRow extends HeldClaim {
  messageId: string
  organizationId: string
  key: string
  seq: number
  attemptedAt: number | null
  isOnlyRecipient: boolean
  isSoftBounceReported: boolean
}

/** How the results of claims are written. `offer`: a key has something due again. `finished`: claims that ended. */
export function recordKind(
  offer: (key: string, at: number) => void,
  finished: (ids: string[]) => void,
): Kind<DeliveryRecord, 'recorded' | 'lease_lost'> {
  return {
    perform: async (group, records) => {
      const { statements, add } = group
      const held = new Map(
        (
          await statements.query<HeldRow>(HELD, [
            textArray(records.map(({ deliveryId }) => deliveryId)),
            textArray(records.map(({ worker }) => worker)),
            valueArray(records.map(({ attempt }) => attempt.number)),
          ])
        ).map((row) => [claimKey(row), row]),
      )
      add.afterCommit(() => finished(records.map(({ deliveryId }) => deliveryId)))
      const done: string[] = []
      const later: { record: DeliveryRecord; dueAt: number }[] = []
      const results = records.map((record) => {
        const { deliveryId: id, worker, attempt } = record
        const claim = claimKey({ id, worker, attempt: attempt.number })
        const row = held.get(claim)
        if (row === undefined) return 'lease_lost'
        held.delete(claim) // a second record of the same claim finds it recorded
        const { nextAttemptAt } = record
        if (nextAttemptAt === null) done.push(row.id)
        else {
          later.push({ record, dueAt: nextAttemptAt })
          add.afterCommit(() => offer(row.key, nextAttemptAt))
        }
        addOutcome(group, row, record)
        return 'recorded'
      })
      await Promise.all([
        done.length === 0 ? 0 : statements.run(UNQUEUE, [textArray(done)]),
        later.length === 0
          ? 0
          : statements.run(WAIT, [
              textArray(later.map(({ record }) => record.deliveryId)),
              numberArray(later.map(({ dueAt }) => dueAt)),
              numberArray(later.map(({ record }) => record.attempt.startedAt)),
              textArray(later.map(({ record }) => record.status)),
            ]),
      ])
      return results
    },
  }
}

/** Adds the state of the delivery, and what is reported of it. */
function addOutcome({ add }: Group, row: HeldRow, record: DeliveryRecord): void {
  const { deliveryId, attempt, outcome, status, smtpResponse, now, opens = 0, clicks = 0 } = record
  const { organizationId, messageId, seq, isOnlyRecipient } = row
  const isBounce = outcome.kind === 'bounced'
  add.outcome({
    deliveryId,
    seq: seq + 1,
    organizationId,
    status,
    attempts: attempt.number,
    lastAttemptAt: row.attemptedAt,
    deliveredAt: status === 'delivered' ? now : null,
    smtpResponse,
    bounceType: isBounce ? outcome.bounceType : null,
    bounceCode: isBounce ? outcome.code : null,
    mxHost: attempt.mxHost,
    tls: tlsOf(attempt),
    isSoftBounceReported: row.isSoftBounceReported || record.isSoftBounceReported,
    attempt,
  })
  if (isFinal(status)) add.mark({ message: { id: messageId, organizationId }, status, isOnlyRecipient })
  if (opens > 0 || clicks > 0) add.engage({ deliveryId, organizationId, opens, clicks })
  for (const event of record.events) add.append(event)
  if (record.suppression !== null) add.suppress(record.suppression)
}
