import { type CountRow, toRelayCount } from '../relay-rows.ts'
import type { BegunRelay, Relays } from '../store.ts'
import type { Reads } from './reads.ts'
import type { Writer } from './writer.ts'

const BEGIN = `insert into relay_attempts (delivery_id, attempt, relay, begun_at) values ($1, $2, $3, $4)
  on conflict (delivery_id) do update set attempt = excluded.attempt, relay = excluded.relay, begun_at = excluded.begun_at`
const BEGUN = 'select attempt, relay from relay_attempts where delivery_id = $1'
const PRUNE = `delete from relay_attempts where delivery_id = any(array(
  select delivery_id from relay_attempts where begun_at < $1 order by begun_at limit $2))`
const COUNT = `insert into relay_counts as known (relay, month, sent, failed, failed_at, error)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (month, relay) do update set sent = known.sent + excluded.sent, failed = known.failed + excluded.failed,
    failed_at = coalesce(excluded.failed_at, known.failed_at), error = coalesce(excluded.error, known.error)`
const COUNTS = `select relay, month, sent::float8 as sent, failed::float8 as failed, failed_at::float8 as "failedAt", error
  from relay_counts where month = $1 order by relay`

export function postgresRelays(reads: Reads, writer: Writer): Relays {
  return {
    begin: (deliveryId, { attempt, relay, now }) =>
      writer.write(async ({ run }) => {
        await run(BEGIN, [deliveryId, attempt, relay, now])
      }),
    begun: async (deliveryId) => (await reads.query<BegunRelay>(BEGUN, [deliveryId]))[0] ?? null,
    pruneBegun: (before, limit) => writer.write(({ run }) => run(PRUNE, [before, limit])),
    count: (given) =>
      writer.write(async ({ run }) => {
        for (const { relay, month, sent, failed, lastError } of given) {
          await run(COUNT, [relay, month, sent, failed, lastError?.at ?? null, lastError?.message ?? null])
        }
      }),
    counts: async (month) => (await reads.query<CountRow>(COUNTS, [month])).map(toRelayCount),
  }
}
