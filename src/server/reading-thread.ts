import { join } from 'node:path'
import type { Config } from '../config/load.ts'
import type { PoolMetrics } from '../operating/metrics/pools.ts'
import type { WallClock } from '../os/clock.ts'
import type { Log } from '../os/log.ts'
import { createThreadPool, nativeThreadRunner } from '../os/thread-pool.ts'
import { DATABASE_FILE } from '../storage/sqlite/open.ts'
import type { ReadingSettings, ReadingThread, ReadJob } from '../storage/sqlite/reader.ts'
import { startStorageThread } from '../threads.ts'

/** The thread for lists, searches and statistics of SQLite. It starts with its first read, and is started
 *  again if it dies. */
export function openReadingThread(
  { dataDir }: Pick<Config, 'dataDir'>,
  { clock, pools, log }: { clock: WallClock; pools: Pick<PoolMetrics, 'add' | 'onEvent'>; log: Log },
): ReadingThread {
  const settings: ReadingSettings = { file: join(dataDir, DATABASE_FILE) }
  const pool = createThreadPool<ReadJob, unknown>({
    name: 'storage',
    start: nativeThreadRunner(startStorageThread),
    count: 1,
    perRunner: 1,
    computeMs: READ_COMPUTE_MS,
    totalMs: READ_TOTAL_MS,
    ownerOf: ({ owner }) => owner,
    settings,
    describe: ({ name, owner }) => ({ read: name, organization_id: owner }),
    clock: clock.steady,
    log,
    onEvent: pools.onEvent,
  })
  pools.add('storage', pool.state)
  return pool
}

/** A read ends by itself within a tenth of a second; a slow disk may take longer. */
const READ_COMPUTE_MS = 10_000
const READ_TOTAL_MS = 20_000
