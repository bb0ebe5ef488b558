import type { Delivery } from '../../../model/delivery.ts'
import type { Store } from '../../../storage/store.ts'

/** The route of the earliest attempt that the server may have accepted, and that a delivery must keep: another route could
 *  deliver the mail a second time without a server that sees both. `relay` null: direct. Null: no such attempt. An attempt
 *  that was counted and left no record, because the process ended, counts as such. */
export async function earlierRoute(
  { id, messageId, email, attempts: current }: Delivery,
  store: Pick<Store, 'messages' | 'relays'>,
): Promise<{ relay: string | null } | null> {
  if (current <= 1) return null
  const [all, begun] = await Promise.all([store.messages.attempts(messageId), store.relays.begun(id)])
  const records = new Map(all.flatMap((each) => (each.email === email ? [[each.attempt.number, each.attempt]] : [])))
  for (let number = 1; number < current; number++) {
    const record = records.get(number)
    // A later attempt that began through a relay kept the route of this one.
    if (record === undefined) return { relay: begun !== null && begun.attempt >= number ? begun.relay : null }
    if (record.outcome === 'unknown') return { relay: record.relay?.name ?? null }
  }
  return null
}
