import type { Event } from '../../model/event.ts'
import type { HeldClaim } from '../store.ts'
import type { MailLane } from './group.ts'
import { STATE, type State } from './late-records.ts'

const UNQUEUE = `delete from delivery_queue where id = $1 and worker = $2 and attempts = $3
  returning recorded_at::float8 as "recordedAt", seq`

/** → Deliveries.recordSuppressed. `finished`: the claim ended. */
export function recordSuppressed(lane: MailLane, finished: (ids: string[]) => void) {
  return ({ id, worker, attempt }: HeldClaim, event: Event): Promise<'recorded' | 'lease_lost'> =>
    lane.perform(async ({ statements, add }) => {
      add.afterCommit(() => finished([id]))
      const [left] = await statements.query<{ recordedAt: number | null; seq: number }>(UNQUEUE, [id, worker, attempt])
      const [state] = left === undefined ? [] : await statements.query<State>(STATE, [id])
      if (left === undefined || state === undefined) return 'lease_lost'
      const { organizationId, messageId, isOnlyRecipient } = state
      add.outcome({
        ...state,
        deliveryId: id,
        seq: left.seq + 1,
        status: 'suppressed',
        attempts: attempt - 1,
        lastAttemptAt: left.recordedAt,
        attempt: null,
      })
      add.mark({ message: { id: messageId, organizationId }, status: 'suppressed', isOnlyRecipient })
      add.append(event)
      return 'recorded'
    })
}
