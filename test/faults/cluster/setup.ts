import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { closeSync, copyFileSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { startZone } from '../../../src/cli/try/zone-server.ts'
import { freePort } from '../../support/free-port.ts'
import { PATIENCE_MS, until } from '../../support/patience.ts'
import { type PostgresOptions, startPostgres, type TestPostgres } from '../../support/postgres.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { exitOf, NeverReady, startSink } from '../setup.ts'
import { type NodeProxy, startProxy } from './proxy.ts'
import { type ClusterSink, createTraffic } from './traffic.ts'

/** Above the shortest that the configuration permits: a busy machine stops a node for 3 s. */
export const TAKEOVER_MS = 5_000
/** Destinations, each with an MX host and an address of its own: the nodes divide them. */
export const DESTINATIONS = 12
/** To each destination, over all nodes. */
export const CONNECTIONS = 4
const REPLY_MS = 5
/** How long a client of the load waits for an answer. */
const ANSWER_MS = 2_000
const DATABASE = 'postrider'

/** A process of the built program. */
export interface ClusterNode {
  name: string
  port: number
  /** Between it and each PostgreSQL server. */
  proxies: NodeProxy[]
  /** Local address of its deliveries. */
  source: string
  /** The running process. */
  process: ChildProcess | null
  /** Starts it and waits until it is ready; rejects with NeverReady. */
  serve(environment?: Record<string, string>): Promise<void>
  /** Kills it → after its end. */
  kill(): Promise<void>
  /** Rejects without an answer within `waitMs`: as long as a client of the load waits, by default. */
  api(method: string, path: string, body?: object, headers?: Record<string, string>, waitMs?: number): Promise<Response>
  /** What its last process logged. */
  log(): string
}

/** Two nodes of the built program on one PostgreSQL, with peers that outlive them. */
export interface TestCluster {
  folder: string
  /** The servers of the URL; which of them accepts writes is up to the test. */
  servers: TestPostgres[]
  nodes: [ClusterNode, ClusterNode]
  sink: ClusterSink
  receiver: Receiver
  /** API key with every permission. */
  key: string
  /** Runs a statement on the server that accepts writes → the rows, split into columns. */
  sql(statement: string): string[][]
  close(): Promise<void>
}

/** Starts PostgreSQL with fsync on, and both nodes with the domain example.com and a webhook for deliveries. `servers`
 *  starts the servers, in the order of the URL. Throws when the program was not built. */
export async function makeTestCluster({
  program,
  postgres = {},
  servers: startServers = async (options) => [await startPostgres(options)],
}: {
  program: string
  postgres?: PostgresOptions
  servers?: (options: PostgresOptions) => Promise<TestPostgres[]>
}): Promise<TestCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-cluster-'))
  const servers = await startServers({ isDurable: true, parent: tmpdir(), ...postgres })
  await servers[0]!.createDatabase(DATABASE)
  const traffic = createTraffic()
  const sink = Object.assign(traffic, await startSink({ host: '0.0.0.0', replyMs: REPLY_MS, traffic }))
  const receiver = await startReceiver()
  const zone = await startZone(
    Array.from({ length: DESTINATIONS }, (_, n) => [
      { name: domainOf(n), type: 'MX' as const, data: { preference: 10, exchange: `mx.${domainOf(n)}` } },
      { name: `mx.${domainOf(n)}`, type: 'A' as const, data: `127.0.7.${n + 1}` },
    ]).flat(),
  )
  const ca = join(folder, 'ca.pem')
  writeFileSync(ca, receiver.ca)
  let key = ''
  const createNode = async (index: number): Promise<ClusterNode> => {
    const proxies = await Promise.all(servers.map(({ port }) => startProxy(port)))
    const name = `node-${index + 1}`
    const nodeFolder = join(folder, name)
    const [source, port] = [`127.0.8.${index + 1}`, await freePort()]
    mkdirSync(join(nodeFolder, 'data'), { recursive: true })
    const hosts = proxies.map((proxy) => `127.0.0.1:${proxy.port}`)
    const config = configOf({
      folder: nodeFolder,
      url: `postgres://postgres@${hosts.join()}/${DATABASE}`,
      name,
      port,
      source,
      sinkPort: sink.port,
      dns: zone.address,
      ca,
    })
    writeFileSync(join(nodeFolder, 'config.toml'), config)
    const log = join(nodeFolder, 'log')
    const node: ClusterNode = {
      name,
      port,
      proxies,
      source,
      process: null,
      serve: async (environment = {}) => {
        const output = openSync(log, 'w')
        const child = spawn(program, ['serve', '--config', join(nodeFolder, 'config.toml')], {
          stdio: ['ignore', 'pipe', output],
          env: { ...process.env, ...environment },
        })
        closeSync(output)
        node.process = child
        const limit = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
        try {
          for await (const line of createInterface({ input: child.stdout! })) {
            if (JSON.parse(line).event === 'ready') return
          }
        } finally {
          clearTimeout(limit)
        }
        throw new NeverReady(await exitOf(child), `${name} ended before it was ready: ${readFileSync(log, 'utf8')}`)
      },
      kill: async () => {
        if (node.process === null) return
        node.process.kill('SIGKILL')
        await exitOf(node.process)
      },
      api: (method, path, body, headers = {}, waitMs = ANSWER_MS) =>
        fetch(`http://127.0.0.1:${port}${path}`, {
          method,
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
          body: body === undefined ? null : JSON.stringify(body),
          signal: AbortSignal.timeout(waitMs),
        }),
      log: () => readFileSync(log, 'utf8'),
    }
    return node
  }
  const nodes: [ClusterNode, ClusterNode] = [await createNode(0), await createNode(1)]
  const close = async () => {
    for (const node of nodes) {
      node.process?.kill('SIGCONT')
      await node.kill()
      for (const proxy of node.proxies) proxy.stop()
    }
    await zone.stop()
    await receiver.stop()
    sink.server.close()
    for (const server of servers) await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const [config, other] = nodes.map(({ name }) => join(folder, name)) as [string, string]
    const init = ['init', '--config', join(config, 'config.toml'), '--domain', 'example.com', '--skip-checks', '--json']
    // Not synchronously: the proxies are in this process.
    key = JSON.parse((await promisify(execFile)(program, init)).stdout).api_key
    copyFileSync(join(config, 'data/seal.key'), join(other, 'data/seal.key'))
    await Promise.all(nodes.map((node) => node.serve()))
    const webhook = { url: receiver.url, events: ['message.delivered', 'message.bounced'] }
    // As in the load: on a busy machine the first answer may be 503.
    await until('the webhook', async () => {
      const once = { 'Idempotency-Key': 'webhook' }
      const { status } = await nodes[0].api('POST', '/v1/webhooks', webhook, once, PATIENCE_MS)
      if (status !== 201 && status !== 503) throw new Error(`the webhook was not created: ${status}`)
      return status === 201
    })
  } catch (error) {
    await close()
    throw error
  }
  return {
    folder,
    servers,
    nodes,
    sink,
    receiver,
    key,
    sql: (statement) => {
      for (const server of servers) {
        try {
          if (server.psql('select pg_is_in_recovery()') === 't') continue
        } catch {
          continue // it is halted
        }
        return server
          .psql(statement, DATABASE)
          .split('\n')
          .filter((row) => row !== '')
          .map((row) => row.split('|'))
      }
      throw new Error('no server accepts writes')
    },
    close,
  }
}

export const domainOf = (destination: number) => `d${destination}.example`

function configOf(node: {
  folder: string
  url: string
  name: string
  port: number
  source: string
  sinkPort: number
  dns: string
  ca: string
}): string {
  return `hostname = "${node.name}.example.com"
data_dir = "${join(node.folder, 'data')}"
[database]
url = "${node.url}"
[cluster]
name = "${node.name}"
takeover_seconds = ${TAKEOVER_MS / 1000}
[http]
listen = "127.0.0.1:${node.port}"
[smtp.inbound]
listen = "off"
[delivery]
port = ${node.sinkPort}
source_address = "${node.source}"
allow_private_destinations = true
retry_schedule_seconds = [1]
max_per_destination = ${CONNECTIONS}
[dns]
servers = ["${node.dns}"]
[webhooks]
allowed_private_networks = ["127.0.0.0/8"]
ca_file = "${node.ca}"
retry_schedule_seconds = [1, 1, 1, 1]
[sending]
require_verified_domain = false
`
}
