import { iso } from './event.ts'
import type { Plan } from './organization.ts'
import { Refusal } from './refusal.ts'

/** The table of limits: everything that a tenant or a stranger can make the server keep, and the number that ends it. The
 *  manual's page `plans` has the same rows; test/api/limits.test.ts compares them. */

/** A limit of the plan, by its name in the config, on the wire and in `details.limit_name`. */
export type LimitName = keyof typeof PLAN_LIMITS

interface PlanLimit {
  /** Its key of the plan. */
  of: Exclude<keyof Plan, 'requestsPerMinute' | 'retentionDays' | 'templateVersions'>
  /** What is counted, after "Your plan allows N ". */
  counts: string
  /** When the count starts again; null = never by itself. */
  resets: 'month' | 'day' | null
}

/** Beyond one of these a request gets 422 `quota_exceeded` with `details {limit_name, limit, used, resets_at}`. */
export const PLAN_LIMITS = {
  messages_per_month: { of: 'messagesPerMonth', counts: 'recipients per month', resets: 'month' },
  test_messages_per_month: { of: 'testMessagesPerMonth', counts: 'test recipients per month', resets: 'month' },
  forwards_per_day: { of: 'forwardsPerDay', counts: 'forwarded recipients per day', resets: 'day' },
  domains: { of: 'domains', counts: 'domains', resets: null },
  webhooks: { of: 'webhooks', counts: 'webhooks', resets: null },
  inbound_routes: { of: 'inboundRoutes', counts: 'inbound routes', resets: null },
  templates: { of: 'templates', counts: 'templates', resets: null },
  api_keys: { of: 'apiKeys', counts: 'API keys', resets: null },
  scheduled_messages: { of: 'scheduledMessages', counts: 'scheduled messages', resets: null },
  stored_bytes: { of: 'storedBytes', counts: 'stored bytes', resets: null },
  suppressions: { of: 'suppressions', counts: 'suppressions', resets: null },
} as const satisfies Record<string, PlanLimit>

/** The same numbers for everybody. */
export const FIXED_LIMITS = {
  /** Revoked and expired keys whose records are kept, for each organization: the oldest go when a key is created. */
  deadKeys: 1000,
  /** Attempts of one webhook delivery, those asked for by hand among them. */
  webhookAttempts: 100,
  /** Deliveries of one event to one webhook: the first and replays. */
  replaysOfEvent: 10,
  /** Deliveries of one inbound message to its endpoint: the first and those asked for by hand. */
  redeliveries: 50,
  /** Reports of one kind kept of one delivery: some automatic answers are usual, nobody sends so many. Other kinds still
   *  count, so that a flood of one hides no bounce. */
  reportsOfKind: 50,
  /** Events of opens, and of clicks, of one delivery; more are only counted. */
  eventsOfEngagement: 100,
  /** Tags of an organization that are counted apart in one day; mail with others counts without its tag. */
  tagsPerDay: 1000,
  /** Audit entries of refused requests of one organization in an hour; more are only logged. */
  refusalsPerHour: 1000,
  /** Audited changes of one organization in a day, by its API keys; more are 429, but for DELETE. Each leaves an entry for a
   *  year, some 400 bytes. */
  changesPerDay: 50_000,
  /** Confirmation mails to one forward target in a day, from all organizations together. */
  confirmationsPerTarget: 3,
  /** Confirmation mails of one organization in a day. */
  confirmationsPerDay: 100,
  /** Recipients that one inbound mail may be forwarded to, over all routes of the SMTP transaction. */
  forwardsOfMail: 50,
  /** Times that one route forwards mail of one Message-ID in an hour. */
  forwardsOfMessageId: 100,
} as const

/** What a change would pass: nothing was written. */
export interface LimitReached {
  kind: 'limit'
  name: LimitName
  limit: number
  used: number
}

/** Limit and the present → the refusal that a client gets: 422 `quota_exceeded`, with `more` in its details. Never throws. */
export function limitRefusal(
  { name, limit, used }: Omit<LimitReached, 'kind'>,
  now: number,
  more: Record<string, unknown> = {},
): Refusal {
  const { counts, resets } = PLAN_LIMITS[name]
  return new Refusal('quota_exceeded', `Your plan allows ${limit} ${counts}; ${used} are already used.`, {
    details: { limit_name: name, limit, used, resets_at: resetsAt(resets, now), ...more },
  })
}

/** Result of a change → itself, unless it met a limit. Throws the Refusal then. */
export function withinLimit<T>(result: T, now: number): Exclude<T, LimitReached> {
  if (isLimit(result)) throw limitRefusal(result, now)
  return result as Exclude<T, LimitReached>
}

function isLimit(result: unknown): result is LimitReached {
  return typeof result === 'object' && result !== null && 'kind' in result && result.kind === 'limit'
}

/** The calendar month of UTC that volume is counted in: `2026-11`. */
export function monthOf(now: number): string {
  return iso(now).slice(0, 7)
}

/** The day of UTC: `2026-11-22`. */
export function dayOf(now: number): string {
  return iso(now).slice(0, 10)
}

/** When the month after it begins, ms UTC. */
export function nextMonth(now: number): number {
  const date = new Date(now)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
}

/** When the day after it begins, ms UTC. */
export function nextDay(now: number): number {
  const date = new Date(now)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + 1)
}

function resetsAt(resets: PlanLimit['resets'], now: number): string | null {
  if (resets === null) return null
  return iso(resets === 'month' ? nextMonth(now) : nextDay(now))
}
