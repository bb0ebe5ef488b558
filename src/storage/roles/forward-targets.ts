import type { AskResult, ForwardTargetStatus } from '../../model/forward-target.ts'

/** External addresses in forward routes. A confirmation applies to the organization and all its routes. Addresses
 *  are compared without case. */
export interface ForwardTargets {
  /** `pending` for an address that was never asked. */
  status(organizationId: string, email: string): Promise<ForwardTargetStatus>
  /** Counts a confirmation mail that is about to be sent, unless none is needed or a daily limit is reached: for the
   *  address over all organizations, or for this organization (FIXED_LIMITS). */
  ask(organizationId: string, email: string, now: number): Promise<AskResult>
  set(organizationId: string, email: string, status: ForwardTargetStatus, now: number): Promise<void>
  /** Deletes at most `limit` targets whose last request is older than `before` and unanswered; returns the number
   *  deleted. */
  prune(before: number, limit: number): Promise<number>
}
