import type { Config } from '../config/load.ts'
import { zoneSettings } from '../domains/zone-records.ts'
import type { ZoneUpdateState } from '../health/zone-update.ts'
import type { PoolMetrics } from '../metrics/pools.ts'
import type { PresentLabel } from '../name-server/present-zone.ts'
import type { SignedServer } from '../name-server/signed-connection.ts'
import type { TransferAnswer, TransferJob } from '../name-server/transfer/worker.ts'
import { connectToUpdate, type UpdateConnection } from '../name-server/update-client.ts'
import { type PresentZone, presentZone, writeZone } from '../name-server/zone-updater.ts'
import type { WallClock } from '../os/clock.ts'
import type { Log } from '../os/log.ts'
import { createThreadPool, threadRunner } from '../os/thread-pool.ts'
import type { Store } from '../storage/store.ts'
import { startTransferThread } from '../threads.ts'
import { nodeHosts } from './name-server.ts'

/** Writes the zone into the operator's name server (`dns.update`). */
export interface ZoneUpdates {
  /** Starts one run if none is under way and the last failure is long enough ago. Never throws. For the leader only. */
  run(): void
  /** Null if this node does not write: another one leads, or it has just started. */
  state(): ZoneUpdateState | null
  /** Resolves when no run is under way. */
  idle(): Promise<void>
  stop(): Promise<void>
}

export interface ZoneUpdateDeps {
  store: Store
  clock: WallClock
  log: Log
  /** Reads the zone; rejects with what is wrong. By default in a thread. */
  read: (server: SignedServer, zone: string) => Promise<PresentLabel[]>
}

/** The server of `dns.update`; null if that is off. */
export function updateServerOf({ dns }: Config): SignedServer | null {
  const { server, keyName, key, algorithm } = dns.update
  if (server === null) return null
  return { ...server, key: { name: keyName, algorithm, secret: Buffer.from(key, 'base64') } }
}

/** Null if `dns.update` is off. The thread starts with the first run, and ends when it has nothing to do. */
export function openZoneUpdates(
  config: Config,
  { pools, ...deps }: Omit<ZoneUpdateDeps, 'read'> & { pools: PoolMetrics },
): ZoneUpdates | null {
  const server = updateServerOf(config)
  if (server === null) return null
  const pool = createThreadPool<TransferJob, TransferAnswer>({
    name: 'zone_transfer',
    start: threadRunner(startTransferThread),
    count: 1,
    perRunner: 1,
    computeMs: COMPUTE_MS,
    totalMs: TOTAL_MS,
    idleMs: IDLE_MS,
    clock: deps.clock.steady,
    log: deps.log,
    onEvent: pools.onEvent,
  })
  pools.add('zone_transfer', pool.state)
  const read: ZoneUpdateDeps['read'] = async (from, zone) => {
    const { labels, error } = await pool.run({ server: from, zone, now: deps.clock.now() })
    if (error !== null) throw new Error(error)
    return labels
  }
  const updates = createZoneUpdates(config, server, { ...deps, read })
  return { ...updates, stop: () => Promise.all([updates.stop(), pool.stop()]).then(() => {}) }
}

/** What the server has is read at the first run, after a failure and once an hour; between, a run without changes sends
 *  nothing. After a refusal because of foreign names it is read again after ten minutes. */
export function createZoneUpdates(config: Config, server: SignedServer, deps: ZoneUpdateDeps): ZoneUpdates {
  const { store, clock, log, read } = deps
  const { steady } = clock
  const { keyName } = config.dns.update
  let present: PresentZone | null = null
  let readAgainAt = 0
  let calledAt = Number.NEGATIVE_INFINITY
  let mayRunAt = 0
  let failures = 0
  let underWay: Promise<void> | null = null
  let open: UpdateConnection | null = null
  let isStopped = false
  let state: ZoneUpdateState | null = null

  const write = async () => {
    const settings = zoneSettings(config, await nodeHosts(store))
    if (settings === null) throw new Error('dns.update without dns.zone') // the rules of the config exclude it
    const isRead = present === null || steady.now() >= readAgainAt
    if (present === null || isRead) {
      present = presentZone(await read(server, settings.zone))
      readAgainAt = steady.now() + READ_MS
    }
    // TSIG needs the time of day.
    const connect = () => (open ??= connectToUpdate(server, { now: clock.now, sleep: steady.sleep }))
    const changed = await writeZone(store, settings, { connect, present, keyName })
    const foreign = [...present.foreign]
    if (foreign.length > 0) readAgainAt = Math.min(readAgainAt, steady.now() + FOREIGN_MS)
    if (changed > 0) log.info('zone written to the name server', { domains: changed })
    const isNew = foreign.some((label) => !state?.foreign.includes(label))
    if (isNew)
      log.warn('the name server has names that this server did not make', { labels: foreign.slice(0, MOST_NAMED) })
    if (isRead || changed > 0 || isNew) state = { succeededAt: clock.now(), failure: null, foreign }
  }

  const run = async () => {
    try {
      await write()
      failures = 0
    } catch (error) {
      if (isStopped) return
      present = null
      mayRunAt = steady.now() + Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures++)
      const failure = { at: clock.now(), message: error instanceof Error ? error.message : String(error) }
      const before = state ?? { succeededAt: null, failure: null, foreign: [] }
      state = { ...before, failure: { since: before.failure?.since ?? failure.at, ...failure } }
      log.error('zone not written to the name server', { server: `${server.host}:${server.port}`, error })
    } finally {
      open?.close()
      open = null
    }
  }

  return {
    run: () => {
      const isAgain = steady.now() - calledAt > GAP_MS
      calledAt = steady.now()
      if (isStopped || underWay !== null || steady.now() < mayRunAt) return
      if (isAgain) present = null // another node may have written meanwhile
      underWay = run().finally(() => {
        underWay = null
      })
    },
    state: () => (steady.now() - calledAt > GAP_MS ? null : state),
    idle: async () => {
      await underWay
    },
    stop: async () => {
      isStopped = true
      open?.close()
      await underWay
    },
  }
}

const READ_MS = 60 * 60_000
/** Calls come every 15 seconds while this node leads. */
const GAP_MS = 2 * 60_000
const FOREIGN_MS = 10 * 60_000
const FIRST_WAIT_MS = 15_000
const LONGEST_WAIT_MS = 10 * 60_000
const MOST_NAMED = 5
/** For one message of at most 64 kB. */
const COMPUTE_MS = 5_000
/** Above the limit of a transfer. */
const TOTAL_MS = 90_000
const IDLE_MS = 30_000
