import { statSync } from 'node:fs'
import { join } from 'node:path'
import { readLastBackup } from '../os/last-backup.ts'
import type { Memory } from '../os/memory.ts'
import { VERSION } from '../version.ts'
import type { Registry } from './registry.ts'

/** Seconds. */
const COMMIT_BOUNDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1]
const STALL_BOUNDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1]

/** What is told of the process and its store → what hears of commits and of the main thread coming late. */
export function countMachine(
  registry: Registry,
  options: { dataDir: string; startedAt: number; memory: Pick<Memory, 'limitBytes' | 'reservedBytes' | 'refusals'> },
) {
  const { memory } = options
  registry.gauges('postrider_build_info', 'Always 1.', ['version'], () => [{ values: [VERSION], value: 1 }])
  registry.gauge('process_start_time_seconds', 'When it started.', () => options.startedAt / 1000)
  registry.gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss())
  registry.gauge(
    'postrider_memory_limit_bytes',
    'What may be resident before large things wait.',
    () => memory.limitBytes,
  )
  registry.gauge('postrider_memory_reserved_bytes', 'Of that, promised to large things.', memory.reservedBytes)
  registry.total('postrider_memory_refusals_total', 'Large things that found no place in time.', memory.refusals)
  registry.total('postrider_cpu_seconds_total', 'User and system time since the start.', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  const size = (name: string) => () => statSync(join(options.dataDir, name)).size
  registry.gauge('postrider_store_bytes', 'The database file.', size('postrider.db'))
  registry.gauge('postrider_store_log_bytes', 'Its write-ahead log.', size('postrider.db-wal'))
  registry.gauges('postrider_backup_last_success_timestamp_seconds', 'When the last backup was made.', [], () => {
    const last = readLastBackup(options.dataDir)
    return last === null ? [] : [{ values: [], value: last.madeAt / 1000 }]
  })
  const commits = registry.histogram('postrider_store_commit_seconds', 'Transactions of the writer.', COMMIT_BOUNDS)
  const stalls = registry.histogram(
    'postrider_main_thread_late_seconds',
    'How late the main thread came to a timer of 50 ms.',
    STALL_BOUNDS,
  )
  return {
    committed: (ms: number) => commits(ms / 1000),
    late: (ms: number) => stalls(ms / 1000),
  }
}
