import { statSync } from 'node:fs'
import { join } from 'node:path'
import { readLastBackup } from '../../os/last-backup.ts'
import type { Memory } from '../../os/memory.ts'
import { VERSION } from '../../version.ts'
import type { Registry } from './registry.ts'

/** Seconds. */
const COMMIT_BOUNDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1]
const STALL_BOUNDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1]

/** Metrics of the process and its store; returns the recorders of commits and timer delays. */
export function countMachine(
  registry: Registry,
  options: { dataDir: string; startedAt: number; memory: Pick<Memory, 'limitBytes' | 'reservedBytes' | 'refusals'> },
) {
  const { memory } = options
  registry.gauges('postrider_build_info', 'Always 1. Label version has the running version.', ['version'], () => [
    { values: [VERSION], value: 1 },
  ])
  registry.gauge('process_start_time_seconds', 'Start time of the process.', () => options.startedAt / 1000)
  registry.gauge('process_resident_memory_bytes', 'Resident memory of the process.', () => process.memoryUsage.rss())
  registry.gauge(
    'postrider_memory_limit_bytes',
    'Memory limit. Large requests and messages wait when usage is close to it.',
    () => memory.limitBytes,
  )
  registry.gauge(
    'postrider_memory_reserved_bytes',
    'Memory reserved for large requests and messages.',
    memory.reservedBytes,
  )
  registry.total(
    'postrider_memory_refusals_total',
    'Large requests and messages rejected for lack of memory.',
    memory.refusals,
  )
  registry.total('postrider_cpu_seconds_total', 'User and system CPU time.', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  const size = (name: string) => () => statSync(join(options.dataDir, name)).size
  registry.gauge('postrider_store_bytes', 'Size of the database file.', size('postrider.db'))
  registry.gauge('postrider_store_log_bytes', 'Size of the write-ahead log.', size('postrider.db-wal'))
  registry.gauges('postrider_backup_last_success_timestamp_seconds', 'Time of the last successful backup.', [], () => {
    const last = readLastBackup(options.dataDir)
    return last === null ? [] : [{ values: [], value: last.madeAt / 1000 }]
  })
  const commits = registry.histogram('postrider_store_commit_seconds', 'Duration of database commits.', COMMIT_BOUNDS)
  const stalls = registry.histogram(
    'postrider_main_thread_late_seconds',
    'Delay of a 50 ms timer on the main thread.',
    STALL_BOUNDS,
  )
  return {
    committed: (ms: number) => commits(ms / 1000),
    late: (ms: number) => stalls(ms / 1000),
  }
}

/** Reports every 50 ms by how many milliseconds the main thread was late. Uses a real timer, whatever clock the server
 *  uses, and does not keep the process alive. Returns what stops it. */
export function watchStalls(late: (ms: number) => void): () => void {
  let dueAt = performance.now() + EVERY_MS
  const timer = setInterval(() => {
    const now = performance.now()
    late(Math.max(0, now - dueAt))
    dueAt = now + EVERY_MS
  }, EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** Interval of the measurement. */
const EVERY_MS = 50
