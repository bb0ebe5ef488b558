import { iso } from '../model/event.ts'
import { systemClock } from '../os/clock.ts'
import { type LastUpgrade, readLastUpgrade } from '../os/last-upgrade.ts'
import type { NodeRecord, Waiting } from '../storage/store.ts'
import { VERSION } from '../version.ts'
import { nodeRecord } from '../web/api/routes/node-record.ts'
import { hasDatabase, requireConfig, withCliContext } from './cli-context.ts'
import { CommandFailure, EXIT, type ExitCode } from './failure.ts'
import { print, printJson, table } from './print.ts'
import { isServed, readServing } from './serving.ts'

/** Prints whether a server runs here, since when, its listeners, the queues and the nodes of the installation. Returns 0
 *  if it runs, otherwise 1. Throws CommandFailure without a database. */
export async function status(options: { config: string; json?: true }): Promise<ExitCode> {
  const config = requireConfig(options.config)
  const { dataDir, database } = config
  if (!hasDatabase(config)) {
    throw new CommandFailure(`data_dir ${dataDir}: no database yet. Create it with: postrider init`)
  }
  return withCliContext(options.config, async ({ store }) => {
    const running = isServed(dataDir)
    const serving = running ? readServing(dataDir) : null
    const now = systemClock.now()
    const waiting = await store.queues.waiting(now)
    const held = await store.held.count()
    const queues = QUEUES.map(([name, shown]) => [shown, record(waiting[name], held[name], now)] as const)
    const nodes = await store.nodes.list()
    const upgraded = readLastUpgrade(dataDir)
    if (options.json) {
      const version = serving?.version ?? VERSION
      const { pid = null, started_at = null, listeners = null } = serving ?? {}
      printJson({
        running,
        version,
        pid,
        started_at,
        listeners,
        last_upgrade: upgraded === null ? null : { ...upgraded, at: iso(upgraded.at) },
        queues: Object.fromEntries(queues),
        ...(database.url === '' ? {} : { nodes: nodes.map(nodeRecord) }),
      })
    } else {
      const rows = queues.map(([name, { due, later, held, oldest_due_seconds: oldest }]) => {
        return [name, String(due), String(later), String(held), oldest === null ? '' : `${oldest} s`]
      })
      const queueTable = table(['queue', 'due', 'scheduled', 'held', 'oldest due'], rows)
      print(
        [headOf(running, serving), upgradeLine(upgraded), queueTable, nodeTable(nodes)]
          .filter((part) => part !== '')
          .join('\n\n'),
      )
    }
    return running ? EXIT.done : EXIT.failed
  })
}

const UPGRADED = {
  done: 'Upgraded',
  rolled_back: 'Went back after an upgrade',
  kept: 'Upgraded, but not ready in time,',
}

/** '' without an upgrade. */
const upgradeLine = (last: LastUpgrade | null) =>
  last === null ? '' : `${UPGRADED[last.result]} from ${last.from} to ${last.to} at ${iso(last.at)}.`

/** '' without nodes. */
const nodeTable = (nodes: readonly NodeRecord[]) =>
  table(
    ['node', 'state', 'in progress', 'version'],
    nodes.map(({ name, state, underWay, version }) => [name, state, String(underWay), version]),
  )

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
