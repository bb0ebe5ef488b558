/** Counters of mail, by recipient. An occurrence counts in the period in which it happened or became known: a bounce
 *  after delivery leaves `delivered` unchanged. Names are the API's in camel case; a field that the API does not
 *  have says why. */
export const COUNTED = [
  /** Recipients of accepted messages, including suppressed ones. */
  'accepted',
  'delivered',
  /** Every deferral, so one recipient may count more than once. */
  'deferred',
  /** Final bounces. A soft bounce that will be retried is a deferral. */
  'hardBounced',
  'softBounced',
  /** Part of both bounce counts: deliveries that had counted as delivered. Needed for rates, which count each
   *  recipient once. */
  'lateBounced',
  /** Opens and clicks by people, as far as Postrider can detect; `unique` counts the first of each recipient. */
  'opened',
  'uniqueOpened',
  'clicked',
  'uniqueClicked',
  /** Opens and clicks by proxies and scanners, counted separately and not in the API. */
  'machineOpened',
  'machineClicked',
  'unsubscribed',
  'complained',
  /** Recipients that got no delivery attempt, or no further one, because they are suppressed. */
  'suppressed',
  /** Answers of people to a message; one recipient may answer more than once. */
  'replied',
] as const

export type Counted = (typeof COUNTED)[number]
export type Counts = Record<Counted, number>

/** What statistics can be grouped by. */
export const STATS_GROUPINGS = ['domain', 'tag', 'stream', 'template', 'provider'] as const
export type StatsGrouping = (typeof STATS_GROUPINGS)[number]

/** All counters zero. */
export function noCounts(): Counts {
  return Object.fromEntries(COUNTED.map((name) => [name, 0])) as Counts
}

/** Adds counts to a total, or takes them away → the total. */
export function addCounts(total: Counts, added: Counts, sign: 1 | -1 = 1): Counts {
  for (const name of COUNTED) total[name] += sign * added[name]
  return total
}

/** What the change that creates an event adds for counting. */
export interface CountingContext {
  /** True if this recipient already had such an event (opens and clicks). */
  isRepeat?: boolean
  /** True for a bounce of a delivery that had counted as delivered. */
  isLate?: boolean
  /** Template of the message; null or absent: none. */
  templateId?: string | null
  /** Host of the delivery's last attempt; null: none was found. Absent: the event does not follow from attempts. */
  mxHost?: string | null
}

/** Recipients with a final result, each once: delivered or bounced. */
export function sentOf({ delivered, lateBounced }: Pick<Counts, 'delivered' | 'lateBounced'>, bounced: number): number {
  return bounced + keptDelivered({ delivered, lateBounced })
}

/** Delivered and not bounced later. The bounce may fall into another period, in which nothing was delivered. */
export function keptDelivered({ delivered, lateBounced }: Pick<Counts, 'delivered' | 'lateBounced'>): number {
  return Math.max(0, delivered - lateBounced)
}

/** Part of a whole, from 0 to 1; 0 if the whole is 0. */
export function share(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.min(1, part / whole)
}
