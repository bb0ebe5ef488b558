import type { WarmupCounts, WarmupDay, WarmupKey } from '../../model/warmup.ts'

/** Counts of sending addresses in warm-up, shared by all nodes. */
export interface Warmups {
  /** All days of these addresses, the oldest first. */
  days(addresses: readonly string[]): Promise<WarmupDay[]>
  /** Counts mails before they are sent: of each request up to `count`, while the day's `sent` stays within `most`. Returns
   *  for each how many were counted, and `sent` after that. No two requests have the same key. */
  take(requests: readonly (WarmupKey & { count: number; most: number })[]): Promise<{ taken: number; sent: number }[]>
  /** Adds to the counts of days; a negative `sent` takes back mails that were not sent. No count falls below 0. No two
   *  entries have the same key. */
  add(entries: readonly (WarmupKey & Partial<WarmupCounts>)[]): Promise<void>
}
