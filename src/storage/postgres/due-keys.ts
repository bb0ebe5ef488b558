import { dueTimes } from '../mail/leases.ts'
import { dueIndexes, QUEUE_NAMES, type QueueName } from '../mail/queue-tables.ts'
import { readWith } from './database.ts'
import type { Reads } from './reads.ts'

/** Keys that one statement reads. */
const PAGE = 1_000

/** The due indexes of this node: the keys that wait, with the time of the first of their rows. A million deliveries to a
 *  hundred thousand destinations are a hundred thousand entries. */
export class DueKeys {
  readonly indexes = dueIndexes()
  readonly #reads: Reads

  constructor(reads: Reads) {
    this.#reads = reads
  }

  /** Reads the keys with something due by `until`, ms UTC. */
  async load(until: number): Promise<void> {
    for (const queue of QUEUE_NAMES) await this.#loadQueue(queue, until)
  }

  async #loadQueue(queue: QueueName, until: number): Promise<void> {
    for (let last = '', count = PAGE; count === PAGE; ) {
      const page = await readWith(this.#reads, dueTimes(queue, last, PAGE))
      for (const { key, at } of page) if (at !== null && at <= until) this.indexes[queue].offer(key, at)
      count = page.length
      last = page.at(-1)?.key ?? last
    }
  }
}
