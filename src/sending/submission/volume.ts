import { type LimitName, limitRefusal, PLAN_LIMITS } from '../../model/limits.ts'
import { isFinal } from '../../model/message.ts'
import { type Plan, UNLIMITED } from '../../model/organization.ts'
import { Refusal } from '../../model/refusal.ts'
import { messageStoredBytes } from '../../model/stored-bytes.ts'
import { isOneOf } from '../../os/records.ts'
import type { AcceptedMessage } from '../../storage/store.ts'

/** Recipients that count towards the monthly quota: those of live mail with a delivery attempt. */
export function liveCount({ message, deliveries }: AcceptedMessage): number {
  return message.mode === 'live' ? deliveries.filter(({ status }) => !isFinal(status)).length : 0
}

/** The limits a message can reach, and their current use. */
export type Used = Record<(typeof SENDING_LIMITS)[number], number>
const SENDING_LIMITS = [
  'messages_per_month',
  'test_messages_per_month',
  'scheduled_messages',
  'stored_bytes',
] as const satisfies readonly LimitName[]

/** Whether sending can reach this limit. */
export function isSendingLimit(name: LimitName): name is keyof Used {
  return isOneOf(SENDING_LIMITS, name)
}

/** Zero for each limit. */
export function nothingUsed(): Used {
  return { messages_per_month: 0, test_messages_per_month: 0, scheduled_messages: 0, stored_bytes: 0 }
}

/** Messages in order, current use and reserved space → the same list with a refusal for each message that does not fit;
 *  a smaller one after it may still fit. */
export function withinLimits(
  prepared: (AcceptedMessage | Refusal)[],
  plan: Plan,
  { used, reserved }: { used: Used; reserved: Used },
  now: number,
): (AcceptedMessage | Refusal)[] {
  const after = { ...used }
  for (const name of SENDING_LIMITS) after[name] += reserved[name]
  return prepared.map((each) => {
    if (each instanceof Refusal) return each
    const needs = needsOf(each)
    const name = SENDING_LIMITS.find((name) => {
      const limit = plan[PLAN_LIMITS[name].of]
      return limit !== UNLIMITED && needs[name] > 0 && after[name] + needs[name] > limit
    })
    if (name !== undefined) return limitRefusal({ name, limit: plan[PLAN_LIMITS[name].of], used: used[name] }, now)
    for (const name of SENDING_LIMITS) after[name] += needs[name]
    return each
  })
}

function needsOf(accepted: AcceptedMessage): Used {
  const { message, deliveries } = accepted
  const metadata = JSON.stringify(message.metadata)
  return {
    messages_per_month: liveCount(accepted),
    test_messages_per_month: message.mode === 'test' ? deliveries.length : 0,
    scheduled_messages: Number(message.status === 'scheduled'),
    stored_bytes: messageStoredBytes(message.sizeBytes, deliveries.length, metadata, message.subject),
  }
}

/** Exhausted monthly quota of a plan → the refusal, with the day it resets. */
export function quotaExceeded(plan: Plan, used: number, now: number): Refusal {
  return limitRefusal({ name: 'messages_per_month', limit: plan.messagesPerMonth, used }, now)
}
