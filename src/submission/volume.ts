import { iso } from '../model/event.ts'
import { isFinal } from '../model/message.ts'
import { type Plan, UNLIMITED } from '../model/organization.ts'
import { Refusal } from '../model/refusal.ts'
import type { AcceptedMessage } from '../storage/store.ts'

/** Recipients that count against the month: those of live mail that will be tried (contract §2). */
export function liveCount({ message, deliveries }: AcceptedMessage): number {
  return message.mode === 'live' ? deliveries.filter(({ status }) => !isFinal(status)).length : 0
}

/** Messages in order, with `used` of the month gone before them → the same, with a refusal in place of each that no
 *  longer fits; a smaller one behind it may still. */
export function withinVolume(
  prepared: (AcceptedMessage | Refusal)[],
  plan: Plan,
  used: number,
  now: number,
): (AcceptedMessage | Refusal)[] {
  if (plan.messagesPerMonth === UNLIMITED) return prepared
  let left = plan.messagesPerMonth - used
  return prepared.map((each) => {
    const count = each instanceof Refusal ? 0 : liveCount(each)
    if (count > 0 && count > left) return quotaExceeded(plan, used, now)
    left -= count
    return each
  })
}

/** Plan, what is used of its month, and the present → the refusal with the day it starts anew. */
export function quotaExceeded(plan: Plan, used: number, now: number): Refusal {
  const { messagesPerMonth: limit } = plan
  return new Refusal('quota_exceeded', `this month's ${limit} recipients of the plan are used up`, {
    details: { limit, used, resets_at: iso(nextMonth(now)) },
  })
}

/** The calendar month of UTC that volume is counted in. */
export function monthOf(now: number): string {
  return iso(now).slice(0, 7)
}

/** When the month after it begins, ms UTC. */
export function nextMonth(now: number): number {
  const date = new Date(now)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
}
