import type { Canary, CanaryEnd } from '../../model/canary.ts'
import { type Database, sql } from '../sql.ts'

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

/** Canary mails and whether they arrived. */
export function canaryRecords(database: Database) {
  return {
    /** Writes a mail before it is queued. False, without a change, if its mailbox has one for that time. */
    add: async ({ id, mailbox, dueAt, sentAt, result, arrivedAt, detail }: Canary): Promise<boolean> =>
      (await database.count(ADD, id, mailbox, dueAt, sentAt, result, arrivedAt, detail)) === 1,
    get: (id: string): Promise<Canary | null> => database.row(GET, id),
    /** Stores a result. False, without a change, if the mail has arrived already, or if it has ended and the new one does not say
     *  that it arrived after all. */
    record: async (id: string, { result, arrivedAt, detail }: CanaryEnd): Promise<boolean> =>
      (await database.count(RECORD, id, result, arrivedAt, detail)) === 1,
    /** Mails to a mailbox, the last one first. */
    latest: (mailbox: string, limit: number): Promise<Canary[]> => database.rows(LATEST, mailbox, limit),
    /** The same, without those on their way. */
    latestEnded: (mailbox: string, limit: number): Promise<Canary[]> => database.rows(LATEST_ENDED, mailbox, limit),
    /** Deletes at most `limit` mails sent before `before`; returns the number deleted. */
    prune: (before: number, limit: number): Promise<number> => database.count(PRUNE, before, limit),
  }
}
