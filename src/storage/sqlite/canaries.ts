import type { Canary } from '../../model/canary.ts'
import type { Canaries } from '../store.ts'
import type { Connection } from './driver.ts'
import type { Writer } from './writer.ts'

const COLUMNS = 'id, mailbox, due_at as dueAt, sent_at as sentAt, result, arrived_at as arrivedAt, detail'
const ADD = `insert into canaries (id, mailbox, due_at, sent_at, result, arrived_at, detail)
  values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing`
const GET = `select ${COLUMNS} from canaries where id = ?`
const RECORD = `update canaries set result = ?, arrived_at = ?, detail = ?
  where id = ? and arrived_at is null and (result = 'pending' or ? is not null)`
const LATEST = `select ${COLUMNS} from canaries where mailbox = ? order by due_at desc limit ?`
const LATEST_ENDED = `select ${COLUMNS} from canaries
  where mailbox = ? and result <> 'pending' order by due_at desc limit ?`
const PRUNE = `delete from canaries where id in (
  select id from canaries indexed by canaries_by_time where sent_at < ? order by sent_at limit ?)`

export function sqliteCanaries(db: Connection, writer: Writer): Canaries {
  const [add, record, prune] = [db.prepare(ADD), db.prepare(RECORD), db.prepare(PRUNE)]
  const get = db.prepare<unknown[], Canary>(GET)
  const latest = db.prepare<unknown[], Canary>(LATEST)
  const latestEnded = db.prepare<unknown[], Canary>(LATEST_ENDED)
  return {
    add: ({ id, mailbox, dueAt, sentAt, result, arrivedAt, detail }) =>
      writer.write(() => add.run(id, mailbox, dueAt, sentAt, result, arrivedAt, detail).changes === 1),
    get: async (id) => get.get(id) ?? null,
    record: (id, { result, arrivedAt, detail }) =>
      writer.write(() => record.run(result, arrivedAt, detail, id, arrivedAt).changes === 1),
    latest: async (mailbox, limit) => latest.all(mailbox, limit),
    latestEnded: async (mailbox, limit) => latestEnded.all(mailbox, limit),
    prune: (before, limit) => writer.write(() => prune.run(before, limit).changes),
  }
}
