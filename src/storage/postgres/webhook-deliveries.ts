import type { Event } from '../../model/event.ts'
import { FIXED_LIMITS } from '../../model/limits.ts'
import { webhookPausedEvent } from '../../model/on-demand-event.ts'
import { concerns, type Webhook } from '../../model/webhook.ts'
import type { DueIndex } from '../due-index.ts'
import type { Encryption } from '../encryption.ts'
import { webhookDeliveryId } from '../fan-out-targets.ts'
import { type SigningWebhook, toWebhook, WEBHOOK_COLUMNS, type WebhookRow } from '../records/webhooks.ts'
import { slotOf } from '../slots.ts'
import type { ClaimedWebhookDelivery, WebhookDeliveries } from '../store.ts'
import { textArray, valueArray } from './arrays.ts'
import type { Chosen, Leased, Queue } from './claims.ts'
import type { FanOut } from './fan-out.ts'
import type { Kind, MailLane } from './group.ts'
import { insertInto } from './insert.ts'
import type { Mirror } from './mirror.ts'
import { createPostQueue } from './post-queue.ts'
import { readHeaders } from './read-headers.ts'
import type { Reads } from './reads.ts'
import type { Queries, Statements } from './transactions.ts'
import type { Writer } from './writer.ts'

type PostRecord = Parameters<WebhookDeliveries['record']>[0]
type Answer = Awaited<ReturnType<WebhookDeliveries['record']>>

const DETAILS = `select d.id, d.event_id as "eventId", d.type, e.body, e.organization_id as "organizationId",
    e.message_id as "messageId"
  from webhook_deliveries d join events e on e.id = d.event_id where d.id = any($1::text[])`
const FAILED = 'update webhook_deliveries set failed = true where id = any($1::text[])'
// In order of their IDs, so that two groups do not wait for each other.
const COUNT = `update webhooks w set
    last_success_at = coalesce(c.succeeded_at, w.last_success_at),
    last_failure_at = coalesce(c.failed_at, w.last_failure_at),
    consecutive_failures = case when c.since_success then 0 else w.consecutive_failures end + c.failures,
    failing_since = case when c.failing_since is null then case when c.since_success then null else w.failing_since end
      when c.since_success then c.failing_since else coalesce(w.failing_since, c.failing_since) end
  from unnest($1::text[], $2::bigint[], $3::bigint[], $4::boolean[], $5::int[], $6::bigint[])
    as c (id, succeeded_at, failed_at, since_success, failures, failing_since)
  where w.id = c.id`
const WEBHOOKS = `select ${WEBHOOK_COLUMNS} from webhooks where id = any($1::text[])`
const PAUSE = `update webhooks set status = 'paused', disabled_reason = $2, updated_at = $3 where id = $1`
const FIND = `select d.id, d.webhook_id as "webhookId", d.organization_id as "organizationId",
    d.created_at::float8 as "createdAt", q.worker, q.id is not null as "isQueued",
    (select count(*) from webhook_attempts a where a.delivery_id = d.id)::int as attempts
  from webhook_deliveries d left join webhook_queue q on q.id = d.id where d.id = $1 for no key update of d`
const RETRY = `insert into webhook_queue as q
    (id, organization_id, slot, key, due_at, attempts, recorded, attempted_at, recorded_at, accepted_at)
  values ($1, $2, $3, $4, $5, $6, $6, $7, $7, $8) on conflict (id) do update set due_at = excluded.due_at`
const LAST_ATTEMPT = `select number, at::float8 as at from webhook_attempts where delivery_id = $1 order by number desc limit 1`
const PENDING = 'update webhook_deliveries set failed = false where id = $1'
const EVENT_PLACE = 'select created_at::float8 as at, place::float8 as place from events where id = $1'
const EVENTS_OF_RANGE = `select id, type, mode, domain_id as "domainId", created_at::float8 as "createdAt" from events
  where organization_id = $1 and (created_at, place) > ($2, $3) and created_at < $4
    and ($5::text is null or type = $5) order by created_at, place limit $6`
// Of each event, its deliveries to the webhook and how many of them are pending.
const QUEUED_OF = `select d.event_id as "eventId", string_agg(d.id, ' ') as ids, count(q.id)::int as open
  from webhook_deliveries d left join webhook_queue q on q.id = d.id
  where d.event_id = any($1::text[]) and d.webhook_id = $2 group by 1`

const posts = createPostQueue('webhook_queue', 'webhook_attempts')
interface Replayed {
  id: string
  organizationId: string
  webhookId: string
  event: Pick<Event, 'id' | 'type'>
  now: number
}
const addReplayed = insertInto<Replayed>('webhook_deliveries', {
  id: ['text', ({ id }) => id],
  organization_id: ['text', ({ organizationId }) => organizationId],
  webhook_id: ['text', ({ webhookId }) => webhookId],
  event_id: ['text', ({ event }) => event.id],
  type: ['text', ({ event }) => event.type],
  created_at: ['bigint', ({ now }) => now],
})
const queueReplayed = insertInto<Replayed>('webhook_queue', {
  id: ['text', ({ id }) => id],
  organization_id: ['text', ({ organizationId }) => organizationId],
  slot: ['smallint', ({ webhookId }) => slotOf(webhookId)],
  key: ['text', ({ webhookId }) => webhookId],
  due_at: ['bigint', ({ now }) => now],
  accepted_at: ['bigint', ({ now }) => now],
})

export function postgresWebhookDeliveries(
  reads: Reads,
  lane: MailLane,
  inside: {
    writer: Writer
    queue: Queue
    webhooks: Mirror<SigningWebhook>
    dueIndex: DueIndex
    fanOut: FanOut
    encryption: Encryption
  },
): Omit<WebhookDeliveries, 'get' | 'list' | 'ofMessage'> {
  const { writer, queue, webhooks, dueIndex, fanOut, encryption } = inside
  const targetOf = (webhookId: string) => {
    const webhook = webhooks.get(webhookId)
    return webhook?.status === 'active' ? webhook : null
  }
  const record: Kind<PostRecord, Answer> = {
    perform: ({ statements, add }, records) => {
      add.afterCommit(() => queue.finished(records.map(({ deliveryId }) => deliveryId)))
      return recordPosts(statements, records, (key, at) => add.afterCommit(() => dueIndex.offer(key, at)))
    },
  }
  return {
    ...queue.methods(lane, reads, (webhookId) => targetOf(webhookId) !== null),
    claimDue: queue.claimDue(lane, ({ plan, worker }, add) => {
      // As they are now: others were paused since the plan was made.
      const targets = new Map(plan.map(({ key }) => [key, add.isPausing(key) ? null : targetOf(key)]))
      return {
        mayClaim: (key) => targets.get(key) !== null,
        read: (statements, chosen) => readClaimed(statements, chosen, { worker, targets, encryption }),
      }
    }),
    fanOutSome: () => fanOut.some(lane),
    record: (post) => {
      if (post.pauseReason === null) return lane.write(record, post)
      return pausing({ writer, lane, dueIndex }, post, post.pauseReason).finally(() =>
        queue.finished([post.deliveryId]),
      )
    },
    ...repeats(lane, webhooks, dueIndex),
  }
}

/** Writes the result of a claim that pauses its webhook, which is a change of settings with an event. */
function pausing(
  { writer, lane, dueIndex }: { writer: Writer; lane: MailLane; dueIndex: DueIndex },
  post: PostRecord,
  reason: string,
): Promise<Answer> {
  return writer.writeSettingsIn(lane, async ({ statements, add }): Promise<Answer> => {
    const offer = (key: string, at: number) => add.afterCommit(() => dueIndex.offer(key, at))
    const [recorded] = await recordPosts(statements, [post], offer)
    if (recorded?.kind !== 'recorded') return { kind: 'lease_lost' }
    const { id, status } = recorded.webhook
    await statements.run(PAUSE, [id, reason, post.now])
    statements.changed('webhook', id)
    const [webhook] = await readWebhooks(statements, [id])
    if (webhook === undefined) return recorded
    if (status === 'active') {
      add.pausing(id)
      add.onDemand.offer(webhookPausedEvent(webhook, post.now))
    }
    return { kind: 'recorded', webhook }
  })
}

interface Claiming {
  worker: string
  targets: ReadonlyMap<string, SigningWebhook | null>
  encryption: Encryption
}

async function readClaimed(
  queries: Queries,
  chosen: readonly Chosen[],
  { worker, targets, encryption }: Claiming,
): Promise<(rows: readonly Leased[]) => ClaimedWebhookDelivery[]> {
  const details = await queries.query<
    Pick<ClaimedWebhookDelivery, 'id' | 'eventId' | 'type' | 'body' | 'organizationId' | 'messageId'>
  >(DETAILS, [textArray(chosen.map(({ id }) => id))])
  const byId = new Map(details.map((detail) => [detail.id, detail]))
  const endpoints = [...targets.values()].filter((webhook) => webhook !== null)
  const headersOf = await readHeaders(queries, 'webhooks', endpoints, encryption)
  return (rows) =>
    rows.map(({ id, key, attempts }) => {
      const detail = byId.get(id)
      const webhook = targets.get(key) ?? null
      if (detail === undefined || webhook === null) throw new Error(`${id} waits and has no event or no webhook`)
      const { url, format, secrets } = webhook
      const headers = headersOf.get(key) ?? []
      return { ...detail, webhookId: key, url, format, secrets, headers, attempt: attempts, worker }
    })
}

/** Writes results of claims → the answers, in order. `offer`: a key has something due again. */
async function recordPosts(
  statements: Statements,
  records: readonly PostRecord[],
  offer: (key: string, at: number) => void,
): Promise<Answer[]> {
  const webhookOf = await posts.held(statements, records)
  const recorded = records.flatMap((record, at) => {
    const webhookId = webhookOf[at] ?? null
    return webhookId === null ? [] : [{ ...record, webhookId }]
  })
  if (recorded.length === 0) return records.map(() => ({ kind: 'lease_lost' }))
  for (const { webhookId, nextAttemptAt } of recorded) if (nextAttemptAt !== null) offer(webhookId, nextAttemptAt)
  const failed = recorded.filter(({ status }) => status === 'failed')
  const [, , , webhooks] = await Promise.all([
    posts.record(statements, recorded),
    failed.length === 0 ? 0 : statements.run(FAILED, [textArray(failed.map(({ deliveryId }) => deliveryId))]),
    countResults(statements, recorded),
    readWebhooks(statements, [...new Set(recorded.map(({ webhookId }) => webhookId))]),
  ])
  const byId = new Map(webhooks.map((webhook) => [webhook.id, webhook]))
  return webhookOf.map((id): Answer => {
    const webhook = id === null ? undefined : byId.get(id)
    return webhook === undefined ? { kind: 'lease_lost' } : { kind: 'recorded', webhook }
  })
}

async function readWebhooks({ query }: Queries, ids: readonly string[]): Promise<Webhook[]> {
  return (await query<WebhookRow>(WEBHOOKS, [textArray(ids)])).map(toWebhook)
}

/** Results of one webhook in order: times of the last success and failure, and failures since then. */
interface Results {
  webhookId: string
  succeededAt: number | null
  failedAt: number | null
  failures: number
  failingSince: number | null
}

async function countResults(
  { run }: Statements,
  records: readonly (PostRecord & { webhookId: string })[],
): Promise<void> {
  const byWebhook = new Map<string, Results>()
  for (const { webhookId, status, now } of records) {
    const known = byWebhook.get(webhookId)
    const results = known ?? { webhookId, succeededAt: null, failedAt: null, failures: 0, failingSince: null }
    byWebhook.set(webhookId, results)
    if (status === 'delivered') Object.assign(results, { succeededAt: now, failures: 0, failingSince: null })
    else {
      results.failedAt = now
      results.failingSince ??= now
      if (status === 'failed') results.failures++
    }
  }
  const rows = [...byWebhook.values()].sort((one, other) => (one.webhookId < other.webhookId ? -1 : 1))
  await run(COUNT, [
    valueArray(rows.map(({ webhookId }) => webhookId)),
    valueArray(rows.map(({ succeededAt }) => succeededAt)),
    valueArray(rows.map(({ failedAt }) => failedAt)),
    valueArray(rows.map(({ succeededAt }) => succeededAt !== null)),
    valueArray(rows.map(({ failures }) => failures)),
    valueArray(rows.map(({ failingSince }) => failingSince)),
  ])
}

/** Manual retries and replays. */
function repeats(
  lane: MailLane,
  webhooks: Mirror<SigningWebhook>,
  dueIndex: DueIndex,
): Pick<WebhookDeliveries, 'retry' | 'replay'> {
  return {
    retry: (id, now) =>
      lane.perform(async ({ statements, add }) => {
        const { query, run } = statements
        const [found] = await query<{
          webhookId: string
          organizationId: string
          createdAt: number
          worker: string | null
          attempts: number
        }>(FIND, [id])
        if (found === undefined) throw new Error(`there is no webhook delivery ${id}`)
        if (found.attempts >= FIXED_LIMITS.webhookAttempts) return 'limit'
        if (found.worker !== null) return 'under_way'
        const { webhookId, organizationId, createdAt } = found
        const [last] = await query<{ number: number; at: number }>(LAST_ATTEMPT, [id])
        const counts = [last?.number ?? 0, last?.at ?? null]
        await run(RETRY, [id, organizationId, slotOf(webhookId), webhookId, now, ...counts, createdAt])
        await run(PENDING, [id])
        add.afterCommit(() => dueIndex.offer(webhookId, now))
        return 'queued'
      }),
    replay: (webhookId, { from, before, type, afterEvent }, limit, now) =>
      lane.perform(async ({ statements, add }) => {
        const { query } = statements
        const webhook = webhooks.get(webhookId) // none if it is being removed
        if (webhook === null) throw new Error(`there is no webhook ${webhookId}`)
        const { organizationId } = webhook
        const [start] = afterEvent === null ? [] : await query<{ at: number; place: number }>(EVENT_PLACE, [afterEvent])
        const { at, place } = start ?? { at: from, place: 0 }
        const found = await query<Pick<Event, 'id' | 'type' | 'mode' | 'domainId' | 'createdAt'>>(EVENTS_OF_RANGE, [
          organizationId,
          at,
          place,
          before,
          type,
          limit + 1,
        ])
        const events = found.slice(0, limit)
        const known = await query<{ eventId: string; ids: string; open: number }>(QUEUED_OF, [
          textArray(events.map(({ id }) => id)),
          webhookId,
        ])
        const queuedOf = new Map(known.map((row) => [row.eventId, row]))
        const rows = events.flatMap((event): Replayed[] => {
          const { ids, open } = queuedOf.get(event.id) ?? { ids: '', open: 0 }
          const id = webhookDeliveryId(event.id, webhookId, now)
          const before = ids.split(' ')
          const isRefused = open > 0 || before.length >= FIXED_LIMITS.replaysOfEvent || before.includes(id)
          return isRefused || !concerns(webhook, event) ? [] : [{ id, organizationId, webhookId, event, now }]
        })
        await addReplayed(statements, rows)
        await queueReplayed(statements, rows)
        add.afterCommit(() => dueIndex.offer(webhookId, now))
        return { queued: rows.length, more: found.length > limit ? (events.at(-1)?.id ?? null) : null }
      }),
  }
}
