import type { Alert, ChannelRecord, Notice } from '../../model/alert.ts'
import type { Alerts } from '../store.ts'
import type { Connection } from './driver.ts'
import type { Writer } from './writer.ts'

const COLUMNS = `a.id, a.kind, a.subject, a.node, a.severity, a.message, a.advice, a.state, a.first_seen_at as firstSeenAt,
  a.last_seen_at as lastSeenAt, a.missing_since as missingSince, a.raised_at as raisedAt, a.resolved_at as resolvedAt`
const OPEN = `select ${COLUMNS} from alerts a indexed by alerts_open where a.state <> 'resolved'
  order by a.kind, a.subject, a.node`
const ENDED = `select ${COLUMNS} from alerts a where a.state = 'resolved' order by a.resolved_at desc, a.id desc limit ?`
const GET = `select ${COLUMNS} from alerts a where a.id = ?`
const ADD = `insert into alerts (id, kind, subject, node, severity, message, advice, state, first_seen_at, last_seen_at,
    missing_since, raised_at, resolved_at)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`
const UPDATE = `update alerts set severity = ?, message = ?, advice = ?, state = ?, last_seen_at = ?, missing_since = ?,
    raised_at = ?, resolved_at = ?
  where id = ? and state = ?`
const DROP = `delete from alerts where id = ? and state = 'pending'`
const WITHDRAW = `delete from alert_notices where alert_id = ? and status = 'pending' and attempts = 0`
const ADD_END = `insert into alert_notices (alert_id, channel, event, round, status, attempts, next_attempt_at)
  select alert_id, channel, 'resolved', 0, 'pending', 0, ? from alert_notices
  where alert_id = ? and event = 'firing' and round = 0 on conflict do nothing`
const NOTICES = `select n.alert_id as alertId, n.channel, n.event, n.round, n.status, n.attempts, n.ended_at as endedAt
  from alerts a indexed by alerts_open cross join alert_notices n
  where a.state <> 'resolved' and a.state = 'firing' and n.alert_id = a.id`
const ADD_NOTICE = `insert into alert_notices (alert_id, channel, event, round, status, attempts, next_attempt_at)
  select id, ?, ?, ?, 'pending', 0, ? from alerts where id = ? and state = 'firing' on conflict do nothing`
const DUE = `select alert_id as alertId, channel, event, round, status, attempts, ended_at as endedAt
  from alert_notices n indexed by alert_notices_due
  where status = 'pending' and next_attempt_at <= ? and channel in (select value from json_each(?))
    and (event = 'firing' or not exists (select 1 from alert_notices f where f.alert_id = n.alert_id
      and f.channel = n.channel and f.event = 'firing' and f.status = 'pending'))
  order by next_attempt_at limit ?`
const BEGIN = `update alert_notices set attempts = ?, next_attempt_at = ?
  where alert_id = ? and channel = ? and event = ? and round = ? and status = 'pending' and attempts = ?`
const RECORD = `update alert_notices set status = ?, next_attempt_at = ?, ended_at = ?
  where alert_id = ? and channel = ? and event = ? and round = ? and status = 'pending' and attempts = ?`
const SUCCEEDED = `insert into alert_channels (channel, last_delivered_at, failures) values (?, ?, 0)
  on conflict do update set last_delivered_at = excluded.last_delivered_at, failing_since = null, failures = 0,
    last_error = null`
const FAILED = `insert into alert_channels (channel, failing_since, failures, last_error) values (?, ?, 1, ?)
  on conflict do update set failing_since = coalesce(failing_since, excluded.failing_since), failures = failures + 1,
    last_error = excluded.last_error`
const CHANNELS = `select channel, last_delivered_at as lastDeliveredAt, failing_since as failingSince, failures,
    last_error as lastError
  from alert_channels order by channel`
const EXPIRED = `select id from alerts where state = 'resolved' and resolved_at < ? order by resolved_at limit ?`
const PRUNE_NOTICES = 'delete from alert_notices where alert_id = ?'
const PRUNE = 'delete from alerts where id = ?'

export function sqliteAlerts(db: Connection, writer: Writer): Alerts {
  const open = db.prepare<unknown[], Alert>(OPEN)
  const ended = db.prepare<unknown[], Alert>(ENDED)
  const get = db.prepare<unknown[], Alert>(GET)
  const [add, update, drop] = [db.prepare(ADD), db.prepare(UPDATE), db.prepare(DROP)]
  const [withdraw, addEnd] = [db.prepare(WITHDRAW), db.prepare(ADD_END)]
  const notices = db.prepare<unknown[], Notice>(NOTICES)
  const addNotice = db.prepare(ADD_NOTICE)
  const due = db.prepare<unknown[], Notice>(DUE)
  const [begin, record] = [db.prepare(BEGIN), db.prepare(RECORD)]
  const [succeeded, failed] = [db.prepare(SUCCEEDED), db.prepare(FAILED)]
  const channels = db.prepare<unknown[], ChannelRecord>(CHANNELS)
  const expired = db.prepare<unknown[], string>(EXPIRED).pluck()
  const [pruneNotices, prune] = [db.prepare(PRUNE_NOTICES), db.prepare(PRUNE)]

  const noteChannel = (channel: string, error: string | null, now: number) => {
    if (error === null) succeeded.run(channel, now)
    else failed.run(channel, now, error)
  }
  return {
    open: async () => open.all(),
    ended: async (limit) => ended.all(limit),
    save: (alert, was) =>
      writer.write(() => {
        const { id, kind, subject, node, severity, message, advice, state } = alert
        const { firstSeenAt, lastSeenAt, missingSince, raisedAt, resolvedAt } = alert
        const rest = [lastSeenAt, missingSince, raisedAt, resolvedAt]
        const { changes } =
          was === null
            ? add.run(id, kind, subject, node, severity, message, advice, state, firstSeenAt, ...rest)
            : update.run(severity, message, advice, state, ...rest, id, was)
        if (changes === 1 && state === 'resolved') {
          withdraw.run(id)
          addEnd.run(resolvedAt, id)
        }
        return changes === 1
      }),
    drop: (id) =>
      writer.write(() => {
        drop.run(id)
      }),
    notices: async () => notices.all(),
    addNotices: (keys, now) =>
      writer.write(() => {
        for (const { alertId, channel, event, round } of keys) addNotice.run(channel, event, round, now, alertId)
      }),
    due: async (names, now, limit) =>
      due.all(now, JSON.stringify(names), limit).flatMap((notice) => {
        const alert = get.get(notice.alertId)
        return alert === undefined ? [] : [{ ...notice, alert }]
      }),
    begin: ({ alertId, channel, event, round }, attempts, nextAttemptAt) =>
      writer.write(
        () => begin.run(attempts + 1, nextAttemptAt, alertId, channel, event, round, attempts).changes === 1,
      ),
    record: ({ alertId, channel, event, round }, { attempt, error, nextAttemptAt }, now) =>
      writer.write(() => {
        const status = error === null ? 'delivered' : nextAttemptAt === null ? 'failed' : 'pending'
        const endedAt = status === 'pending' ? null : now
        record.run(status, nextAttemptAt ?? now, endedAt, alertId, channel, event, round, attempt)
        noteChannel(channel, error, now)
      }),
    recordChannel: (channel, error, now) => writer.write(() => noteChannel(channel, error, now)),
    channels: async () => channels.all(),
    prune: (before, limit) =>
      writer.write(() => {
        const ids = expired.all(before, limit)
        for (const id of ids) {
          pruneNotices.run(id)
          prune.run(id)
        }
        return ids.length
      }),
  }
}
