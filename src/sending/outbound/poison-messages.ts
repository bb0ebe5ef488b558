import type { Outcome } from '../../model/delivery.ts'
import type { Message } from '../../model/message.ts'
import { createRepeatOffenders, type RepeatOffenders } from '../../os/repeat-offenders.ts'
import type { DeliveryContext } from './context.ts'
import { isPoisoned, poisonedAgain } from './outcome.ts'
import type { Tried } from './record.ts'

const MAX_REMEMBERED = 10_000

/** Messages that crashed or timed out a delivery thread. They are tried once more, for any recipient, because all
 *  recipients share the content; then all deliveries of the message end. Reads past attempts only after such a failure:
 *  those of an earlier process count too. */
export class PoisonMessages {
  readonly #context: Pick<DeliveryContext, 'store' | 'log' | 'onEvent'>
  readonly #offenders: RepeatOffenders
  readonly #ended = new Map<string, ReturnType<typeof poisonedAgain>>()

  constructor(context: Pick<DeliveryContext, 'store' | 'log' | 'clock' | 'onEvent'>) {
    this.#context = context
    this.#offenders = createRepeatOffenders(context.clock.steady)
  }

  /** Result of an attempt → the same result, or a bounce when a message failed this way a second time. Never
   *  rejects. */
  async judge({ id, organizationId }: Pick<Message, 'id' | 'organizationId'>, tried: Tried): Promise<Tried> {
    if (tried.outcome.kind !== 'deferred' || !isPoisoned(tried.outcome.cause.rule)) return tried
    const { store, log, onEvent } = this.#context
    if (this.#offenders.add(organizationId)) {
      log.error(
        'mail of one organization delayed for up to 10 min: its messages crashed or timed out several threads',
        { organization_id: organizationId },
      )
      onEvent?.({ kind: 'owner_apart', pool: POOL })
    }
    const before = await store.messages.attempts(id).catch(() => [])
    if (!before.some(({ attempt }) => isPoisoned(attempt.cause?.rule))) return tried
    if (this.#ended.size >= MAX_REMEMBERED) this.#ended.clear()
    const outcome = poisonedAgain(tried.outcome)
    this.#ended.set(id, outcome)
    log.error('message failed: it exceeded the CPU limit or crashed its thread twice', { message_id: id })
    onEvent?.({ kind: 'poisonous_job', pool: POOL })
    return { ...tried, outcome, attempt: { ...tried.attempt, outcome: 'bounced' } }
  }

  /** For how many ms mail of the organization must wait, because its messages crashed or timed out several threads with
   *  other mail; 0 = no wait. */
  waitMs(organizationId: string): number {
    return this.#offenders.leftMs(organizationId)
  }

  /** The outcome for the message's other recipients, which are not attempted; null if they may be. */
  refusal(messageId: string): Exclude<Outcome, { kind: 'delivered' }> | null {
    return this.#ended.size > 0 ? (this.#ended.get(messageId) ?? null) : null
  }
}

/** Name of the delivery threads in metrics. */
const POOL = 'delivery'
