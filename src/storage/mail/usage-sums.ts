import type { Work } from '../sql.ts'
import { readUsed, type Sum } from './counts.ts'
import type { Counted } from './inside.ts'
import { keyOf } from './limits.ts'

/** What a transaction adds to counters. Its end writes one row for each. */
export class UsageSums {
  readonly #sums = new Map<string, Sum>()

  add({ organizationId, counter, period }: Counted, by: number): void {
    const key = keyOf({ organizationId, counter, period })
    const sum = this.#sums.get(key)
    if (sum === undefined) this.#sums.set(key, { organizationId, counter, period, by })
    else sum.by += by
  }

  /** MailInside.usedOf. Never below 0, as a counter may be during a recount. */
  *usedOf(counted: readonly Counted[]): Work<number[]> {
    const before = yield* readUsed(counted)
    return counted.map((of, at) => Math.max(0, (before[at] ?? 0) + (this.#sums.get(keyOf(of))?.by ?? 0)))
  }

  /** Empties it → what there is to write. */
  take(): Sum[] {
    const taken = [...this.#sums.values()].filter(({ by }) => by !== 0)
    this.drop()
    return taken
  }

  /** What was added is rolled back. */
  drop(): void {
    this.#sums.clear()
  }
}
