import type { Outcome } from '../model/delivery.ts'
import type { Message } from '../model/message.ts'
import type { Clock } from '../os/clock.ts'
import { createRepeatOffenders } from '../os/repeat-offenders.ts'
import type { Store } from '../storage/store.ts'
import { isPoisoned, poisonedAgain } from './outcome.ts'
import type { Tried } from './record.ts'

/** Messages that crashed or timed out a delivery thread. They are tried once more, for any recipient, because all
 *  recipients share the content; then all deliveries of the message end. */
export interface Poisonous {
  /** Result of an attempt → the same result, or a bounce when a message failed this way a second time. Never
   *  rejects. */
  judge(message: Pick<Message, 'id' | 'organizationId'>, tried: Tried): Promise<Tried>
  /** For how many ms mail of the organization must wait, because its messages crashed or timed out several threads with
   *  other mail; 0 = no wait. */
  waitMs(organizationId: string): number
  /** The outcome for the message's other recipients, which are not attempted; null if they may be. */
  refusal(messageId: string): Exclude<Outcome, { kind: 'delivered' }> | null
}

/** Reads past attempts only after such a failure: those of an earlier process count too. */
export function createPoisonous(
  messages: Pick<Store['messages'], 'attempts'>,
  {
    clock,
    onGivenUp,
    onWait,
  }: {
    clock: Pick<Clock, 'now'>
    onGivenUp: (messageId: string) => void
    onWait: (organizationId: string) => void
  },
): Poisonous {
  const offenders = createRepeatOffenders(clock)
  const givenUp = new Map<string, ReturnType<typeof poisonedAgain>>()
  return {
    judge: async ({ id: messageId, organizationId }, tried) => {
      if (tried.outcome.kind !== 'deferred' || !isPoisoned(tried.outcome.cause.rule)) return tried
      if (offenders.add(organizationId)) onWait(organizationId)
      const before = await messages.attempts(messageId).catch(() => [])
      if (!before.some(({ attempt }) => isPoisoned(attempt.cause?.rule))) return tried
      if (givenUp.size >= MAX_REMEMBERED) givenUp.clear()
      const outcome = poisonedAgain(tried.outcome)
      givenUp.set(messageId, outcome)
      onGivenUp(messageId)
      return { ...tried, outcome, attempt: { ...tried.attempt, outcome: 'bounced' } }
    },
    waitMs: offenders.leftMs,
    refusal: (messageId) => (givenUp.size > 0 ? (givenUp.get(messageId) ?? null) : null),
  }
}

const MAX_REMEMBERED = 10_000
