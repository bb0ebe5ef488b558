import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DatabaseAddress, parseDatabaseUrl } from '../../../src/storage/postgres/address.ts'
import { type Connection, connect } from '../../../src/storage/postgres/connection.ts'
import { until } from '../../support/patience.ts'
import { startPostgres, type TestPostgres } from '../../support/postgres.ts'
import { type Fault, unless } from '../long/fault.ts'
import { clusterFault, untilBothWork, untilMore } from './run.ts'
import { TAKEOVER_MS } from './setup.ts'

const DATABASE = 'postrider'
const MEASURED_MS = 5_000
const POLL_MS = 100
/** In each round. */
const REFUSALS = 50
/** Of the rate without a long transaction. */
const LEAST_SHARE = 0.5

/** PostgreSQL refuses a fifth of the changes, each time with another of the codes after which they are repeated. */
export const refusals: Fault = clusterFault({
  name: 'cluster.refusals',
  needs: [],
  rounds: { long: 10, short: 1 },
  run: async ({ cluster, load, bench }) => {
    // cluster.sql would block this process, and with it the proxies. A new trigger waits for open transactions of the
    // nodes, whose next statements pass through them.
    const session = await connect({ address: parseDatabaseUrl(cluster.servers[0]!.url(DATABASE)), name: 'triggers' })
    await session.query(`create function refuse() returns trigger language plpgsql as $$
      declare codes text[] := array['40001', '40P01', '55P03'];
      begin
        if random() < 0.2 then raise exception using errcode = codes[1 + floor(random() * 3)]; end if;
        return null;
      end $$`)
    for (const [table, when] of REFUSING) {
      await session.query(
        `create trigger refuse before ${when} on ${table} for each statement execute function refuse()`,
      )
    }
    let rollbacks = 0
    await until('refusals', async () => {
      const [row] = await session.query<{ xact_rollback: number }>(ROLLBACKS)
      rollbacks = Number(row?.xact_rollback)
      await Bun.sleep(POLL_MS)
      return rollbacks > bench.rounds * REFUSALS
    })
    for (const [table] of REFUSING) await session.query(`drop trigger refuse on ${table}`)
    session.close()
    await untilBothWork(cluster, load)
    return { figures: `${rollbacks} transactions refused`, broken: [] }
  },
})

const REFUSING = [
  ['messages', 'insert'],
  ['deliveries', 'update'],
  ['attempts', 'insert'],
  ['webhook_deliveries', 'update'],
  ['webhook_attempts', 'insert'],
] as const
const ROLLBACKS = 'select xact_rollback from pg_stat_database where datname = current_database()'

/** Another session holds a transaction with a snapshot open, for a minute a round. */
export const snapshot: Fault = clusterFault({
  name: 'cluster.snapshot',
  needs: [],
  rounds: { long: 60, short: 5 },
  run: async ({ cluster, load, bench }) => {
    const before = load.promised.size
    await Bun.sleep(MEASURED_MS)
    const calm = (load.promised.size - before) / MEASURED_MS
    const session = await connect({
      address: parseDatabaseUrl(cluster.servers[0]!.url(DATABASE)),
      name: 'idle',
      settings: IDLE,
    })
    await session.query('begin isolation level repeatable read')
    await session.query('select count(*) from deliveries')
    const [held, beganAt] = [load.promised.size, performance.now()]
    await Bun.sleep(bench.rounds * 1_000)
    const share = (load.promised.size - held) / (performance.now() - beganAt) / calm
    await untilMore(load)
    session.close()
    return {
      figures: `a snapshot held for ${bench.rounds} s, ${share.toFixed(2)} of the rate before`,
      broken: [],
      slow: unless(share >= LEAST_SHARE, `only ${share.toFixed(2)} of the rate before`),
    }
  },
})

const IDLE = { idle_in_transaction_session_timeout: '0' }

/** All connections of PostgreSQL are taken, and the nodes lose theirs. */
export const connections: Fault = clusterFault({
  name: 'cluster.connections',
  needs: [],
  rounds: { long: 5, short: 1 },
  postgres: { settings: { max_connections: '40', superuser_reserved_connections: '3' } },
  run: async ({ cluster, load, bench, mayComeTwice }) => {
    const [server] = cluster.servers as [TestPostgres]
    const address = parseDatabaseUrl(server.url(DATABASE))
    const admin = await connect({ address, name: 'admin' })
    for (let round = 0; round < bench.rounds; round++) {
      mayComeTwice(...cluster.nodes)
      const taken = await takeAll(admin, address)
      await Bun.sleep(0.6 * TAKEOVER_MS)
      for (const connection of taken) connection.close()
      await untilMore(load, 1)
      await untilBothWork(cluster, load)
    }
    admin.close()
    const isRunning = cluster.nodes.every(({ process }) => process!.exitCode === null)
    return {
      figures: `${bench.rounds} times without a free connection`,
      broken: unless(isRunning, 'a node ended'),
    }
  },
})

/** Takes the free connections while the nodes work, then ends their sessions and takes those. */
async function takeAll(admin: Connection, address: DatabaseAddress): Promise<Connection[]> {
  const taken: Connection[] = []
  for (let isFirst = true; ; isFirst = false) {
    if (!isFirst) await admin.query(END_SESSIONS)
    const more = await Promise.allSettled(Array.from({ length: 40 }, () => connect({ address, name: 'guest' })))
    const made = more.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    if (made.length === 0 && !isFirst) return taken
    taken.push(...made)
  }
}

const END_SESSIONS = `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'postrider %'`

/** The disk of PostgreSQL is full. */
export const disk: Fault = clusterFault({
  name: 'cluster.disk',
  needs: ['mount'],
  rounds: { long: 3, short: 1 },
  servers: async (options) => {
    const disk = mkdtempSync(join(tmpdir(), 'postrider-disk-'))
    spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m,mode=755`, 'tmpfs', disk])
    const server = await startPostgres({ ...options, parent: disk, settings: { max_wal_size: '64MB' } })
    const { stop: stopServer } = server
    const stop = async () => {
      await stopServer()
      spawnSync('umount', ['-l', disk])
      rmSync(disk, { recursive: true, force: true })
    }
    return [Object.assign(server, { stop, disk })]
  },
  run: async ({ cluster, load, bench, mayComeTwice }) => {
    const [server] = cluster.servers as [TestPostgres & { disk: string }]
    const refused = () => load.answers.get('503 unavailable') ?? 0
    const backMs: number[] = []
    for (let round = 0; round < bench.rounds; round++) {
      const before = refused()
      mayComeTwice(...cluster.nodes)
      const ballast = join(server.disk, 'ballast')
      spawnSync('sh', ['-c', `cat /dev/zero > ${ballast}`])
      await until('503 for a full disk', () => refused() >= before + 10)
      await Bun.sleep(1_000)
      rmSync(ballast)
      const freedAt = performance.now()
      // It crashes when the log does not fit, and does not start while it does not.
      if (!server.isRunning()) await server.resume()
      await untilMore(load, 1)
      backMs.push(performance.now() - freedAt)
      await untilBothWork(cluster, load)
    }
    return {
      figures: `${bench.rounds} times full, accepted again after ${Math.max(...backMs).toFixed(0)} ms at most`,
      broken: [],
    }
  },
})

const DISK_MB = 300
