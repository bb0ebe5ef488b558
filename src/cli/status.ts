import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../os/clock.ts'
import type { Waiting } from '../storage/store.ts'
import { VERSION } from '../version.ts'
import { CommandFailure, EXIT, type ExitCode } from './failure.ts'
import { inOffice, requireConfig } from './office.ts'
import { print, printJson, table } from './print.ts'
import { isServed, readServing } from './serving.ts'

/** Whether a server runs, since when and where it listens, and what waits; ends with 1 when none runs. */
export async function status(options: { config: string; json?: true }): Promise<ExitCode> {
  const { dataDir } = requireConfig(options.config)
  if (!existsSync(join(dataDir, 'postrider.db'))) {
    throw new CommandFailure(`data_dir ${dataDir}: there is no database yet; postrider init makes one`)
  }
  return inOffice(options.config, async ({ store }) => {
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
      print(`${headOf(running, serving)}\n\n${table(['queue', 'due', 'later', 'held', 'oldest due since'], rows)}`)
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
  if (!running) return 'no server runs on this data directory'
  if (serving === null) return 'a server starts or stops'
  const { version, pid, started_at, listeners } = serving
  const open = Object.entries(listeners).flatMap(([name, at]) => (at === null ? [] : [`  ${name} ${at}`]))
  return [`Postrider ${version} runs since ${started_at} (process ${pid})`, ...open].join('\n')
}
