import type { Outcome } from '../model/delivery.ts'
import type { Message } from '../model/message.ts'
import type { Clock } from '../os/clock.ts'
import { createRepeatOffenders } from '../os/repeat-offenders.ts'
import type { Store } from '../storage/store.ts'
import { isPoisoned, poisonedAgain } from './outcome.ts'
import type { Tried } from './record.ts'

/** Messages that kept a delivery thread too long, or ended it. Tried once more, for any of its recipients, since they have the content
 *  in common; then given up for all of them. */
export interface Poisonous {
  /** What became of an attempt → the same; a bounce when a message did so for the second time. Never rejects. */
  judge(message: Pick<Message, 'id' | 'organizationId'>, tried: Tried): Promise<Tried>
  /** How many ms mail of the organization is not tried, because its messages ended thread after thread, each of which others
   *  had mail in; 0 = it is tried. */
  waitMs(organizationId: string): number
  /** How its other recipients' deliveries end, which are not tried any more; null = they may be. */
  refusal(messageId: string): Exclude<Outcome, { kind: 'delivered' }> | null
}

/** Attempts are asked for only when a message did so: what a process before this one tried counts too. */
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
