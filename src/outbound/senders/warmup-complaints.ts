import type { Delivery } from '../../model/delivery.ts'
import { groupOf } from '../../model/destination-group.ts'
import { dayOf } from '../../model/warmup.ts'
import type { Store } from '../../storage/store.ts'
import { destinationOfHost } from '../schedule/destination.ts'

/** Addresses in warm-up → a function that counts a complaint, received at `at` (ms UTC), for the address that the delivery
 *  was sent from, if it is one of them. Rejects as the store. */
export function createComplaintCounter(
  store: Pick<Store, 'messages' | 'warmups'>,
  addresses: readonly string[],
): (messageId: string, delivery: Pick<Delivery, 'email' | 'mxHost'>, at: number) => Promise<void> {
  const warming = new Set(addresses)
  return async (messageId, { email, mxHost }, at) => {
    if (warming.size === 0 || mxHost === null) return
    const attempts = await store.messages.attempts(messageId)
    const address = attempts.findLast((each) => each.email === email)?.attempt.sourceAddress
    if (!address || !warming.has(address)) return
    const group = groupOf(destinationOfHost(mxHost))
    await store.warmups.add([{ address, group, day: dayOf(at), complaints: 1 }])
  }
}
