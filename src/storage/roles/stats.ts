import type { Mode } from '../../model/message.ts'
import type { Counts } from '../../model/stats.ts'

export interface StatsFilter {
  organizationId: string
  /** Null = all of the organization, with those that were removed. */
  domainId: string | null
  /** Null = whatever the tags. */
  tag: string | null
  mode: Mode
}

/** Counters, kept in the very transactions that accept messages and tell events. They outlive what they count. */
export interface Stats {
  /** Counts of each hour that begins at one of `starts` (ms UTC), in their order. */
  hours(filter: StatsFilter, starts: readonly number[]): Promise<Counts[]>
  /** Counts of each span of whole days, midnight to midnight UTC; `before` is exclusive. */
  days(filter: StatsFilter, spans: readonly { from: number; before: number }[]): Promise<Counts[]>
}
