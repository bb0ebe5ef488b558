import type { DatabaseFacts } from '../../storage/store.ts'
import { type Check, fail, pass, skip, type Verdict, warn } from './check.ts'

/** Checks of the PostgreSQL server. `facts` reads them, `nodes` is the number of running nodes. */
export function databaseChecks(facts: () => Promise<DatabaseFacts>, nodes: () => Promise<number>): Check[] {
  const check = (name: string, look: (found: DatabaseFacts) => Verdict | Promise<Verdict>): Check => ({
    name,
    look: async () => look(await facts()),
  })
  return [
    check('database', checkServer),
    check('database_durability', checkDurability),
    check('database_standbys', checkStandbys),
    check('database_connections', async (found) => checkConnections(found, await nodes())),
    check('database_wal', checkWal),
    check('database_latency', checkLatency),
    check('database_clock', checkDatabaseClock),
    check('database_vacuum', checkVacuum),
    check('database_transactions', checkTransactions),
    check('database_replication_slots', checkReplicationSlots),
  ]
}

const OLDEST_VERSION = 15
/** Connections of a node: writing, claims, reading, notifications and beats. */
const CONNECTIONS_PER_NODE = 13
/** For commands, backups and the administrator. */
const SPARE_CONNECTIONS = 10
const GB = 1024 ** 3
/** With less, checkpoints follow each other at full load, and each writes whole pages again. */
const MAX_WAL_BYTES = 4 * GB
/** Each message takes some round trips. */
const ROUND_TRIP_MS = 2
const CLOCK_MS = 1_000
const OLD_TRANSACTION_MS = 5 * 60_000
const KEPT_BYTES = 10 * GB
/** autovacuum_freeze_max_age is 200 million; PostgreSQL stops at two billion. */
const FROZEN_WARN = 500_000_000
const FROZEN_FAIL = 1_500_000_000

function checkServer({ version, encoding, keepsSession }: DatabaseFacts): Verdict {
  if (Number.parseInt(version, 10) < OLDEST_VERSION) {
    return fail(`PostgreSQL ${version} is too old`, `Upgrade to PostgreSQL ${OLDEST_VERSION} or newer.`)
  }
  if (encoding !== 'UTF8') return fail(`the database has encoding ${encoding}`, 'Create a database with encoding UTF8.')
  if (!keepsSession) {
    return fail(
      'a connection pool gives sessions another server connection after each transaction',
      'Set pool_mode = session, or connect to PostgreSQL directly.',
    )
  }
  return pass(`PostgreSQL ${version}, UTF-8, sessions keep their connection`)
}

function checkDurability({ fsync, fullPageWrites, synchronousCommit }: DatabaseFacts): Verdict {
  const off = [
    fsync ? null : 'fsync',
    fullPageWrites ? null : 'full_page_writes',
    synchronousCommit === 'off' ? 'synchronous_commit' : null,
  ].filter((name) => name !== null)
  if (off.length === 0) return pass(`fsync and full_page_writes are on, synchronous_commit is ${synchronousCommit}`)
  return fail(
    `${off.join(', ')} off: a power cut loses acknowledged messages`,
    `In postgresql.conf, set ${off.map((name) => `${name} = on`).join(', ')}.`,
  )
}

function checkStandbys({ standbys, synchronousStandbys, synchronousCommit }: DatabaseFacts): Verdict {
  if (standbys.length === 0) {
    return synchronousStandbys === ''
      ? skip('no standby is connected')
      : warn(
          'synchronous_standby_names is set, and no standby is connected: writing waits for one',
          'Start the standby, or empty synchronous_standby_names.',
        )
  }
  if (synchronousStandbys === '' || synchronousCommit === 'local') {
    return warn(
      `${standbys.length} standbys, none confirms a commit: a failover loses the last acknowledged messages`,
      'Set synchronous_standby_names, or synchronous_mode in Patroni.',
    )
  }
  return pass(`a standby confirms each commit (${synchronousStandbys})`)
}

function checkConnections({ connections, maxConnections }: DatabaseFacts, nodes: number): Verdict {
  const needed = CONNECTIONS_PER_NODE * nodes + SPARE_CONNECTIONS
  if (maxConnections >= needed) return pass(`${connections} of ${maxConnections} in use, ${nodes} nodes need ${needed}`)
  return fail(
    `max_connections is ${maxConnections}, ${nodes} nodes need ${needed}`,
    `In postgresql.conf, set max_connections = ${needed} or more, and restart PostgreSQL.`,
  )
}

function checkWal({ maxWalBytes }: DatabaseFacts): Verdict {
  const size = `${Number((maxWalBytes / GB).toFixed(1))} GB`
  if (maxWalBytes >= MAX_WAL_BYTES) return pass(`max_wal_size is ${size}`)
  return warn(`max_wal_size is ${size}: checkpoints slow down a busy server`, 'Set max_wal_size = 4GB or more.')
}

function checkLatency({ roundTripMs }: DatabaseFacts): Verdict {
  const time = `${roundTripMs.toFixed(1)} ms`
  if (roundTripMs <= ROUND_TRIP_MS) return pass(`a round trip takes ${time}`)
  return warn(
    `a round trip takes ${time}: each message waits for several`,
    'Place the nodes in the same data center as the primary server.',
  )
}

function checkDatabaseClock({ clockAheadMs }: DatabaseFacts): Verdict {
  const off = `${(Math.abs(clockAheadMs) / 1000).toFixed(1)} s ${clockAheadMs > 0 ? 'ahead of' : 'behind'} PostgreSQL`
  if (Math.abs(clockAheadMs) <= CLOCK_MS) return pass('in step with PostgreSQL')
  return warn(`the clock of this machine is ${off}`, 'Enable time synchronization on both: timedatectl set-ntp true')
}

function checkVacuum({ autovacuum, frozenAge }: DatabaseFacts): Verdict {
  if (!autovacuum) return fail('autovacuum is off', 'In postgresql.conf, set autovacuum = on.')
  const millions = Math.round(frozenAge / 1e6)
  const message = `the oldest row is ${millions} million transactions old`
  if (frozenAge < FROZEN_WARN) return pass(`autovacuum is on; ${message}`)
  const advice = 'End old transactions and unused replication slots, then run `vacuumdb --freeze --all`.'
  return frozenAge < FROZEN_FAIL ? warn(message, advice) : fail(`${message}; PostgreSQL stops at 2,000 million`, advice)
}

function checkTransactions({ oldestTransactionMs, seesAll, user }: DatabaseFacts): Verdict {
  if (oldestTransactionMs !== null && oldestTransactionMs > OLD_TRANSACTION_MS) {
    return warn(
      `a transaction is open for ${Math.round(oldestTransactionMs / 60_000)} minutes: vacuum cannot remove what came after it`,
      'Find it in pg_stat_activity by xact_start, and end it: select pg_terminate_backend(pid)',
    )
  }
  return seesAll
    ? pass('no transaction is open for long')
    : skip(`${user} sees no transactions of others; to check them, run: grant pg_monitor to ${user}`)
}

function checkReplicationSlots({ replicationSlots, maxWalBytes }: DatabaseFacts): Verdict {
  if (replicationSlots.length === 0) return skip('no replication slot')
  const behind = replicationSlots.find(({ isActive, keptBytes }) => keptBytes > (isActive ? KEPT_BYTES : maxWalBytes))
  if (behind === undefined) return pass(`${replicationSlots.length} replication slots keep up`)
  return warn(
    `the replication slot ${behind.name} ${behind.isActive ? 'is behind' : 'is not in use'} and keeps ${Math.round(behind.keptBytes / GB)} GB of WAL`,
    'Start its standby, or drop it: select pg_drop_replication_slot(name)',
  )
}
