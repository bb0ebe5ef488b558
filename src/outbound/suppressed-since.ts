import { type Event, messageEvent, suppressedEvent } from '../model/event.ts'
import { suppressionKey } from '../model/suppression.ts'
import type { MintId } from '../os/ids.ts'
import type { ClaimedDelivery, Store } from '../storage/store.ts'

/** Claim → the event that ends it at `now` (ms UTC), if its recipient was suppressed after the message was accepted, by the
 *  same rule; null: the attempt may start. Stores answer calls of one turn together. Rejects as the store. */
export async function suppressedSince(
  { delivery, message }: Pick<ClaimedDelivery, 'delivery' | 'message'>,
  { suppressions }: Pick<Store, 'suppressions'>,
  mintId: MintId,
  now: number,
): Promise<Event | null> {
  const key = suppressionKey(delivery.email)
  const why = (await suppressions.among(message, [key])).get(key)
  if (why === undefined) return null
  const { type, fields } = suppressedEvent(now, why)
  return messageEvent(mintId('evt'), type, message, delivery.email, now, fields)
}
