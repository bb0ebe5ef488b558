import type { LimitReached } from '../../model/limits.ts'

/** Counters for plan limits that are not counted from records (model/limits.ts). */
export interface UsageCounts {
  /** Test recipients and forwards of the month and day of `now`; totals of the rest. */
  of(
    organizationId: string,
    now: number,
  ): Promise<Record<'storedBytes' | 'testMessages' | 'forwards' | 'scheduledMessages' | 'suppressions', number>>
  /** Whether nothing more may be stored for an organization. */
  isStorageFull(organizationId: string): Promise<boolean>
  /** Whether so many more recipients may be forwarded to now: null, or the limit. */
  forwardsReached(organizationId: string, recipients: number, now: number): Promise<LimitReached | null>
  /** Starts a recount of all stored bytes, to repair a wrong counter; does nothing while one is in progress. */
  beginCount(): Promise<void>
  /** Runs one step of a recount, some milliseconds; true while there is more. */
  countSome(): Promise<boolean>
  /** Deletes at most `limit` counts of past days; returns the number deleted. */
  prune(now: number, limit: number): Promise<number>
}
