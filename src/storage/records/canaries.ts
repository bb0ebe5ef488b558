import type { Canary } from '../../model/canary.ts'
import { type Database, sql } from '../sql.ts'
import type { Canaries } from '../store.ts'

const COLUMNS = 'id, mailbox, due_at as "dueAt", sent_at as "sentAt", result, arrived_at as "arrivedAt", detail'
const ADD = sql(`insert into canaries (id, mailbox, due_at, sent_at, result, arrived_at, detail)
  values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`)
const GET = sql<Canary>(`select ${COLUMNS} from canaries where id = $1`)
const RECORD = sql(`update canaries set result = $2, arrived_at = $3::bigint, detail = $4
  where id = $1 and arrived_at is null and (result = 'pending' or $3::bigint is not null)`)
const LATEST = sql<Canary>(`select ${COLUMNS} from canaries where mailbox = $1 order by due_at desc limit $2`)
const LATEST_ENDED = sql<Canary>(`select ${COLUMNS} from canaries
  where mailbox = $1 and result <> 'pending' order by due_at desc limit $2`)
const PRUNE = sql(`delete from canaries where id = any(array(
  select id from canaries where sent_at < $1 order by sent_at limit $2))`)

export function canaryRecords(database: Database): Canaries {
  return {
    add: async ({ id, mailbox, dueAt, sentAt, result, arrivedAt, detail }) =>
      (await database.count(ADD, id, mailbox, dueAt, sentAt, result, arrivedAt, detail)) === 1,
    get: (id) => database.row(GET, id),
    record: async (id, { result, arrivedAt, detail }) =>
      (await database.count(RECORD, id, result, arrivedAt, detail)) === 1,
    latest: (mailbox, limit) => database.rows(LATEST, mailbox, limit),
    latestEnded: (mailbox, limit) => database.rows(LATEST_ENDED, mailbox, limit),
    prune: (before, limit) => database.count(PRUNE, before, limit),
  }
}
