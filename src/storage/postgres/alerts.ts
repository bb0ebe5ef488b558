import type { Alert, ChannelRecord, Notice } from '../../model/alert.ts'
import type { Alerts } from '../store.ts'
import { textArray } from './arrays.ts'
import type { Reads } from './reads.ts'
import type { Statements } from './transactions.ts'
import type { Writer } from './writer.ts'

const COLUMNS = `a.id, a.kind, a.subject, a.node, a.severity, a.message, a.advice, a.state,
  a.first_seen_at::float8 as "firstSeenAt", a.last_seen_at::float8 as "lastSeenAt",
  a.missing_since::float8 as "missingSince", a.raised_at::float8 as "raisedAt", a.resolved_at::float8 as "resolvedAt"`
const OPEN = `select ${COLUMNS} from alerts a where a.state <> 'resolved'
  order by a.kind, a.subject, a.node`
const ENDED = `select ${COLUMNS} from alerts a where a.state = 'resolved' order by a.resolved_at desc, a.id desc limit $1`
const OF = `select ${COLUMNS} from alerts a where a.id = any($1::text[])`
const ADD = `insert into alerts (id, kind, subject, node, severity, message, advice, state, first_seen_at, last_seen_at,
    missing_since, raised_at, resolved_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) on conflict do nothing`
const UPDATE = `update alerts set severity = $2, message = $3, advice = $4, state = $5, last_seen_at = $6,
    missing_since = $7, raised_at = $8, resolved_at = $9
  where id = $1 and state = $10`
const DROP = `delete from alerts where id = $1 and state = 'pending'`
const WITHDRAW = `delete from alert_notices where alert_id = $1 and status = 'pending' and attempts = 0`
const ADD_END = `insert into alert_notices (alert_id, channel, event, round, status, attempts, next_attempt_at)
  select alert_id, channel, 'resolved', 0, 'pending', 0, $2::bigint from alert_notices
  where alert_id = $1 and event = 'firing' and round = 0 on conflict do nothing`
const NOTICE = `n.alert_id as "alertId", n.channel, n.event, n.round, n.status, n.attempts, n.ended_at::float8 as "endedAt"`
const NOTICES = `select ${NOTICE} from alerts a join alert_notices n on n.alert_id = a.id
  where a.state <> 'resolved' and a.state = 'firing'`
const ADD_NOTICE = `insert into alert_notices (alert_id, channel, event, round, status, attempts, next_attempt_at)
  select id, $2::text, $3::text, $4::int, 'pending', 0, $5::bigint from alerts where id = $1 and state = 'firing'
  on conflict do nothing`
const DUE = `select ${NOTICE} from alert_notices n
  where n.status = 'pending' and n.next_attempt_at <= $1 and n.channel = any($2::text[])
    and (n.event = 'firing' or not exists (select 1 from alert_notices f where f.alert_id = n.alert_id
      and f.channel = n.channel and f.event = 'firing' and f.status = 'pending'))
  order by n.next_attempt_at limit $3`
const KEY = 'alert_id = $1 and channel = $2 and event = $3 and round = $4'
const BEGIN = `update alert_notices set attempts = attempts + 1, next_attempt_at = $6
  where ${KEY} and status = 'pending' and attempts = $5`
const RECORD = `update alert_notices set status = $6, next_attempt_at = $7, ended_at = $8
  where ${KEY} and status = 'pending' and attempts = $5`
const SUCCEEDED = `insert into alert_channels (channel, last_delivered_at, failures) values ($1, $2, 0)
  on conflict (channel) do update set last_delivered_at = excluded.last_delivered_at, failing_since = null, failures = 0,
    last_error = null`
const FAILED = `insert into alert_channels as c (channel, failing_since, failures, last_error) values ($1, $2, 1, $3)
  on conflict (channel) do update set failing_since = coalesce(c.failing_since, excluded.failing_since),
    failures = c.failures + 1, last_error = excluded.last_error`
const CHANNELS = `select channel, last_delivered_at::float8 as "lastDeliveredAt", failing_since::float8 as "failingSince",
    failures, last_error as "lastError"
  from alert_channels order by channel`
const PRUNE = `with expired as (
    delete from alerts where id = any(array(
      select id from alerts where state = 'resolved' and resolved_at < $1 order by resolved_at limit $2))
    returning id),
  notices as (delete from alert_notices using expired where alert_id = expired.id)
  select count(*)::int as count from expired`

export function postgresAlerts(reads: Reads, writer: Writer): Alerts {
  const noteChannel = async ({ run }: Statements, channel: string, error: string | null, now: number) => {
    if (error === null) await run(SUCCEEDED, [channel, now])
    else await run(FAILED, [channel, now, error])
  }
  return {
    open: () => reads.query<Alert>(OPEN),
    ended: (limit) => reads.query<Alert>(ENDED, [limit]),
    save: (alert, was) =>
      writer.write(async ({ run }) => {
        const { id, kind, subject, node, severity, message, advice, state } = alert
        const { firstSeenAt, lastSeenAt, missingSince, raisedAt, resolvedAt } = alert
        const rest = [lastSeenAt, missingSince, raisedAt, resolvedAt]
        const changes =
          was === null
            ? await run(ADD, [id, kind, subject, node, severity, message, advice, state, firstSeenAt, ...rest])
            : await run(UPDATE, [id, severity, message, advice, state, ...rest, was])
        if (changes === 1 && state === 'resolved') {
          await run(WITHDRAW, [id])
          await run(ADD_END, [id, resolvedAt])
        }
        return changes === 1
      }),
    drop: (id) =>
      writer.write(async ({ run }) => {
        await run(DROP, [id])
      }),
    notices: () => reads.query<Notice>(NOTICES),
    addNotices: (keys, now) =>
      writer.write(async ({ run }) => {
        for (const { alertId, channel, event, round } of keys)
          await run(ADD_NOTICE, [alertId, channel, event, round, now])
      }),
    due: async (names, now, limit) => {
      const notices = await reads.query<Notice>(DUE, [now, textArray(names), limit])
      if (notices.length === 0) return []
      const alerts = await reads.query<Alert>(OF, [textArray([...new Set(notices.map(({ alertId }) => alertId))])])
      const byId = new Map(alerts.map((alert) => [alert.id, alert]))
      return notices.flatMap((notice) => {
        const alert = byId.get(notice.alertId)
        return alert === undefined ? [] : [{ ...notice, alert }]
      })
    },
    begin: ({ alertId, channel, event, round }, attempts, nextAttemptAt) =>
      writer.write(
        async ({ run }) => (await run(BEGIN, [alertId, channel, event, round, attempts, nextAttemptAt])) === 1,
      ),
    record: ({ alertId, channel, event, round }, { attempt, error, nextAttemptAt }, now) =>
      writer.write(async (statements) => {
        const status = error === null ? 'delivered' : nextAttemptAt === null ? 'failed' : 'pending'
        const result = [status, nextAttemptAt ?? now, status === 'pending' ? null : now]
        await statements.run(RECORD, [alertId, channel, event, round, attempt, ...result])
        await noteChannel(statements, channel, error, now)
      }),
    recordChannel: (channel, error, now) => writer.write((statements) => noteChannel(statements, channel, error, now)),
    channels: () => reads.query<ChannelRecord>(CHANNELS),
    prune: (before, limit) =>
      writer.write(async ({ query }) => (await query<{ count: number }>(PRUNE, [before, limit]))[0]?.count ?? 0),
  }
}
