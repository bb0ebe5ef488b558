import { dayOf, type LimitName, type LimitReached, monthOf, PLAN_LIMITS } from '../../model/limits.ts'
import { UNLIMITED } from '../../model/organization.ts'
import { inboundStoredBytes } from '../../model/stored-bytes.ts'
import type { Work } from '../sql.ts'
import type { AcceptedInbound, AcceptedMessage } from '../store.ts'
import type { Counted, MailInside } from './inside.ts'
import { bytesOf, keyOf } from './limits.ts'

/** Decides about a mail: the limit of an organization that it exceeds, for storage or forwards. Null if there is none, and
 *  then the mail counts for those that follow. */
type Decide = (mail: AcceptedInbound) => LimitReached | null

/** A counter of a limited plan. */
interface Need extends Counted {
  name: LimitName
  /** What the mail must find free. */
  free: number
  /** What it uses. */
  by: number
}

/** Reads what the organizations of limited plans have used, all of it at once → what decides about each mail in turn. */
export function* readInboundLimits(inside: MailInside, mails: readonly AcceptedInbound[]): Work<Decide> {
  if (!mails.some((mail) => isLimited(inside, mail))) return () => null
  const asked = new Map(mails.flatMap((mail) => needsOf(inside, mail)).map((need) => [keyOf(need), need]))
  const read = yield* inside.usedOf([...asked.values()])
  const used = new Map([...asked.keys()].map((key, at) => [key, read[at] ?? 0]))
  return (mail) => {
    const needs = needsOf(inside, mail)
    for (const { name, free, ...counted } of needs) {
      const present = used.get(keyOf(counted)) ?? 0
      const limit = inside.planOf(counted.organizationId)[PLAN_LIMITS[name].of]
      if (present + free > limit) return { kind: 'limit', name, limit, used: present }
    }
    for (const need of needs) used.set(keyOf(need), (used.get(keyOf(need)) ?? 0) + need.by)
    return null
  }
}

/** True if a limit could refuse the mail. */
function isLimited({ planOf }: MailInside, { taken }: AcceptedInbound): boolean {
  return taken.some(({ message: { organizationId }, forward }) => {
    const { storedBytes, forwardsPerDay, messagesPerMonth } = planOf(organizationId)
    return [storedBytes, ...(forward === null ? [] : [forwardsPerDay, messagesPerMonth])].some((of) => of !== UNLIMITED)
  })
}

/** The limit that would refuse the mail now; null if there is none. */
export function* inboundLimitNow(inside: MailInside, mail: AcceptedInbound): Work<LimitReached | null> {
  return (yield* readInboundLimits(inside, [mail]))(mail)
}

/** What a mail needs of limited plans, in the order in which the limits are asked. */
function needsOf({ planOf }: MailInside, { taken }: AcceptedInbound): Need[] {
  const needs = new Map<string, Need>()
  const add = (need: Need, isSummed: boolean) => {
    if (planOf(need.organizationId)[PLAN_LIMITS[need.name].of] === UNLIMITED) return
    const present = needs.get(keyOf(need))
    if (present === undefined) needs.set(keyOf(need), need)
    else {
      present.by += need.by
      if (isSummed) present.free += need.free
    }
  }
  for (const { message, forward } of taken) {
    const { organizationId, receivedAt, sizeBytes } = message
    const bytes = inboundStoredBytes(sizeBytes) + (forward === null ? 0 : bytesOf([forward], undefined))
    // Whatever its size, so that a large mail is not refused forever.
    const stored = { counter: 'stored_bytes', period: '', name: 'stored_bytes', free: 1, by: bytes } as const
    add({ organizationId, ...stored }, false)
    if (forward === null) continue
    const count = openCount(forward)
    const forwards = { counter: 'forwards', period: dayOf(receivedAt), name: 'forwards_per_day' } as const
    const volume = { counter: 'volume', period: monthOf(receivedAt), name: 'messages_per_month' } as const
    if (count > 0) for (const of of [forwards, volume]) add({ organizationId, ...of, free: count, by: count }, true)
  }
  return [...needs.values()]
}

/** Recipients of a message that will be tried. */
export function openCount({ deliveries }: AcceptedMessage): number {
  return deliveries.filter(({ nextAttemptAt }) => nextAttemptAt !== null).length
}
