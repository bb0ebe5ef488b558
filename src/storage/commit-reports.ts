import { type Event, isOnDemand } from '../model/event.ts'
import type { SuppressionReason } from '../model/suppression.ts'

/** Called after a commit is durable. No method may throw. */
export interface CommitListener {
  /** Duration of one transaction of the writer, in ms. */
  committed(ms: number): void
  suppressed(reason: SuppressionReason): void
  /** These organizations have new events. */
  happened?(organizationIds: ReadonlySet<string>): void
  /** On-demand events may be among them: only the store knows whether their webhook deliveries are due. */
  onDemand?(): void
}

/** Collects what a transaction writes, and reports it after the commit. */
export class CommitReports {
  readonly #listener: CommitListener | undefined
  #suppressed: SuppressionReason[] = []
  #happened = new Set<string>()
  #areOnDemand = false

  constructor(listener: CommitListener | undefined) {
    this.#listener = listener
  }

  suppressed(reason: SuppressionReason): void {
    this.#suppressed.push(reason)
  }

  happened({ organizationId, type }: Event): void {
    this.#happened.add(organizationId)
    this.#areOnDemand ||= isOnDemand(type)
  }

  /** The transaction is durable, after so many ms. */
  committed(ms: number): void {
    this.#listener?.committed(ms)
    for (const reason of this.#suppressed) this.#listener?.suppressed(reason)
    if (this.#happened.size > 0) {
      this.#listener?.happened?.(this.#happened)
      if (this.#areOnDemand) this.#listener?.onDemand?.()
    }
    this.undone()
  }

  /** The transaction was rolled back. */
  undone(): void {
    if (this.#suppressed.length > 0) this.#suppressed = []
    if (this.#happened.size > 0) this.#happened = new Set()
    this.#areOnDemand = false
  }
}
