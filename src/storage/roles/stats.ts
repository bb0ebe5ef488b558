import type { Mode } from '../../model/message.ts'
import type { Counts, StatsGrouping } from '../../model/stats.ts'

export interface StatsFilter {
  organizationId: string
  /** Null = all domains of the organization, including removed ones. */
  domainId: string | null
  /** Null = all tags. */
  tag: string | null
  /** Null or absent = all streams. Used only without a tag. */
  stream?: string | null
  mode: Mode
}

/** Whole hours or days, UTC: from `from` to before `before`, both the beginning of one, ms. */
export interface StatsSpan {
  from: number
  before: number
  unit: 'hour' | 'day'
}

/** Counters, updated in the transactions that accept messages and write events. They remain after the counted
 *  records are removed. */
export interface Stats {
  /** Counts of each hour that begins at one of `starts` (ms UTC), in that order. */
  hours(filter: StatsFilter, starts: readonly number[]): Promise<Counts[]>
  /** Counts of each range of whole days, midnight to midnight UTC; `before` is exclusive. */
  days(filter: StatsFilter, spans: readonly { from: number; before: number }[]): Promise<Counts[]>
  /** Counts of a span by the ID of the domain, by tag, stream, ID of the template, or provider (model/destination-group.ts);
   *  without groups that counted nothing. Mail with several tags counts in each, mail without a template in none. A recipient
   *  is accepted for a provider with the first attempt at one of its hosts. '' sums up the templates and providers beyond the
   *  limit of a day, and mail for which no host was found. But for domains, the filter's tag and stream are ignored: their
   *  counts are not kept together. */
  groups(filter: StatsFilter, by: StatsGrouping, span: StatsSpan): Promise<Map<string, Counts>>
}
