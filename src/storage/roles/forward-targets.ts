import type { AskResult, ForwardTargetStatus } from '../../model/forward-target.ts'

/** Addresses elsewhere that forward routes name: a confirmation is the organization's, whatever the route. Addresses are
 *  compared without case. */
export interface ForwardTargets {
  /** `pending` for one that nobody asked. Synchronous: asked for at every mail. */
  status(organizationId: string, email: string): ForwardTargetStatus
  /** Counts a confirmation mail that is about to be sent, unless nothing is to be asked or too much was asked today, of the
   *  address by all organizations together or by this organization (FIXED_LIMITS). */
  ask(organizationId: string, email: string, now: number): Promise<AskResult>
  set(organizationId: string, email: string, status: ForwardTargetStatus, now: number): Promise<void>
  /** Forgets at most `limit` that were asked last before `before` and never answered; answers how many went. */
  prune(before: number, limit: number): Promise<number>
  /** Those that count as confirmed because their routes were there before targets were asked. */
  countByUpgrade(): Promise<number>
}
