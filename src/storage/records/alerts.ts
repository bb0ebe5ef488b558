import type { Alert, AlertState, ChannelRecord, Notice, NoticeKey, Silence } from '../../model/alert.ts'
import { type Database, row, rows, run, sql, type Work } from '../sql.ts'

interface MostDue {
  limit: number
  /** IDs of alerts. */
  silenced: readonly string[]
}

const COLUMNS = `a.id, a.kind, a.subject, a.node, a.severity, a.message, a.advice, a.state,
  a.first_seen_at as "firstSeenAt", a.last_seen_at as "lastSeenAt", a.missing_since as "missingSince",
  a.raised_at as "raisedAt", a.resolved_at as "resolvedAt"`
const OPEN = sql<Alert>(`select ${COLUMNS} from alerts a where a.state <> 'resolved'
  order by a.kind, a.subject, a.node`)
const ENDED = sql<Alert>(`select ${COLUMNS} from alerts a where a.state = 'resolved'
  order by a.resolved_at desc, a.id desc limit $1`)
const ONE = sql<Alert>(`select ${COLUMNS} from alerts a where a.id = $1 and a.state <> 'pending'`)
const SILENCE = sql(`insert into alert_silences (kind, subject, node, severity, until) values ($1, $2, $3, $4, $5)
  on conflict (kind, subject, node) do update set severity = excluded.severity, until = excluded.until`)
const SILENCES = sql<Silence>(`select kind, subject, node, severity, until from alert_silences where until > $1
  order by kind, subject, node`)
const END_SILENCES = sql('delete from alert_silences where until <= $1')
const OF = sql<Alert>(`select ${COLUMNS} from alerts a where a.id = any($1::text[])`)
const ADD = sql(`insert into alerts (id, kind, subject, node, severity, message, advice, state, first_seen_at,
    last_seen_at, missing_since, raised_at, resolved_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) on conflict do nothing`)
const UPDATE = sql(`update alerts set severity = $2, message = $3, advice = $4, state = $5, last_seen_at = $6,
    missing_since = $7, raised_at = $8, resolved_at = $9
  where id = $1 and state = $10`)
const DROP = sql(`delete from alerts where id = $1 and state = 'pending'`)
const ENDED_ALERT = sql<{ resolvedAt: number }>(`select resolved_at as "resolvedAt" from alerts
  where id = $1 and state = 'resolved'`)
// While an attempt is in progress, or its result was lost, the channel may have got the notice.
const WITHDRAW = sql(`delete from alert_notices where alert_id = $1 and event = 'firing' and status = 'pending'
  and (attempts = 0 or ended_at is not null)`)
const ADD_END = sql(`insert into alert_notices (alert_id, channel, event, round, status, attempts, next_attempt_at)
  select alert_id, channel, 'resolved', 0, 'pending', 0, $2::bigint from alert_notices
  where alert_id = $1 and event = 'firing' and status = 'delivered' on conflict do nothing`)
const NOTICE = 'n.alert_id as "alertId", n.channel, n.event, n.round, n.status, n.attempts, n.ended_at as "endedAt"'
const NOTICES = sql<Notice>(`select ${NOTICE} from alerts a join alert_notices n on n.alert_id = a.id
  where a.state <> 'resolved' and a.state = 'firing'`)
// Locked: an alert that ended meanwhile would have no notice of its end.
const ADD_NOTICE = sql(`insert into alert_notices (alert_id, channel, event, round, status, attempts, next_attempt_at)
  select id, $2::text, $3::text, $4::int, 'pending', 0, $5::bigint from alerts where id = $1 and state = 'firing'
  for no key update on conflict do nothing`)
// Before a result is written: what ends the alert meanwhile would not see the result.
const LOCK = sql<object>('select 1 from alerts where id = $1 for no key update')
const DUE = sql<Notice>(`select ${NOTICE} from alert_notices n
  where n.status = 'pending' and n.next_attempt_at <= $1 and n.channel = any($2::text[])
    and (n.event = 'resolved' or n.alert_id <> all($4::text[]))
    and (n.event = 'firing' or not exists (select 1 from alert_notices f where f.alert_id = n.alert_id
      and f.channel = n.channel and f.event = 'firing' and f.status = 'pending'))
  order by n.next_attempt_at limit $3`)
const KEY = 'alert_id = $1 and channel = $2 and event = $3 and round = $4'
const BEGIN = sql(`update alert_notices set attempts = attempts + 1, next_attempt_at = $6, ended_at = null
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

/** Alerts for the operator, and the notices to each channel. */
export function alertRecords(database: Database) {
  return {
    /** Pending and firing alerts, in the order of kind, subject and node. */
    open: (): Promise<Alert[]> => database.rows(OPEN),
    /** Alerts that have ended, the last one first. */
    ended: (limit: number): Promise<Alert[]> => database.rows(ENDED, limit),
    /** The alert, if it is not pending. */
    get: (id: string): Promise<Alert | null> => database.row(ONE, id),
    /** Replaces the silence of a problem, if there is one; one that has ended already (`until` ≤ `now`) removes it. */
    silence: ({ kind, subject, node, severity, until }: Silence, now: number): Promise<void> =>
      database.write(function* () {
        yield* run(SILENCE, kind, subject, node, severity, until)
        yield* run(END_SILENCES, now)
      }),
    /** All that have not ended. */
    silences: (now: number): Promise<Silence[]> => database.rows(SILENCES, now),
    /** Writes a new alert (`was` null), or the next state of one. False, without a change, if an alert of that kind,
     *  subject and node is open already, or if its state is not `was`. When it ends, notices that no channel got are
     *  withdrawn, and each channel that got one of the beginning gets one of the end; of an attempt that is in progress,
     *  `record` decides it. */
    save: (alert: Alert, was: AlertState | null): Promise<boolean> => database.write(() => save(alert, was)),
    /** Removes a pending alert. */
    drop: (id: string): Promise<void> => database.run(DROP, id),
    /** Notices of firing alerts. */
    notices: (): Promise<Notice[]> => database.rows(NOTICES),
    /** Adds notices that are due at once; leaves existing ones, and those of alerts that do not fire. */
    addNotices: (keys: readonly NoticeKey[], now: number): Promise<void> =>
      database.write(function* () {
        for (const { alertId, channel, event, round } of keys)
          yield* run(ADD_NOTICE, alertId, channel, event, round, now)
      }),
    /** Notices to these channels that are due, the longest first. The end of an alert is due after its beginning. Notices
     *  that `silenced` alerts fire stay due. */
    due: async (
      names: readonly string[],
      now: number,
      { limit, silenced }: MostDue,
    ): Promise<(Notice & { alert: Alert })[]> => {
      const notices = await database.rows(DUE, now, names, limit, silenced)
      if (notices.length === 0) return []
      const alerts = await database.rows(OF, [...new Set(notices.map(({ alertId }) => alertId))])
      const byId = new Map(alerts.map((alert) => [alert.id, alert]))
      return notices.flatMap((notice) => {
        const alert = byId.get(notice.alertId)
        return alert === undefined ? [] : [{ ...notice, alert }]
      })
    },
    /** Counts an attempt before it is made, and plans the next one in case that it is never recorded. False if another
     *  process counted one since `attempts` was read. */
    begin: async (
      { alertId, channel, event, round }: NoticeKey,
      attempts: number,
      nextAttemptAt: number,
    ): Promise<boolean> => (await database.count(BEGIN, alertId, channel, event, round, attempts, nextAttemptAt)) === 1,
    /** Stores the result of that attempt, also for its channel. `nextAttemptAt` null with an error: it is given up. */
    record: (
      { alertId, channel, event, round }: NoticeKey,
      { attempt, error, nextAttemptAt }: { attempt: number; error: string | null; nextAttemptAt: number | null },
      now: number,
    ): Promise<void> =>
      database.write(function* () {
        const status = error === null ? 'delivered' : nextAttemptAt === null ? 'failed' : 'pending'
        yield* row(LOCK, alertId)
        yield* run(RECORD, alertId, channel, event, round, attempt, status, nextAttemptAt ?? now, now)
        yield* endNotices(alertId)
        yield* noteChannel(channel, error, now)
      }),
    /** Stores the result of a post that belongs to no alert. */
    recordChannel: (channel: string, error: string | null, now: number): Promise<void> =>
      database.write(() => noteChannel(channel, error, now)),
    channels: (): Promise<ChannelRecord[]> => database.rows(CHANNELS),
    /** Deletes at most `limit` alerts that ended before `before`, with their notices; returns the number deleted. */
    prune: (before: number, limit: number): Promise<number> =>
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
  if (written === 1) yield* endNotices(id)
  return written === 1
}

/** Of an alert that has ended: no channel gets its beginning any more, and those that got it get its end. */
function* endNotices(id: string): Work<void> {
  const ended = yield* row(ENDED_ALERT, id)
  if (ended === null) return
  yield* run(WITHDRAW, id)
  yield* run(ADD_END, id, ended.resolvedAt)
}

function* noteChannel(channel: string, error: string | null, now: number): Work<void> {
  if (error === null) yield* run(SUCCEEDED, channel, now)
  else yield* run(FAILED, channel, now, error)
}
