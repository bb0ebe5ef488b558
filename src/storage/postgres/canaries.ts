import type { Canary } from '../../model/canary.ts'
import type { Canaries } from '../store.ts'
import type { Reads } from './reads.ts'
import type { Writer } from './writer.ts'

const COLUMNS = `id, mailbox, due_at::float8 as "dueAt", sent_at::float8 as "sentAt", result,
  arrived_at::float8 as "arrivedAt", detail`
const ADD = `insert into canaries (id, mailbox, due_at, sent_at, result, arrived_at, detail)
  values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`
const GET = `select ${COLUMNS} from canaries where id = $1`
const RECORD = `update canaries set result = $2, arrived_at = $3::bigint, detail = $4
  where id = $1 and arrived_at is null and (result = 'pending' or $3::bigint is not null)`
const LATEST = `select ${COLUMNS} from canaries where mailbox = $1 order by due_at desc limit $2`
const LATEST_ENDED = `select ${COLUMNS} from canaries
  where mailbox = $1 and result <> 'pending' order by due_at desc limit $2`
const PRUNE = `delete from canaries where id = any(array(
  select id from canaries where sent_at < $1 order by sent_at limit $2))`

export function postgresCanaries(reads: Reads, writer: Writer): Canaries {
  return {
    add: ({ id, mailbox, dueAt, sentAt, result, arrivedAt, detail }) =>
      writer.write(async ({ run }) => (await run(ADD, [id, mailbox, dueAt, sentAt, result, arrivedAt, detail])) === 1),
    get: async (id) => (await reads.query<Canary>(GET, [id]))[0] ?? null,
    record: (id, { result, arrivedAt, detail }) =>
      writer.write(async ({ run }) => (await run(RECORD, [id, result, arrivedAt, detail])) === 1),
    latest: (mailbox, limit) => reads.query<Canary>(LATEST, [mailbox, limit]),
    latestEnded: (mailbox, limit) => reads.query<Canary>(LATEST_ENDED, [mailbox, limit]),
    prune: (before, limit) => writer.write(({ run }) => run(PRUNE, [before, limit])),
  }
}
