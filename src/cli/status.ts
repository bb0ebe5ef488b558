import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../os/clock.ts'
import type { Waiting } from '../storage/store.ts'
import { VERSION } from '../version.ts'
import { requireConfig, withCliContext } from './cli-context.ts'
import { CommandFailure, EXIT, type ExitCode } from './failure.ts'
import { print, printJson, table } from './print.ts'
import { isServed, readServing } from './serving.ts'

/** Prints whether a server runs, since when, its listeners and its queues. Returns 0 if it runs, otherwise 1. Throws
 *  CommandFailure without a database. */
export async function status(options: { config: string; json?: true }): Promise<ExitCode> {
  const { dataDir } = requireConfig(options.config)
  if (!existsSync(join(dataDir, 'postrider.db'))) {
    throw new CommandFailure(`data_dir ${dataDir}: no database yet. Create it with: postrider init`)
  }
  return withCliContext(options.config, async ({ store }) => {
    const running = isServed(dataDir)
    const serving = running ? readServing(dataDir) : null
    const now = systemClock.now()
    const waiting = await store.queues.waiting(now)
    const held = await store.held.count()
    const queues = QUEUES.map(([name, shown]) => [shown, record(waiting[name], held[name], now)] as const)
    if (options.json) {
      const version = serving?.version ?? VERSION
      const { pid = null, started_at = null, listeners = null } = serving ?? {}
      printJson({ running, version, pid, started_at, listeners, queues: Object.fromEntries(queues) })
    } else {
      const rows = queues.map(([name, { due, later, held, oldest_due_seconds: oldest }]) => {
        return [name, String(due), String(later), String(held), oldest === null ? '' : `${oldest} s`]
      })
      print(`${headOf(running, serving)}\n\n${table(['queue', 'due', 'scheduled', 'held', 'oldest due'], rows)}`)
    }
    return running ? EXIT.done : EXIT.failed
  })
}

const QUEUES = [
  ['deliveries', 'deliveries'],
  ['webhookDeliveries', 'webhook_deliveries'],
  ['inboundDeliveries', 'inbound_deliveries'],
] as const

const record = ({ due, later, oldestDueAt }: Waiting, held: number, now: number) => ({
  due,
  later,
  held,
  oldest_due_seconds: oldestDueAt === null ? null : Math.max(0, Math.round((now - oldestDueAt) / 1000)),
})

function headOf(running: boolean, serving: ReturnType<typeof readServing>): string {
  if (!running) return 'No server is running on this data directory.'
  if (serving === null) return 'A server is starting or stopping.'
  const { version, pid, started_at, listeners } = serving
  const open = Object.entries(listeners).flatMap(([name, at]) => (at === null ? [] : [`  ${name} ${at}`]))
  return [`Postrider ${version}, running since ${started_at} (pid ${pid})`, ...open].join('\n')
}
