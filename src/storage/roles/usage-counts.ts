import type { LimitReached } from '../../model/limits.ts'

/** What organizations have used of the limits of their plans, where it is not counted by looking (model/limits.ts). */
export interface UsageCounts {
  /** Of test recipients and forwards in the month and the day of `now`; the rest in all. */
  of(
    organizationId: string,
    now: number,
  ): Promise<Record<'storedBytes' | 'testMessages' | 'forwards' | 'scheduledMessages' | 'suppressions', number>>
  /** Whether nothing more may be stored for an organization. Synchronous: asked for at every RCPT. */
  isStorageFull(organizationId: string): boolean
  /** Whether so many recipients more may be forwarded to now: null, or the limit. Synchronous, like that. */
  forwardsReached(organizationId: string, recipients: number, now: number): LimitReached | null
  /** Begins to count all stored bytes from the beginning, to repair what went wrong; nothing while such a count is under
   *  way. */
  beginCount(): Promise<void>
  /** A step of a count under way, some milliseconds; true while there is more of it. */
  countSome(): Promise<boolean>
  /** Forgets at most `limit` counts of days that are long over; answers how many went. */
  prune(now: number, limit: number): Promise<number>
}
