import { iso } from './event.ts'
import type { Plan } from './organization.ts'
import { Refusal } from './refusal.ts'

/** The table of limits: everything that tenants and outside senders can make the server store, with its maximum. The
 *  manual's page `plans` has the same rows; test/api/limits.test.ts compares them. */

/** A limit of the plan. Its name is the same in the config, in the API and in `details.limit_name`. */
export type LimitName = keyof typeof PLAN_LIMITS

interface PlanLimit {
  /** The key of the plan. */
  of: Exclude<keyof Plan, 'requestsPerMinute' | 'retentionDays' | 'templateVersions' | 'dedicatedAddress'>
  /** What is counted, as the text after "Your plan allows N ". */
  counts: string
  /** When the count resets; null = never by itself. */
  resets: 'month' | 'day' | null
}

/** Limits whose excess is answered with 422 `quota_exceeded` and `details {limit_name, limit, used, resets_at}`. */
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

/** Limits that are the same for every plan. */
export const FIXED_LIMITS = {
  /** Stored revoked and expired keys per organization. Creating a key deletes the oldest beyond the limit. */
  inactiveKeys: 1000,
  /** Attempts per webhook delivery, including manual ones. */
  webhookAttempts: 100,
  /** Deliveries per event and webhook: the first one and replays. */
  replaysOfEvent: 10,
  /** Deliveries per inbound message to its endpoint: the first one and manual ones. */
  redeliveries: 50,
  /** Stored reports per delivery and kind. Some automatic replies are normal, but not this many. Other kinds still
   *  count, so that a flood of one kind hides no bounce. */
  reportsOfKind: 50,
  /** Open events, and click events, per delivery; further ones are only counted. */
  eventsOfEngagement: 100,
  /** Tags per organization and day with statistics of their own; mail with other tags counts without its tag. */
  tagsPerDay: 1000,
  /** Audit entries for rejected requests, per organization and hour; further ones are only logged. */
  refusalsPerHour: 1000,
  /** Audited changes by API keys, per organization and day. Further ones except DELETE get 429. Each leaves an entry
   *  of about 400 bytes for a year. */
  changesPerDay: 50_000,
  /** Confirmation mails per forward target and day, from all organizations together. */
  confirmationsPerTarget: 3,
  /** Confirmation mails per organization and day. */
  confirmationsPerDay: 100,
  /** Recipients to which one inbound mail may be forwarded, over all routes of the SMTP transaction. */
  forwardsOfMail: 50,
  /** Forwards of mails with the same Message-ID, per route and hour. */
  forwardsOfMessageId: 100,
  /** DMARC and TLS reports received about a domain per UTC day from reporters that are not large (reporter.ts), and those
   *  of one reporter; further ones are accepted and dropped. Large reporters send one a day, some one an hour. */
  reportsPerDay: 500,
  reportsOfReporter: 50,
  /** The part of them that unknown reporters can use, and one of these. */
  reportsOfUnknownPerDay: 100,
  reportsOfUnknownReporter: 5,
  /** Messages, and TLS sessions, per domain, reporter and UTC day of receipt that count; reports that claim more count in
   *  proportion. A small receiver with more is unlikely. */
  reportedMessages: 10_000,
  reportedMessagesOfLarge: 10_000_000,
  /** Stored sources per domain and day of the reports, with each reporter one; the messages of further ones are stored
   *  as one sum. */
  reportedSources: 1000,
  /** The part of them, and of reportedTlsResults, that unknown reporters can use. */
  reportedByUnknown: 200,
  /** Stored results of TLS reports per domain and day, with each reporter one; the sessions of further ones are stored as
   *  one sum of successes and one of failures. Large domains have some hundred. */
  reportedTlsResults: 1000,
} as const

/** Counts of past days are kept for a month, for questions about them. */
export const USAGE_KEPT_MS = 31 * 86_400_000

/** The limit that a change would exceed. Nothing was written. */
export interface LimitReached {
  kind: 'limit'
  name: LimitName
  limit: number
  used: number
}

/** Limit and current use → the refusal for the client: 422 `quota_exceeded`, with `more` added to its details. Never
 *  throws. */
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

/** Returns the result of a change. Throws the Refusal if the change met a limit. */
export function withinLimit<T>(result: T, now: number): Exclude<T, LimitReached> {
  if (isLimit(result)) throw limitRefusal(result, now)
  return result as Exclude<T, LimitReached>
}

function isLimit(result: unknown): result is LimitReached {
  return typeof result === 'object' && result !== null && 'kind' in result && result.kind === 'limit'
}

/** Time (ms UTC) → the UTC calendar month in which volume is counted, for example `2026-11`. */
export function monthOf(now: number): string {
  if (!(now >= month.from && now < month.until))
    month = { from: now, until: nextMonth(now), text: iso(now).slice(0, 7) }
  return month.text
}

/** The month of the last call: accepting a message needs it several times. */
let month = { from: 0, until: 0, text: '' }

/** Time (ms UTC) → the UTC day, for example `2026-11-22`. */
export function dayOf(now: number): string {
  return iso(now).slice(0, 10)
}

/** Start of the next UTC month, ms UTC. */
export function nextMonth(now: number): number {
  const date = new Date(now)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
}

/** Start of the next UTC day, ms UTC. */
export function nextDay(now: number): number {
  const date = new Date(now)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + 1)
}

function resetsAt(resets: PlanLimit['resets'], now: number): string | null {
  if (resets === null) return null
  return iso(resets === 'month' ? nextMonth(now) : nextDay(now))
}
