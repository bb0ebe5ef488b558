import type { RelayCount } from '../../model/relay.ts'
import { type Database, run, sql } from '../sql.ts'
import type { BegunRelay, Relays } from '../store.ts'

type CountRow = Omit<RelayCount, 'lastError'> & { failedAt: number | null; error: string | null }

const BEGIN = sql(`insert into relay_attempts (delivery_id, attempt, relay, begun_at) values ($1, $2, $3, $4)
  on conflict (delivery_id) do update set attempt = excluded.attempt, relay = excluded.relay, begun_at = excluded.begun_at`)
const BEGUN = sql<BegunRelay>('select attempt, relay from relay_attempts where delivery_id = $1')
const PRUNE = sql(`delete from relay_attempts where delivery_id = any(array(
  select delivery_id from relay_attempts where begun_at < $1 order by begun_at limit $2))`)
const COUNT = sql(`insert into relay_counts as known (relay, month, sent, failed, failed_at, error)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (month, relay) do update set sent = known.sent + excluded.sent, failed = known.failed + excluded.failed,
    failed_at = coalesce(excluded.failed_at, known.failed_at), error = coalesce(excluded.error, known.error)`)
const COUNTS = sql<CountRow>(`select relay, month, sent, failed, failed_at as "failedAt", error from relay_counts
  where month = $1 order by relay`)

export function relayRecords(database: Database): Relays {
  return {
    begin: (deliveryId, { attempt, relay, now }) => database.run(BEGIN, deliveryId, attempt, relay, now),
    begun: (deliveryId) => database.row(BEGUN, deliveryId),
    pruneBegun: (before, limit) => database.count(PRUNE, before, limit),
    count: (counts) =>
      database.write(function* () {
        for (const { relay, month, sent, failed, lastError } of counts)
          yield* run(COUNT, relay, month, sent, failed, lastError?.at ?? null, lastError?.message ?? null)
      }),
    counts: async (month) => (await database.rows(COUNTS, month)).map(toRelayCount),
  }
}

function toRelayCount({ failedAt, error, ...row }: CountRow): RelayCount {
  return { ...row, lastError: failedAt === null || error === null ? null : { at: failedAt, message: error } }
}
