import type { RelayCount } from '../../model/relay.ts'
import { type Database, run, sql } from '../sql.ts'

/** The latest attempt of a delivery that began as fail-over through a relay. */
interface BegunRelay {
  attempt: number
  relay: string
}

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

export function relayRecords(database: Database) {
  return {
    /** Records, before the attempt is made, that it uses the relay. */
    begin: (deliveryId: string, { attempt, relay, now }: BegunRelay & { now: number }): Promise<void> =>
      database.run(BEGIN, deliveryId, attempt, relay, now),
    /** Null: none of its attempts used a relay as fail-over. */
    begun: (deliveryId: string): Promise<BegunRelay | null> => database.row(BEGUN, deliveryId),
    /** Removes up to `limit` records of attempts that began before `before` (ms UTC) → their number. */
    pruneBegun: (before: number, limit: number): Promise<number> => database.count(PRUNE, before, limit),
    /** Adds to the counts of each relay and month. A given `lastError` replaces an older one. */
    count: (counts: readonly RelayCount[]): Promise<void> =>
      database.write(function* () {
        for (const { relay, month, sent, failed, lastError } of counts)
          yield* run(COUNT, relay, month, sent, failed, lastError?.at ?? null, lastError?.message ?? null)
      }),
    /** Counts of a month, such as `2026-11`. */
    counts: async (month: string): Promise<RelayCount[]> => (await database.rows(COUNTS, month)).map(toRelayCount),
  }
}

function toRelayCount({ failedAt, error, ...row }: CountRow): RelayCount {
  return { ...row, lastError: failedAt === null || error === null ? null : { at: failedAt, message: error } }
}
