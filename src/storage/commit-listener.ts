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
