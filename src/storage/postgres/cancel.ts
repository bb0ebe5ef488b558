import type { Delivery } from '../../model/delivery.ts'
import { isFinal } from '../../model/message.ts'
import { textArray } from './arrays.ts'
import type { Group } from './group.ts'

/** Of `delivery_queue`. */
export const WAITING_COLUMNS = `id, message_id as "messageId", organization_id as "organizationId", key, attempts, worker,
  status, seq, is_only_recipient as "isOnlyRecipient"`
const UNQUEUE = 'delete from delivery_queue where id = any($1::text[])'

/** A row of WAITING_COLUMNS. */
export interface WaitingDelivery {
  id: string
  messageId: string
  organizationId: string
  key: string
  attempts: number
  worker: string | null
  status: Delivery['status']
  seq: number
  isOnlyRecipient: boolean
}

/** Ends waiting deliveries as cancelled. `deliveries`: their states. */
export async function cancelAll(
  { statements, add }: Group,
  waiting: readonly WaitingDelivery[],
  deliveries: readonly Delivery[],
): Promise<void> {
  const states = new Map(deliveries.map((delivery) => [delivery.id, delivery]))
  for (const { id, messageId, organizationId, seq, isOnlyRecipient } of waiting) {
    const state = states.get(id)
    if (state === undefined || isFinal(state.status)) continue
    const deliveryId = id
    add.outcome({ ...state, deliveryId, seq: seq + 1, organizationId, status: 'cancelled', attempt: null })
    add.mark({ message: { id: messageId, organizationId }, status: 'cancelled', isOnlyRecipient })
  }
  await statements.run(UNQUEUE, [textArray(waiting.map(({ id }) => id))])
}
