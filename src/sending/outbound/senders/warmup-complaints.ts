import type { Delivery } from '../../../model/delivery.ts'
import { type DestinationGroup, groupOf } from '../../../model/destination-group.ts'
import { dayOf } from '../../../model/warmup.ts'
import { destinationOfHost } from '../../../net/destination-host.ts'
import type { Store } from '../../../storage/store.ts'

/** The first complaint about a delivery, received at `at` (ms UTC). */
export interface FirstComplaint {
  messageId: string
  delivery: Pick<Delivery, 'email' | 'mxHost'>
  at: number
  /** The registrable domain of its author, if SPF or DKIM authenticates it; else null. Asked only if needed. */
  reporter: () => Promise<string | null>
}

/** Addresses in warm-up → a function that counts a complaint for the address that the delivery was sent from, if it is one of
 *  them. Everyone who got the mail can write a complaint about it, so one counts only if the provider that accepted the mail
 *  sends it, and once a day for each recipient; of the group `others`, where an attacker may be the provider, once a day for
 *  each destination. What counted is kept in memory. Rejects as the store and `reporter` do. */
export function createComplaintCounter(
  store: Pick<Store, 'messages' | 'warmups'>,
  addresses: readonly string[],
): (complaint: FirstComplaint) => Promise<void> {
  const warming = new Set(addresses)
  const counted = new Set<string>()
  let on = Number.NaN
  const isNew = (key: string, day: number) => {
    if (on !== day) counted.clear()
    on = day
    if (counted.has(key) || counted.size >= REMEMBERED) return false
    counted.add(key)
    return true
  }
  return async ({ messageId, delivery: { email, mxHost }, at, reporter }) => {
    if (warming.size === 0 || mxHost === null) return
    const attempts = await store.messages.attempts(messageId)
    const last = attempts.findLast((each) => each.email === email)?.attempt
    const address = last?.sourceAddress
    if (!address || last.relay !== undefined || !warming.has(address)) return
    const destination = destinationOfHost(mxHost)
    const group = groupOf(destination)
    const domain = destinationOfHost(email.slice(email.lastIndexOf('@') + 1))
    if (!isProvider(await reporter(), { group, destination, domain })) return
    const day = dayOf(at)
    if (!isNew(`${address} ${group} ${group === 'others' ? destination : email.toLowerCase()}`, day)) return
    await store.warmups.add([{ address, group, day, complaints: 1 }])
  }
}

/** Complaints of one day that are remembered; further ones do not count. */
const REMEMBERED = 20_000

/** Authors of the feedback loops of each group. Google and Apple send no single complaints.
 *  - Outlook.com: staff@hotmail.com (Junk Mail Reporting Program)
 *  - Yahoo and AOL: feedback@arf.mail.yahoo.com (Complaint Feedback Loop)
 *  - Validity sends those of Comcast, Cox and others from senderscore.net (Universal Feedback Loop) */
const REPORTERS: Readonly<Record<DestinationGroup, readonly string[]>> = {
  google: [],
  microsoft: ['hotmail.com', 'outlook.com', 'microsoft.com'],
  yahoo: ['yahoo.com', 'yahooinc.com', 'aol.com', 'aol.net'],
  apple: [],
  others: ['senderscore.net', 'returnpath.net', 'validity.com'],
}

function isProvider(
  reporter: string | null,
  { group, destination, domain }: { group: DestinationGroup; destination: string; domain: string },
): boolean {
  if (reporter === null) return false
  if (REPORTERS[group].includes(reporter)) return true
  return group === 'others' && (reporter === destination || reporter === domain)
}
