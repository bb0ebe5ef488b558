import { webhookPausedEvent } from '../../model/on-demand-event.ts'
import { partition } from '../../os/partition.ts'
import type { DueIndex } from '../due-index.ts'
import type { Encryption } from '../encryption.ts'
import { changed, run, sql, type Work } from '../sql.ts'
import type { ClaimedWebhookDelivery, ClaimRequest, WebhookDeliveries } from '../store.ts'
import { claimBy, queueOn } from './claim.ts'
import { each, writeEach } from './each.ts'
import { appendAll, type NewEvent } from './events.ts'
import { headersOf } from './headers.ts'
import type { MailInside } from './inside.ts'
import { resultsOn, settleAll } from './post-results.ts'

const QUEUE = queueOn('webhookDeliveries')

/** What a post contains, beside its endpoint. */
type PostRow = Omit<ClaimedWebhookDelivery, 'url' | 'format' | 'secrets' | 'headers' | 'worker'> & { number: number }

const CLAIMED = each<{ number: number }, PostRow>(
  { number: ['bigint', ({ number }) => number] },
  `select d.number::float8 as number, d.id, d.webhook_id as "webhookId", d.attempts as attempt, d.type, e.id as "eventId", e.body, e.organization_id as "organizationId",
    e.message_id as "messageId"
  from rows r, webhook_deliveries d, events e where d.number = r.number and e.number = d.event_number`,
)

/** Leases deliveries to webhooks by the plan → those; none of webhooks that were paused since it was made. */
export function* claimPosts(
  inside: MailInside,
  { dueIndex, encryption }: { dueIndex: DueIndex; encryption: Encryption },
  request: ClaimRequest,
): Work<ClaimedWebhookDelivery[]> {
  const [plan, paused] = partition(request.plan, ({ key }) => inside.webhooks.get(key)?.status === 'active')
  if (paused.length > 0) inside.afterCommit(() => dueIndex.putBack(paused))
  const leased = yield* claimBy(inside, { queue: QUEUE, dueIndex }, { ...request, plan }, CLAIMED)
  const endpoints = plan.map(({ key }) => inside.webhooks.get(key)).filter((webhook) => webhook !== null)
  const headers = yield* headersOf('webhooks', endpoints, encryption)
  return leased.map(({ number: _, ...post }) => {
    const webhook = inside.webhooks.get(post.webhookId)
    if (webhook === null) throw new Error(`webhook delivery ${post.id} waits and has no webhook`)
    const { url, format, secrets } = webhook
    return { ...post, url, format, secrets, headers: headers.get(post.webhookId) ?? [], worker: request.worker }
  })
}

export type PostRecord = Parameters<WebhookDeliveries['record']>[0]
export type PostAnswer = Awaited<ReturnType<WebhookDeliveries['record']>>

const RESULTS = resultsOn('webhookDeliveries', 'webhook_attempts')

interface Settled {
  webhookId: string
  record: PostRecord
}

/** Results of one webhook in order: times of the last success and failure, and failures since then. */
interface Results {
  webhookId: string
  succeededAt: number | null
  failedAt: number | null
  failures: number
  failingSince: number | null
}

/** Successes of a webhook that are closer together are not written: of two nodes that post to it, each would wait for the
 *  commits of the other. */
const SUCCESSES_APART_MS = 1_000

const COUNT = each<Results>(
  {
    id: ['text', ({ webhookId }) => webhookId],
    succeeded_at: ['bigint', ({ succeededAt }) => succeededAt],
    failed_at: ['bigint', ({ failedAt }) => failedAt],
    since_success: ['boolean', ({ succeededAt }) => succeededAt !== null],
    failures: ['int', ({ failures }) => failures],
    failing_since: ['bigint', ({ failingSince }) => failingSince],
  },
  `update webhooks as w set last_success_at = coalesce(r.succeeded_at, w.last_success_at),
    last_failure_at = coalesce(r.failed_at, w.last_failure_at),
    consecutive_failures = case when r.since_success then 0 else w.consecutive_failures end + r.failures,
    failing_since = case when r.failing_since is null then case when r.since_success then null else w.failing_since end
      when r.since_success then r.failing_since else coalesce(w.failing_since, r.failing_since) end
  from rows r where w.id = r.id and (r.failed_at is not null or w.failing_since is not null
    or w.last_success_at is null or w.last_success_at <= r.succeeded_at - ${SUCCESSES_APART_MS})`,
)
// Not again if another node has just done it, and not for a post that began before the webhook was changed or resumed.
const PAUSE = sql(`update webhooks set status = 'paused', disabled_reason = $2, updated_at = $3
  where id = $1 and status = 'active' and updated_at <= $4`)

/** Writes the results of claims → the answer to each, in order. */
export function* recordPosts(inside: MailInside, records: readonly PostRecord[]): Work<PostAnswer[]> {
  const held = yield* settleAll(inside, RESULTS, records)
  const settled: Settled[] = []
  for (const [at, record] of records.entries()) {
    const row = held[at]
    if (row) settled.push({ webhookId: row.key, record })
  }
  if (settled.length > 0) {
    yield* writeEach(COUNT, resultsOf(settled))
    const paused = yield* pauseAll(inside, settled)
    if (paused.length > 0) yield* appendAll(inside, paused)
  }
  return held.map((row) => (row === null ? 'lease_lost' : 'recorded'))
}

/** Pauses webhooks → the events of those that were active. */
function* pauseAll(inside: MailInside, settled: readonly Settled[]): Work<NewEvent[]> {
  const paused: NewEvent[] = []
  for (const { webhookId, record } of settled) {
    const { pauseReason: disabledReason, attempt, now } = record
    if (disabledReason === null) continue
    const webhook = inside.webhooks.get(webhookId)
    if ((yield* run(PAUSE, webhookId, disabledReason, now, attempt.at)) === 0) continue
    inside.pausing(webhookId)
    if (webhook !== null) paused.push({ offered: webhookPausedEvent({ ...webhook, disabledReason }, now) })
    yield* changed('webhook', webhookId)
  }
  return paused
}

function resultsOf(settled: readonly Settled[]): Results[] {
  const byWebhook = new Map<string, Results>()
  for (const { webhookId, record } of settled) {
    const results: Results = byWebhook.get(webhookId) ?? {
      webhookId,
      succeededAt: null,
      failedAt: null,
      failures: 0,
      failingSince: null,
    }
    byWebhook.set(webhookId, results)
    if (record.status === 'delivered') {
      results.succeededAt = record.now
      results.failures = 0
      results.failingSince = null
    } else {
      results.failedAt = record.now
      results.failingSince ??= record.now
      if (record.status === 'failed') results.failures++
    }
  }
  const all = [...byWebhook.values()]
  return all.length === 1 ? all : all.sort((one, other) => (one.webhookId < other.webhookId ? -1 : 1))
}
