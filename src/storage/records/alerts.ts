import type { Alert, ChannelRecord, Notice } from '../../model/alert.ts'
import { type Database, rows, run, sql, type Work } from '../sql.ts'
import type { Alerts } from '../store.ts'

const COLUMNS = `a.id, a.kind, a.subject, a.node, a.severity, a.message, a.advice, a.state,
  a.first_seen_at as "firstSeenAt", a.last_seen_at as "lastSeenAt", a.missing_since as "missingSince",
  a.raised_at as "raisedAt", a.resolved_at as "resolvedAt"`
const OPEN = sql<Alert>(`select ${COLUMNS} from alerts a where a.state <> 'resolved'
  order by a.kind, a.subject, a.node`)
const ENDED = sql<Alert>(`select ${COLUMNS} from alerts a where a.state = 'resolved'
  order by a.resolved_at desc, a.id desc limit $1`)
const OF = sql<Alert>(`select ${COLUMNS} from alerts a where a.id = any($1::text[])`)
const ADD = sql(`insert into alerts (id, kind, subject, node, severity, message, advice, state, first_seen_at,
    last_seen_at, missing_since, raised_at, resolved_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) on conflict do nothing`)
const UPDATE = sql(`update alerts set severity = $2, message = $3, advice = $4, state = $5, last_seen_at = $6,
    missing_since = $7, raised_at = $8, resolved_at = $9
  where id = $1 and state = $10`)
const DROP = sql(`delete from alerts where id = $1 and state = 'pending'`)
const WITHDRAW = sql(`delete from alert_notices where alert_id = $1 and status = 'pending' and attempts = 0`)
const ADD_END = sql(`insert into alert_notices (alert_id, channel, event, round, status, attempts, next_attempt_at)
  select alert_id, channel, 'resolved', 0, 'pending', 0, $2::bigint from alert_notices
  where alert_id = $1 and event = 'firing' and round = 0 on conflict do nothing`)
const NOTICE = 'n.alert_id as "alertId", n.channel, n.event, n.round, n.status, n.attempts, n.ended_at as "endedAt"'
const NOTICES = sql<Notice>(`select ${NOTICE} from alerts a join alert_notices n on n.alert_id = a.id
  where a.state <> 'resolved' and a.state = 'firing'`)
const ADD_NOTICE = sql(`insert into alert_notices (alert_id, channel, event, round, status, attempts, next_attempt_at)
  select id, $2::text, $3::text, $4::int, 'pending', 0, $5::bigint from alerts where id = $1 and state = 'firing'
  on conflict do nothing`)
const DUE = sql<Notice>(`select ${NOTICE} from alert_notices n
  where n.status = 'pending' and n.next_attempt_at <= $1 and n.channel = any($2::text[])
    and (n.event = 'firing' or not exists (select 1 from alert_notices f where f.alert_id = n.alert_id
      and f.channel = n.channel and f.event = 'firing' and f.status = 'pending'))
  order by n.next_attempt_at limit $3`)
const KEY = 'alert_id = $1 and channel = $2 and event = $3 and round = $4'
const BEGIN = sql(`update alert_notices set attempts = attempts + 1, next_attempt_at = $6
  where ${KEY} and status = 'pending' and attempts = $5`)
const RECORD = sql(`update alert_notices set status = $6, next_attempt_at = $7, ended_at = $8
  where ${KEY} and status = 'pending' and attempts = $5`)
const SUCCEEDED = sql(`insert into alert_channels (channel, last_delivered_at, failures) values ($1, $2, 0)
  on conflict (channel) do update set last_delivered_at = excluded.last_delivered_at, failing_since = null,
    failures = 0, last_error = null`)
const FAILED =
  sql(`insert into alert_channels as c (channel, failing_since, failures, last_error) values ($1, $2, 1, $3)
  on conflict (channel) do update set failing_since = coalesce(c.failing_since, excluded.failing_since),
    failures = c.failures + 1, last_error = excluded.last_error`)
const CHANNELS = sql<ChannelRecord>(`select channel, last_delivered_at as "lastDeliveredAt",
    failing_since as "failingSince", failures, last_error as "lastError"
  from alert_channels order by channel`)
const EXPIRED = sql<{ id: string }>(`select id from alerts where state = 'resolved' and resolved_at < $1
  order by resolved_at limit $2`)
const PRUNE_NOTICES = sql('delete from alert_notices where alert_id = any($1::text[])')
const PRUNE = sql('delete from alerts where id = any($1::text[])')

export function alertRecords(database: Database): Alerts {
  return {
    open: () => database.rows(OPEN),
    ended: (limit) => database.rows(ENDED, limit),
    save: (alert, was) => database.write(() => save(alert, was)),
    drop: (id) => database.run(DROP, id),
    notices: () => database.rows(NOTICES),
    addNotices: (keys, now) =>
      database.write(function* () {
        for (const { alertId, channel, event, round } of keys)
          yield* run(ADD_NOTICE, alertId, channel, event, round, now)
      }),
    due: async (names, now, limit) => {
      const notices = await database.rows(DUE, now, names, limit)
      if (notices.length === 0) return []
      const alerts = await database.rows(OF, [...new Set(notices.map(({ alertId }) => alertId))])
      const byId = new Map(alerts.map((alert) => [alert.id, alert]))
      return notices.flatMap((notice) => {
        const alert = byId.get(notice.alertId)
        return alert === undefined ? [] : [{ ...notice, alert }]
      })
    },
    begin: async ({ alertId, channel, event, round }, attempts, nextAttemptAt) =>
      (await database.count(BEGIN, alertId, channel, event, round, attempts, nextAttemptAt)) === 1,
    record: ({ alertId, channel, event, round }, { attempt, error, nextAttemptAt }, now) =>
      database.write(function* () {
        const status = error === null ? 'delivered' : nextAttemptAt === null ? 'failed' : 'pending'
        const endedAt = status === 'pending' ? null : now
        yield* run(RECORD, alertId, channel, event, round, attempt, status, nextAttemptAt ?? now, endedAt)
        yield* noteChannel(channel, error, now)
      }),
    recordChannel: (channel, error, now) => database.write(() => noteChannel(channel, error, now)),
    channels: () => database.rows(CHANNELS),
    prune: (before, limit) =>
      database.write(function* () {
        const ids = (yield* rows(EXPIRED, before, limit)).map(({ id }) => id)
        yield* run(PRUNE_NOTICES, ids)
        return yield* run(PRUNE, ids)
      }),
  }
}

/** Writes the alert if its stored state is `was`, null = there is none → whether it was written. */
function* save(alert: Alert, was: Alert['state'] | null): Work<boolean> {
  const { id, kind, subject, node, severity, message, advice, state } = alert
  const { firstSeenAt, lastSeenAt, missingSince, raisedAt, resolvedAt } = alert
  const rest = [lastSeenAt, missingSince, raisedAt, resolvedAt]
  const written =
    was === null
      ? yield* run(ADD, id, kind, subject, node, severity, message, advice, state, firstSeenAt, ...rest)
      : yield* run(UPDATE, id, severity, message, advice, state, ...rest, was)
  if (written === 1 && state === 'resolved') {
    yield* run(WITHDRAW, id)
    yield* run(ADD_END, id, resolvedAt)
  }
  return written === 1
}

function* noteChannel(channel: string, error: string | null, now: number): Work<void> {
  if (error === null) yield* run(SUCCEEDED, channel, now)
  else yield* run(FAILED, channel, now, error)
}
