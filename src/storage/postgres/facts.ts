import type { DatabaseFacts } from '../store.ts'
import type { Open } from './connection.ts'
import type { Reads } from './reads.ts'

const SETTINGS = `select current_setting('server_version') as version,
    (select pg_encoding_to_char(encoding) from pg_database where datname = current_database()) as encoding,
    current_user as "user", pg_has_role('pg_read_all_stats', 'usage') as "seesAll",
    pg_database_size(current_database())::float8 as "sizeBytes",
    current_setting('fsync') = 'on' as fsync, current_setting('full_page_writes') = 'on' as "fullPageWrites",
    current_setting('synchronous_commit') as "synchronousCommit",
    current_setting('synchronous_standby_names') as "synchronousStandbys",
    current_setting('max_connections')::int as "maxConnections",
    pg_size_bytes(current_setting('max_wal_size'))::float8 as "maxWalBytes",
    current_setting('autovacuum') = 'on' as autovacuum`
const OLDEST = `extract(epoch from clock_timestamp() - least(
      (select min(xact_start) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()),
      (select min(prepared) from pg_prepared_xacts)))::float8 * 1000 as "oldestTransactionMs"`
const ACTIVITY = `select (select sum(numbackends) from pg_stat_database)::int as connections,
    (select age(datfrozenxid) from pg_database where datname = current_database())::float8 as "frozenAge", ${OLDEST}`
const OLDEST_ONLY = `select ${OLDEST}`
// Readers of events stop before it.
const OLDEST_WRITE = `select coalesce(extract(epoch from clock_timestamp() - least(
      (select min(xact_start) from pg_stat_activity where backend_xid is not null and pid <> pg_backend_pid()),
      (select min(prepared) from pg_prepared_xacts)))::float8 * 1000, 0) as ms`
const STANDBYS = `select application_name as name, sync_state in ('sync', 'quorum') as "isSynchronous",
    (extract(epoch from replay_lag) * 1000)::float8 as "lagMs" from pg_stat_replication order by application_name`
// A server that is not recovering has a current position.
const SLOTS = `select slot_name as name, active as "isActive",
    coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0)::float8 as "keptBytes"
  from pg_replication_slots order by slot_name`
const CLOCK = 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms'
const BACKEND = 'select pg_backend_pid() as pid'
const ROUND_TRIPS = 5

/** Reads the facts. `open` opens connections of their own, `now`: ms UTC. */
export async function readFacts(reads: Reads, open: Open, now: () => number): Promise<DatabaseFacts> {
  const [[settings], [activity], standbys, replicationSlots, clock, session] = await Promise.all([
    reads.query<DatabaseFacts>(SETTINGS),
    reads.query<DatabaseFacts>(ACTIVITY),
    reads.query<DatabaseFacts['standbys'][number]>(STANDBYS),
    reads.query<DatabaseFacts['replicationSlots'][number]>(SLOTS),
    compareClocks(open, now),
    keepsSession(open),
  ])
  if (settings === undefined || activity === undefined) throw new Error('PostgreSQL shows no settings')
  return { ...settings, ...activity, standbys, replicationSlots, ...clock, keepsSession: session }
}

/** As Nodes.oldestTransactionMs. */
export async function oldestTransactionMs(reads: Reads): Promise<number | null> {
  const [row] = await reads.query<Pick<DatabaseFacts, 'oldestTransactionMs'>>(OLDEST_ONLY)
  return row?.oldestTransactionMs ?? null
}

/** As Nodes.feedBehindMs. */
export async function oldestWriteMs(reads: Reads): Promise<number> {
  const [row] = await reads.query<{ ms: number }>(OLDEST_WRITE)
  return row?.ms ?? 0
}

/** By the shortest of some round trips, in the middle of which the database looked at its clock. */
async function compareClocks(open: Open, now: () => number): Promise<{ roundTripMs: number; clockAheadMs: number }> {
  const connection = await open('check')
  try {
    let best = { roundTripMs: Number.POSITIVE_INFINITY, clockAheadMs: 0 }
    for (let n = 0; n < ROUND_TRIPS; n++) {
      const startedAt = performance.now()
      const [row] = await connection.query<{ ms: number }>(CLOCK)
      const roundTripMs = performance.now() - startedAt
      const middle = now() - roundTripMs / 2
      if (roundTripMs < best.roundTripMs) best = { roundTripMs, clockAheadMs: Math.round(middle - (row?.ms ?? middle)) }
    }
    return best
  } finally {
    connection.close()
  }
}

/** A pool in transaction mode gives the server connection of an idle session to another one, whose transaction keeps it. */
export async function keepsSession(open: Open): Promise<boolean> {
  const [idle, busy] = await Promise.all([open('check'), open('check')])
  try {
    const [before] = await idle.query<{ pid: number }>(BACKEND)
    await busy.query('begin')
    const [other] = await busy.query<{ pid: number }>(BACKEND)
    const [after] = await idle.query<{ pid: number }>(BACKEND)
    await busy.query('rollback')
    return before?.pid === after?.pid && before?.pid !== other?.pid
  } finally {
    idle.close()
    busy.close()
  }
}
