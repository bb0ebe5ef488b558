import { systemClock } from '../os/clock.ts'
import type { Store } from '../storage/store.ts'
import { nodeRecord } from '../web/api/routes/node-record.ts'
import { requireConfig, withStore } from './cli-context.ts'
import { CommandFailure, usageFault } from './failure.ts'
import { print, printJson, table } from './print.ts'

interface Options {
  config: string
  json?: true
}

/** Longest wait for a node that drains: as long as a stop. */
const DRAIN_MS = 30_000
const LOOK_MS = 250

/** Prints the nodes of the installation, by name. */
export async function listNodes({ config: file, json }: Options): Promise<void> {
  const config = requireConfig(file)
  await withStore(config, async ({ store }) => {
    const records = (await store.nodes.list()).map(nodeRecord)
    if (json) return printJson({ data: records })
    if (config.database.url === '') return print('This installation uses SQLite and has one server: postrider status')
    const rows = records.map(({ name, hostname, version, state, in_progress, started_at, seen_at }) => {
      return [name, hostname, version, state, String(in_progress), started_at, seen_at]
    })
    const heads = ['name', 'hostname', 'version', 'state', 'in progress', 'started', 'last seen']
    print(table(heads, rows) || 'no node has started yet')
  })
}

/** Tells a running node to hand its work over, and waits until it has, at most 30 s. Throws CommandFailure if no node of
 *  that name runs. */
export async function drainNode(name: string, { config: file, json }: Options): Promise<void> {
  await withNodes(file, async ({ store, operator }) => {
    const about = { organizationId: null, body: { name } }
    const result = await operator.manage('nodes_drain', about, () => store.nodes.drain(name))
    if (result === 'unknown') {
      throw new CommandFailure(`no node ${name} runs. List the nodes with: postrider node list`)
    }
    const { underWay, others } = await untilDrained(store, name)
    const isChanged = result === 'draining'
    if (json) return printJson({ name, changed: isChanged, in_progress: underWay })
    const rest = underWay === 0 ? 'It has handed everything over.' : `${underWay} attempts are still in progress.`
    const alone = others ? '' : '\nNo other node handles mail: it waits until one does.'
    print(
      isChanged
        ? `${name} drains. ${rest} It still answers HTTP and SMTP. To use it again, restart it.${alone}`
        : `${name} drains already. ${rest} Nothing was changed.${alone}`,
    )
  })
}

/** Takes an ended node off the list. Throws CommandFailure if it runs. */
export async function forgetNode(name: string, { config: file, json }: Options): Promise<void> {
  await withNodes(file, async ({ store, operator }) => {
    const about = { organizationId: null, body: { name } }
    const result = await operator.manage('nodes_forget', about, () => store.nodes.forget(name))
    if (result === 'running') {
      throw new CommandFailure(`the node ${name} has not ended. Stop it first: systemctl stop postrider`)
    }
    const isChanged = result === 'forgotten'
    if (json) printJson({ name, changed: isChanged })
    else print(isChanged ? `${name} is off the list.` : `No ended node ${name} is on the list. Nothing was changed.`)
  })
}

/** Throws CommandFailure (exit code 2) if the installation uses SQLite. */
async function withNodes(file: string, work: Parameters<typeof withStore<void>>[1]): Promise<void> {
  const config = requireConfig(file)
  if (config.database.url === '') {
    throw usageFault('This installation uses SQLite and has one server. Several nodes need database.url.')
  }
  await withStore(config, work)
}

async function untilDrained(
  { nodes }: Pick<Store, 'nodes'>,
  name: string,
): Promise<{ underWay: number; others: boolean }> {
  for (const endsAt = systemClock.steady.now() + DRAIN_MS; ; await systemClock.sleep(LOOK_MS)) {
    const all = await nodes.list()
    const own = all.filter((node) => node.name === name && node.state !== 'ended')
    const underWay = own.reduce((sum, node) => sum + node.underWay, 0)
    const isOver = own.every(({ isHandedOver }) => isHandedOver) || systemClock.steady.now() >= endsAt
    if (isOver) return { underWay, others: all.some(({ state }) => state === 'active') }
  }
}
