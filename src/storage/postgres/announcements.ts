import type { DueIndex } from '../due-index.ts'
import { dueIndexes, QUEUE_NAMES, type QueueName } from '../mail/queue-tables.ts'
import type { Offer, WakeUps } from './wake-ups.ts'

/** A key that this node may take is claimed in much less. */
const WAIT_MS = 100

/** A key that is due, and since when (steady clock, ms) this node could have taken it. */
interface Waiting {
  queue: QueueName
  key: string
  since: number
  isSecondLook: boolean
}

/** Offers keys of this node's due indexes to the other nodes. In general each key is looked at by the node that made it due.
 *  The others get those that it does not take in a tenth of a second: its part of a limit is used up, it drains, or it has
 *  not the addresses that the mail is sent from. */
export class Announcements {
  readonly #due: Record<QueueName, DueIndex>
  readonly #wakeUps: Pick<WakeUps, 'offer'>
  readonly #later = dueIndexes()
  #waiting = new Map<string, Waiting>()

  constructor(due: Record<QueueName, DueIndex>, wakeUps: Pick<WakeUps, 'offer'>) {
    this.#due = due
    this.#wakeUps = wakeUps
  }

  /** Keys have something due here. */
  noted(offers: readonly Offer[]): void {
    for (const [queue, key, at] of offers) this.#later[queue].offer(key, at)
  }

  /** Sends what waits for too long. `now`: ms UTC; `steadyNow`: of the steady clock, ms. */
  turn(now: number, steadyNow: number): void {
    for (const queue of QUEUE_NAMES) {
      for (let key = this.#later[queue].take(now, YES); key !== null; key = this.#later[queue].take(now, YES)) {
        const id = `${queue} ${key}`
        if (!this.#waiting.has(id)) this.#waiting.set(id, { queue, key, since: steadyNow, isSecondLook: false })
      }
    }
    for (const [id, waiting] of this.#waiting) {
      if (steadyNow - waiting.since < WAIT_MS) break
      this.#waiting.delete(id)
      this.#decide(id, waiting, now, steadyNow)
    }
  }

  clear(): void {
    for (const index of Object.values(this.#later)) index.clear()
    this.#waiting.clear()
  }

  #decide(id: string, { queue, key, isSecondLook }: Waiting, now: number, steadyNow: number): void {
    const at = this.#due[queue].dueAt(key)
    // While a claim is under way, its keys are not on the index.
    if (at === null && !isSecondLook) {
      this.#waiting.set(id, { queue, key, since: steadyNow, isSecondLook: true })
    } else if (at !== null && at > now) this.#later[queue].offer(key, at)
    else if (at !== null) this.#wakeUps.offer([queue, key, at])
  }
}

const YES = () => true
