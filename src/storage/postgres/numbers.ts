import type { Queries } from './transactions.ts'

/** Numbers of a block: increment of the sequence. */
export const BLOCK = 50_000
const TAKE = `select nextval('numbers')::float8 as first`

/** Thrown by `next` when no number is left: the work is repeated after `refill`. */
export class NumbersUsedUp extends Error {}

/** A node takes a new block after this time: lists are in the order of numbers, and so in that of time, whichever node
 *  wrote. */
const RENEW_MS = 1_000

/** Numbers of new rows, taken from the database in blocks before they are needed. Numbers that are not used are gaps. */
export class Numbers {
  readonly #nowMs: () => number
  #next = 0
  #end = 0
  #spare: number[] = []
  /** Blocks beside the one in use. A work that used them up gets more when it is repeated. */
  #ahead = 0
  #renewedAt = Number.NEGATIVE_INFINITY

  /** `nowMs`: any clock. */
  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** Throws NumbersUsedUp. */
  next(): number {
    if (this.#next === this.#end) {
      const first = this.#spare.shift()
      if (first === undefined) {
        this.#ahead = Math.max(1, 2 * this.#ahead)
        throw new NumbersUsedUp()
      }
      this.#begin(first)
    }
    return this.#next++
  }

  /** Resolves once there are blocks, and none was old when it began. `queries`: of the transaction that needs them, so
   *  that none waits behind long reads. */
  async refill(queries: Queries): Promise<void> {
    if (this.#nowMs() - this.#renewedAt >= RENEW_MS) {
      const first = await taken(queries)
      this.#renewedAt = this.#nowMs()
      this.#spare = []
      this.#begin(first)
    }
    while (this.#blocks() <= this.#ahead) this.#spare.push(await taken(queries))
  }

  #blocks = () => this.#spare.length + Number(this.#next < this.#end)

  #begin(first: number): void {
    this.#next = first
    this.#end = first + BLOCK
  }
}

async function taken(queries: Queries): Promise<number> {
  const [row] = await queries.query<{ first: number }>(TAKE)
  if (row === undefined) throw new Error('the sequence gave no number')
  return row.first
}
