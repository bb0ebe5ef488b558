import type { QueueName } from '../mail/queue-tables.ts'

/** Claims of this process whose result is not written yet. */
export class HeldClaims {
  readonly #held = new Map<string, { queue: QueueName; worker: string }>()

  readonly count = (): number => this.#held.size

  add(queue: QueueName, worker: string, ids: Iterable<string>): void {
    for (const id of ids) this.#held.set(id, { queue, worker })
  }

  /** Their results were written, or they were given back. */
  remove(ids: Iterable<string>): void {
    for (const id of ids) this.#held.delete(id)
  }

  /** The leases of the worker were ended, but for those that are under way. */
  keep(queue: QueueName, worker: string, underWay: ReadonlySet<string>): void {
    for (const [id, held] of this.#held)
      if (held.queue === queue && held.worker === worker && !underWay.has(id)) this.#held.delete(id)
  }
}
