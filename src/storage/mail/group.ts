import { type CommitListener, CommitReports } from '../commit-reports.ts'
import { createInlineBudget } from '../fan-out-targets.ts'
import { createMailCounts } from '../mail-counts.ts'
import type { Work } from '../sql.ts'
import { addCounts } from './counts.ts'
import type { MailInside, Numbered } from './inside.ts'
import type { PendingFanOuts } from './pending-fan-outs.ts'
import type { UsageSums } from './usage-sums.ts'

/** What each database does in its own way. */
export type OwnInside = Omit<
  MailInside,
  'counts' | 'use' | 'usedOf' | 'noted' | 'suppressed' | 'fanOut' | 'afterCommit'
>

/** What works on mail use of one transaction after the other, and what follows the commit of each. */
export class MailGroup {
  readonly inside: MailInside
  readonly #sums: UsageSums
  readonly #counts = createMailCounts()
  readonly #budget = createInlineBudget()
  readonly #sets: ReturnType<typeof createTargetSets>
  readonly #reports: CommitReports
  #following: (() => void)[] = []

  /** `sums`: of the transaction, to which `own` adds stored bytes. */
  constructor(
    own: OwnInside,
    { sums, pending, listener }: { sums: UsageSums; pending: PendingFanOuts; listener: CommitListener | undefined },
  ) {
    this.#sums = sums
    this.#sets = createTargetSets(own.next)
    this.#reports = new CommitReports(listener)
    this.inside = {
      ...own,
      counts: this.#counts,
      use: (organizationId, counter, by, period) => sums.add({ organizationId, counter, period }, by),
      usedOf: (counted) => sums.usedOf(counted),
      noted: (event) => this.#reports.happened(event),
      suppressed: (reason) => this.#reports.suppressed(reason),
      fanOut: { takes: this.#budget.takes, pending, setOf: this.#sets.of },
      afterCommit: (work) => this.#following.push(work),
    }
  }

  /** A transaction begins, or was rolled back. */
  begin(): void {
    this.#counts.drop()
    this.#budget.begin()
    this.#sets.drop()
    this.#sums.drop()
    this.#reports.undone()
    this.#following = []
  }

  /** Writes what was counted, at the end of the transaction. */
  flush(): Work<void> {
    return addCounts(this.inside.writer(), { ...this.#counts.take(), sums: this.#sums.take() })
  }

  /** It is durable, after so many ms. */
  committed(ms: number): void {
    for (const work of this.#following) work()
    this.#reports.committed(ms)
  }
}

/** Sets of webhooks that one transaction has written, by organization. */
function createTargetSets(next: (table: Numbered) => number) {
  const written = new Map<string, number>()
  return {
    of: (organizationId: string, add: (number: number) => void): number => {
      const known = written.get(organizationId)
      if (known !== undefined) return known
      const number = next('fan_out_targets')
      written.set(organizationId, number)
      add(number)
      return number
    },
    drop: () => written.clear(),
  }
}
