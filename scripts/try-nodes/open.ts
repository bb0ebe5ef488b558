import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, copyFileSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { requireConfig, withStore } from '../../src/cli/cli-context.ts'
import type { Colors } from '../../src/cli/print.ts'
import { curlLine } from '../../src/cli/try/format.ts'
import { RECIPIENT } from '../../src/cli/try/open.ts'
import { HOSTNAME, type PeerEvents, type Peers, startPeers } from '../../src/cli/try/peers.ts'
import { createRecords } from '../../src/cli/try/records.ts'
import { freePort } from '../../test/support/free-port.ts'
import { startPostgres, type TestPostgres } from '../../test/support/postgres.ts'

const PROGRAM = join(import.meta.dir, '../../dist/postrider')
const DATABASE = 'postrider'
const STOP_MS = 10_000
/** The least that the config allows. */
export const TAKEOVER_SECONDS = 3

/** One process of the built program. */
export interface TryNode {
  name: string
  /** `127.0.0.1:port` of the API. */
  http: string
  /** Rejects with what it logged if it ends before it is ready. */
  start(): Promise<void>
  kill(): Promise<void>
  pid(): number | undefined
}

export interface TryNodes {
  postgres: TestPostgres
  nodes: TryNode[]
  liveKey: string
  /** Names of the nodes that run, as the database has them. */
  seen(): string[]
}

/** Starts PostgreSQL, the peers and the nodes, with the records of a customer. Each started part adds to `undo` what
 *  stops it; processes are killed at the exit of this one too. */
export async function openNodes(
  { count, ...events }: { count: number } & PeerEvents,
  undo: (() => unknown)[],
): Promise<TryNodes> {
  const postgres = await startPostgres()
  undo.push(() => postgres.stop())
  const url = await postgres.createDatabase(DATABASE)
  const peers = await startPeers(events, undo)
  const ports = await Promise.all(Array.from({ length: count }, freePort))
  const nodes = ports.map((port, index) => createNode({ name: `node-${index + 1}`, port, url, peers }, undo))
  const [first, ...others] = nodes
  const { liveKey } = await withStore(requireConfig(first!.config), (context) => createRecords(context, peers))
  for (const { dataDir } of others) copyFileSync(join(first!.dataDir, 'seal.key'), join(dataDir, 'seal.key'))
  await Promise.all(nodes.map((node) => node.start()))
  const seen = () => postgres.psql(SEEN, DATABASE).split('\n')
  return { postgres, nodes, liveKey, seen }
}

const SEEN = 'select name from nodes where handles_mail and ended_at is null order by name'

/** The introduction for nodes that keep running. */
export function describeNodes({ nodes, liveKey, postgres }: TryNodes, colors: Colors): string {
  return [
    '',
    ...nodes.map(({ name, http, pid }) => `  ${name.padEnd(11)} http://${http}/v1  ${colors.dim(`process ${pid()}`)}`),
    `  ${'PostgreSQL'.padEnd(11)} ${postgres.url(DATABASE)}`,
    `  ${'Live key'.padEnd(11)} ${colors.accent(liveKey)}`,
    '',
    `${colors.bold('Send a message')} ${colors.dim('(in another terminal) to any node, or kill one: kill -9 and its process')}`,
    '',
    curlLine({ baseUrl: `http://${nodes[0]!.http}` }, liveKey, RECIPIENT),
    '',
    `${colors.good('Ready.')} Press Ctrl-C to stop and delete everything.`,
    '',
  ].join('\n')
}

function createNode(
  { name, port, url, peers }: { name: string; port: number; url: string; peers: Peers },
  undo: (() => unknown)[],
) {
  const http = `127.0.0.1:${port}`
  const folder = join(peers.folder, name)
  const dataDir = join(folder, 'data')
  const config = join(folder, 'config.toml')
  const log = join(folder, 'log')
  mkdirSync(dataDir, { recursive: true })
  const off = { listen: 'off' }
  const sections = {
    database: { url },
    cluster: { name, takeover_seconds: TAKEOVER_SECONDS },
    http: { listen: http },
    'smtp.inbound': off,
    'smtp.submission': off,
    ...peers.sections,
  }
  writeFileSync(config, toml({ hostname: HOSTNAME, data_dir: dataDir }, sections))
  let child: ChildProcess | undefined

  const start = async () => {
    const output = openSync(log, 'a')
    // In a process group of its own, so that Ctrl-C in the terminal reaches only this program.
    const started = spawn(PROGRAM, ['serve', '--config', config], { stdio: ['ignore', 'pipe', output], detached: true })
    closeSync(output)
    child = started
    for await (const line of createInterface({ input: started.stdout! })) {
      if (JSON.parse(line).event === 'ready') return
    }
    throw new Error(`${name} ended before it was ready: ${readFileSync(log, 'utf8')}`)
  }
  const end = async (signal: NodeJS.Signals) => {
    const running = child
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return
    const exited = new Promise((resolve) => running.once('exit', resolve))
    running.kill(signal)
    const late = setTimeout(() => running.kill('SIGKILL'), STOP_MS)
    await exited
    clearTimeout(late)
  }
  process.once('exit', () => child?.kill('SIGKILL')) // a second Ctrl-C exits before stop
  undo.push(() => end('SIGTERM'))
  return { name, http, dataDir, config, start, kill: () => end('SIGKILL'), pid: () => child?.pid }
}

/** Top-level keys, and sections of keys → a TOML document. JSON's texts, numbers, booleans and arrays are TOML's. */
function toml(keys: object, sections: object): string {
  const lines = (of: object) => Object.entries(of).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
  const all = Object.entries(sections).map(([name, of]) => [`[${name}]`, ...lines(of)])
  return `${[...lines(keys), ...all.flat()].join('\n')}\n`
}
