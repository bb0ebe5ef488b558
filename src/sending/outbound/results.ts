import { messageEvent, suppressedEvent } from '../../model/event.ts'
import { suppressionKey } from '../../model/suppression.ts'
import type { ClaimedDelivery, DeliveryRecord } from '../../storage/store.ts'
import type { Attempts } from './attempts.ts'
import type { DeliveryContext } from './context.ts'
import { publish, recordOf, type Tried } from './record.ts'
import type { RelayCounters } from './relays/relay-counters.ts'
import type { Verdict } from './schedule/verdict.ts'

/** Interval of tries to record a result while the store cannot write. */
const RECORD_AGAIN_MS = 1_000

/** Writes what becomes of claims. */
export class Results {
  readonly #context: DeliveryContext
  readonly #attempts: Pick<Attempts, 'written'>
  readonly #relayCounters: Pick<RelayCounters, 'count'> | undefined
  readonly #stopping = new AbortController()

  constructor(
    context: DeliveryContext,
    attempts: Pick<Attempts, 'written'>,
    relayCounters: Pick<RelayCounters, 'count'> | undefined,
  ) {
    this.#context = context
    this.#attempts = attempts
    this.#relayCounters = relayCounters
  }

  /** Makes the next write of each pending record the last one. */
  stop(): void {
    this.#stopping.abort()
  }

  /** Writes the result of an attempt, which was made and cannot be undone, however long the store refuses. Only `stop` ends
   *  this, after one last try. Never rejects. */
  async record(claim: ClaimedDelivery, tried: Tried, verdict: Verdict): Promise<void> {
    const { workerId: worker, clock, mintId, mailLog, notify } = this.#context
    const record = recordOf(claim, tried, verdict, { worker, now: clock.now(), mintId })
    if (!(await this.#isWritten(record))) return
    publish(record, mailLog)
    if (record.attempt.relay !== undefined) this.#relayCounters?.count(record.attempt.relay.name, record.outcome)
    notify(`message ${record.messageId}`)
    notify('webhook deliveries')
  }

  /** False if the lease of the claim ended, or this stopped before the store wrote it. */
  async #isWritten(record: DeliveryRecord): Promise<boolean> {
    const { store, log, clock } = this.#context
    for (;;) {
      try {
        const state = await store.deliveries.record(record)
        this.#attempts.written(record.deliveryId)
        if (state === 'recorded') return true
        log.warn('delivery result discarded: lease ended', { delivery_id: record.deliveryId })
        return false
      } catch (error) {
        log.error('delivery result not recorded, will retry', { delivery_id: record.deliveryId, error })
        if (this.#stopping.signal.aborted) return false
        await clock.sleep(RECORD_AGAIN_MS, this.#stopping.signal)
      }
    }
  }

  /** Ends a claim whose recipient was suppressed after the message was accepted → true: no attempt follows. Rejects if the
   *  store cannot say or write it. */
  async endSuppressed(claim: ClaimedDelivery): Promise<boolean> {
    const { store, clock, mintId, mailLog, notify } = this.#context
    const { delivery, message, worker } = claim
    const key = suppressionKey(delivery.email)
    // Stores answer calls of one turn together.
    const why = (await store.suppressions.among(message, [key])).get(key)
    if (why === undefined) return false
    const now = clock.now()
    const { type, fields } = suppressedEvent(now, why)
    const event = messageEvent(mintId('evt'), type, message, delivery.email, now, fields)
    const state = await store.deliveries.recordSuppressed(
      { id: delivery.id, attempt: delivery.attempts, worker },
      event,
    )
    if (state === 'recorded') mailLog.suppressed({ message: message.id, recipients: 1 })
    notify(`message ${message.id}`)
    notify('webhook deliveries')
    return true
  }

  /** Makes a claim due again at `dueAt` without counting its attempt. Never rejects: a claim that the store does not release
   *  is due again within a minute. */
  async release({ delivery }: ClaimedDelivery, dueAt: number): Promise<void> {
    const { store, log, workerId: worker } = this.#context
    const { id, attempts: attempt } = delivery
    await store.deliveries
      .release([{ id, attempt, worker }], dueAt)
      .catch((error) =>
        log.error('delivery not released, will be due again within a minute', { delivery_id: id, error }),
      )
  }
}
