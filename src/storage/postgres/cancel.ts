import type { Delivery } from '../../model/delivery.ts'
import { isFinal } from '../../model/message.ts'
import { cancelledEvent } from '../../model/on-demand-event.ts'
import { textArray } from './arrays.ts'
import type { Group } from './group.ts'
import { MESSAGE_COLUMNS, type MessageRow, toMessage } from './message-row.ts'

/** Of `delivery_queue`. */
export const WAITING_COLUMNS = `id, message_id as "messageId", organization_id as "organizationId", key, attempts, worker,
  status, seq, is_only_recipient as "isOnlyRecipient"`
const MESSAGES = `select ${MESSAGE_COLUMNS} from messages m where m.id = any($1::text[])`
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

/** Ends waiting deliveries as cancelled at `now`, with their events. `deliveries`: their states. */
export async function cancelAll(
  group: Group,
  waiting: readonly WaitingDelivery[],
  deliveries: readonly Delivery[],
  now: number,
): Promise<void> {
  const { onDemand } = group.add
  const reported = waiting.filter(({ organizationId }) => onDemand.isNamed(organizationId, 'message.cancelled'))
  const messageOf = await readMessages(group.statements, reported)
  for (const state of await cancelUnreported(group, waiting, deliveries)) {
    const message = messageOf.get(state.messageId)
    if (message !== undefined) onDemand.offer(cancelledEvent(message, state, now))
  }
}

/** The same without events → the states of those that it ended. */
export async function cancelUnreported(
  { statements, add }: Group,
  waiting: readonly WaitingDelivery[],
  deliveries: readonly Delivery[],
): Promise<Delivery[]> {
  const states = new Map(deliveries.map((delivery) => [delivery.id, delivery]))
  const ended: Delivery[] = []
  for (const { id, messageId, organizationId, seq, isOnlyRecipient } of waiting) {
    const state = states.get(id)
    if (state === undefined || isFinal(state.status)) continue
    const deliveryId = id
    add.outcome({ ...state, deliveryId, seq: seq + 1, organizationId, status: 'cancelled', attempt: null })
    add.mark({ message: { id: messageId, organizationId }, status: 'cancelled', isOnlyRecipient })
    ended.push(state)
  }
  await statements.run(UNQUEUE, [textArray(waiting.map(({ id }) => id))])
  return ended
}

/** Messages of deliveries, by their IDs. */
async function readMessages(
  { query }: Group['statements'],
  deliveries: readonly WaitingDelivery[],
): Promise<Map<string, ReturnType<typeof toMessage>>> {
  if (deliveries.length === 0) return new Map()
  const ids = new Set(deliveries.map(({ messageId }) => messageId))
  const rows = await query<MessageRow>(MESSAGES, [textArray([...ids])])
  return new Map(rows.map((row) => [row.id, toMessage(row)]))
}
