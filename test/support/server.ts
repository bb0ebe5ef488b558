import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startZone, type Zone } from '../../src/cli/try/zone-server.ts'
import { type ConfigValues, readValues } from '../../src/config/load.ts'
import { mintDkimKeys, newDomain } from '../../src/domains/keys.ts'
import { dnsRecords } from '../../src/domains/records.ts'
import type { DkimKeyRecord } from '../../src/model/domain.ts'
import { STANDARD_EVENT_TYPES } from '../../src/model/event.ts'
import type { Mode } from '../../src/model/message.ts'
import { createMintId } from '../../src/os/ids.ts'
import { type Log, silentLog } from '../../src/os/log.ts'
import { type Random, systemRandom } from '../../src/os/random.ts'
import { type Server, startServer } from '../../src/server/server.ts'
import { connect } from '../../src/storage/sqlite/driver.ts'
import type { Store } from '../../src/storage/store.ts'
import { readDocument } from './documented.ts'
import { createFakeClock, type FakeClock } from './fake-clock.ts'
import { addKey } from './keys.ts'
import { writeNewStore } from './migrated-store.ts'
import { onceInRun } from './once-in-run.ts'
import { ownServer } from './own-server.ts'
import { PATIENCE_MS, TEST_LIMIT_MS, until } from './patience.ts'
import { type Receiver, startReceiver } from './receiver.ts'

/** 2026-11-21T12:00:00.000Z */
export const START = 1_795_262_400_000
export const DOMAIN = 'sender.example'
const HOSTNAME = `mail.${DOMAIN}`

/** A complete server with real parts: HTTP, SQLite in a directory, delivery threads, DNS over UDP, and an HTTPS receiver of
 *  every event. Only the clock is fake; sockets and threads use real time. */
export interface TestServer {
  /** The running server; a new one after `reopen`. */
  running(): Server
  store(): Store
  clock: FakeClock
  dataDir: string
  zone: Zone
  receiver: Receiver
  webhook: { id: string; secret: string }
  /** Admin keys of the domain. */
  keys: Record<Mode, string>
  organizationId: string
  /** Running threads that were started from this file; delivery threads by default. */
  threads(file?: string): Worker[]
  /** Sends a request over a socket. Throws if the response is not in the OpenAPI document. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answered>
  send(change?: Record<string, unknown>, headers?: Record<string, string>): Promise<Answered>
  /** Returns the body of a 2xx response; throws for any other. */
  read(path: string): Promise<Json>
  /** Returns the message once all its recipients have a final status. */
  ended(messageId: string): Promise<Json>
  /** Returns the message once every recipient was attempted `count` times and all records are stored. */
  tried(messageId: string, count: number): Promise<Json>
  /** Events of the message, oldest first. */
  eventsOf(messageId: string): Promise<Json[]>
  /** Advances the clock to the message's next attempt. */
  toNextAttempt(messageId: string): Promise<void>
  /** Starts another node on the same PostgreSQL database, with a data directory of its own. `close` stops it. */
  addNode(config?: ConfigValues): Promise<{ server: Server; ask: TestServer['ask'] }>
  /** Stops the server. Work that is under way gets all the real time that it needs, unless it hangs: then time goes on until
   *  the server gives it up. */
  stop(how?: 'with work that hangs'): Promise<void>
  /** Starts it again on the same directory. */
  reopen(): Promise<void>
  /** Stops everything. Throws if something of the server remains (leak check), or if a webhook body does not match the OpenAPI
   *  document. */
  close(): Promise<void>
}

export interface Answered {
  status: number
  headers: Headers
  text: string
  bytes: Uint8Array
  body: Json
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export type Json = any

/** The server that receives mail for the recipients' domains. */
export interface Remote {
  port: number
  open(): number
}

/** Starts it with one organization, one verified domain and a webhook for every event. Mail for `*.remote.example` goes to
 *  `remote`; tests add further names to `zone`. */
export async function startTestServer(options: {
  remote: Remote
  config?: ConfigValues
  log?: Log
  /** A module that each thread loads before its own code. */
  preload?: string
  computeMs?: number
}): Promise<TestServer> {
  const { remote, log = silentLog, computeMs } = options
  const threads = watchThreads(options.preload)
  const clock = createFakeClock(START, threads.areReading)
  const folder = mkdtempSync(join(tmpdir(), 'postrider-server-'))
  const [zone, receiver, dkim] = await Promise.all([startZone(WORLD), startReceiver(), sharedDkimKeys()])
  writeFileSync(join(folder, 'ca.pem'), receiver.ca)
  const { config, settings } = testConfig(folder, { remote, zone: zone.address, values: options.config })

  if (config.database.url === '') {
    mkdirSync(config.dataDir, { mode: 0o700 })
    writeNewStore(config.dataDir)
  }
  let server = await startServer(config, { log, clock, random, computeMs, settings, manual: packedManual })
  let isOpen = true
  const nodes: Server[] = []
  const made = await seed(server.store, zone, dkim)
  const keys = made.keys
  const document = await sharedDocument(server.listening.http!)

  const askOf =
    (asked: () => Server): TestServer['ask'] =>
    async (method, path, body, headers = {}) => {
      const response = await fetch(`http://${asked().listening.http}${path}`, {
        method,
        headers: { authorization: `Bearer ${keys.live}`, ...JSON_TYPE, connection: 'close', ...headers },
        body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
      })
      const bytes = new Uint8Array(await response.arrayBuffer())
      const text = Buffer.from(bytes).toString('utf8')
      const isJson = response.headers.get('content-type')?.startsWith('application/json')
      const fault = document.faultIn(method, path, { status: response.status, headers: response.headers, text })
      if (fault !== null) throw new Error(`${method} ${path}: ${fault}`)
      return { status: response.status, headers: response.headers, text, bytes, body: isJson ? JSON.parse(text) : null }
    }
  const ask = askOf(() => server)
  const read: TestServer['read'] = async (path) => {
    const { status, body, text } = await ask('GET', path)
    if (status > 299) throw new Error(`GET ${path}: ${status} ${text}`)
    return body
  }
  const stop = async (stillMs: number) => {
    if (!isOpen) return
    isOpen = false
    await whileTimePasses(clock, server.stop(), stillMs)
  }

  const { body } = await ask('POST', '/v1/webhooks', { url: receiver.url, events: [...STANDARD_EVENT_TYPES] })
  return {
    running: () => server,
    store: () => server.store,
    clock,
    dataDir: config.dataDir,
    zone,
    receiver,
    webhook: { id: body.id, secret: body.secret },
    keys,
    organizationId: made.organizationId,
    threads: threads.running,
    ask,
    send: (change = {}, headers = {}) => ask('POST', '/v1/messages/send', { ...MAIL, ...change }, headers),
    read,
    ended: async (id) => {
      // Asks the store, because a request costs a hundred times as much.
      await until('message to be over', async () => {
        const deliveries = await server.store.messages.deliveries(id)
        return deliveries.every(({ status }) => !OPEN.has(status))
      }).catch(async (error) => {
        throw new Error(`${error.message}: ${JSON.stringify(await read(`/v1/messages/${id}`), null, 1)}`)
      })
      return read(`/v1/messages/${id}`)
    },
    tried: async (id, count) => {
      const isRecorded = async () => {
        const recorded = Map.groupBy(await server.store.messages.attempts(id), ({ email }) => email)
        const tried = await server.store.messages.deliveries(id)
        return tried.every(({ email }) => recorded.get(email)?.length === count)
      }
      await until(`attempt ${count} of every recipient`, isRecorded)
      return read(`/v1/messages/${id}`)
    },
    eventsOf: async (id) => (await read(`/v1/messages/${id}/events?limit=100`)).data.reverse(),
    toNextAttempt: async (id) => {
      const { recipients } = await read(`/v1/messages/${id}`)
      const times = recipients.flatMap(({ next_attempt_at }: Json) => next_attempt_at ?? [])
      if (times.length === 0) throw new Error(`nothing waits: ${JSON.stringify(recipients)}`)
      await clock.leap(Math.max(0, Date.parse(times.sort()[0]) - clock.now()))
    },
    addNode: async (values) => {
      const ownFolder = join(folder, `node-${nodes.length}`)
      mkdirSync(ownFolder)
      copyFileSync(join(config.dataDir, 'seal.key'), join(ownFolder, 'seal.key'))
      const own = { ...options.config, ...values, data_dir: ownFolder }
      const node = await startServer(testConfig(folder, { remote, zone: zone.address, values: own }).config, {
        log,
        clock,
        random,
        manual: packedManual,
      })
      nodes.push(node)
      return { server: node, ask: askOf(() => node) }
    },
    stop: (how) => stop(how === undefined ? PATIENCE_MS / 10 : STILL_MS),
    reopen: async () => {
      server = await startServer(config, { log, clock, random, settings, manual: packedManual })
      isOpen = true
    },
    close: async () => {
      const address = server.listening.http!
      for (const node of nodes) await whileTimePasses(clock, node.stop(), STILL_MS)
      await stop(STILL_MS)
      const leaks = [
        ...(await threads.leaks()),
        ...listens(address),
        ...(await openSockets(remote)),
        ...leases(config.dataDir),
      ]
      threads.forget()
      await receiver.stop()
      await zone.stop()
      rmSync(folder, { recursive: true, force: true })
      const ours = receiver.requests.filter(({ headers }) => headers['svix-id'] === undefined)
      const odd = ours.flatMap((request) => document.faultInPosted(request.body) ?? [])
      if (odd.length > 0) throw new Error(odd[0])
      if (leaks.length > 0) throw new Error(`the server left behind: ${leaks.join(', ')}`)
    },
  }
}

function testConfig(
  folder: string,
  { remote, zone, values = {} }: { remote: Remote; zone: string; values?: ConfigValues | undefined },
) {
  const { http, delivery, webhooks, ...rest } = values
  return readValues({
    hostname: HOSTNAME,
    data_dir: join(folder, 'data'),
    http: { listen: '127.0.0.1:0', ...http },
    smtp: { inbound: { listen: 'off' } },
    delivery: { port: remote.port, allow_private_destinations: true, workers: 1, ...delivery },
    dns: { servers: [zone] },
    webhooks: { allowed_private_networks: ['127.0.0.0/8'], ca_file: join(folder, 'ca.pem'), ...webhooks },
    attachments: { allowed_private_networks: ['127.0.0.1/32'], ca_file: join(folder, 'ca.pem') },
    ...rest,
  })
}

export const MAIL = {
  from: `Shop <shop@${DOMAIN}>`,
  to: 'ann@one.remote.example',
  subject: 'Hello',
  html: '<p>Hi Ann</p>',
  metadata: { order: 'o-17', total: 12.5, gift: true },
  tags: ['receipt'],
}

/** Polls until it holds, with the fake clock advancing by a second per poll, for work that sleeps before it retries. A slow
 *  machine makes more polls, so nothing may depend on how much time has passed then: wait for work under way first. */
export async function untilInTime(
  clock: FakeClock,
  what: string,
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  await until(what, async () => {
    if (await holds()) return true
    await clock.advance(1_000)
    return false
  })
}

/** No jitter, so that schedules are exact. */
const random: Random = { bytes: systemRandom.bytes, fraction: () => 0.5 }
const JSON_TYPE = { 'content-type': 'application/json' }
const OPEN = new Set(['scheduled', 'queued', 'deferred'])
const WORLD: Parameters<typeof startZone>[0] = [
  { name: '*.remote.example', type: 'MX', data: { preference: 10, exchange: 'mx.hosts.example' } },
  { name: 'mx.hosts.example', type: 'A', data: '127.0.0.1' },
  { name: 'example', type: 'SOA', data: { mname: 'ns.example', rname: 'hostmaster.example', minimum: 1 } as never },
]

/** Loads the commands of the program only when a test reads the manual. */
const packedManual = async () => (await import('../../src/cli/manual/packed.ts')).packedManual()

/** RSA keys take some hundred milliseconds. */
let dkimKeys: Promise<DkimKeyRecord[]> | undefined
function sharedDkimKeys(): Promise<DkimKeyRecord[]> {
  dkimKeys ??= onceInRun('dkim-keys', () => mintDkimKeys('active', START, systemRandom))
  return dkimKeys
}

/** The OpenAPI document, which is the same of every server and takes 0.2 s; every response and webhook body is checked
 *  against it. */
let document: Promise<ReturnType<typeof readDocument>> | undefined
function sharedDocument(address: string) {
  const served = async () => (await fetch(`http://${address}/openapi.json`)).json()
  document ??= onceInRun('openapi', served).then(readDocument)
  return document
}

/** Creates the organization, its domain with published DNS records, and a key for each mode. */
async function seed(store: Store, zone: Zone, dkim: DkimKeyRecord[]) {
  const mintId = createMintId({ now: () => START, sleep: async () => {} }, systemRandom)
  const organizationId = mintId('org')
  await store.organizations.create({ id: organizationId, name: 'Shop', plan: 'enterprise', createdAt: START })
  const domain = newDomain({ id: mintId('dom'), organizationId, name: DOMAIN }, START, dkim)
  for (const { type, name, value, priority } of dnsRecords(domain, ownServer(HOSTNAME))) {
    zone.set(name, type, [priority === null ? value : { preference: priority, exchange: value }])
  }
  await store.domains.create(domain, -1)
  const check = { status: 'verified' as const, verifiedAt: START, checkedAt: START, findings: [] }
  await store.domains.recordCheck(domain.id, check)
  const mintKey = async (mode: Mode) => {
    const owner = { organizationId, domainId: domain.id }
    const key = { id: mintId('key'), ...owner, name: mode, mode, createdAt: START }
    return (await addKey(store, { ...key, permissions: ['admin'] })).value
  }
  return { organizationId, keys: { live: await mintKey('live'), test: await mintKey('test') } }
}

/** Tracks every thread started from now on, by replacing the global Worker. */
function watchThreads(preload?: string) {
  const RealWorker = globalThis.Worker
  const running = new Map<Worker, string>()
  /** Reading threads with a job; they have one at a time. */
  const reading = new Set<Worker>()
  globalThis.Worker = class extends RealWorker {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(url, preload === undefined ? options : { ...options, preload: [preload] })
      running.set(this, String(url))
      this.addEventListener('message', ({ data }) => {
        if (data.kind === 'answer' || data.kind === 'failed') reading.delete(this)
      })
      this.addEventListener('close', () => {
        running.delete(this)
        reading.delete(this)
      })
    }

    override postMessage(message: { kind: string }, ...transfer: unknown[]) {
      if (message.kind === 'job' && running.get(this)?.endsWith('storage/sqlite/worker.ts')) reading.add(this)
      super.postMessage(message, ...(transfer as [Bun.Transferable[]])) // as threadRunner calls it
    }
  }
  return {
    areReading: () => reading.size > 0,
    running: (file = 'sending/outbound/worker.ts') =>
      [...running].filter(([, url]) => url.endsWith(file)).map(([worker]) => worker),
    leaks: () => unless('delivery threads', () => running.size === 0),
    forget: () => {
      globalThis.Worker = RealWorker
    },
  }
}

/** Advances the clock while a shutdown waits on it, but not in its first `stillMs` of real time. */
async function whileTimePasses(clock: FakeClock, work: Promise<void>, stillMs: number): Promise<void> {
  let isOver = false
  const over = work.finally(() => {
    isOver = true
  })
  const stillUntil = performance.now() + stillMs
  while (!isOver) {
    await Bun.sleep(1)
    if (performance.now() > stillUntil) await clock.advance(100)
  }
  await over
}

/** For stops that only hanging work delays: 250 ms, and more on a slow machine. */
const STILL_MS = Math.max(250, TEST_LIMIT_MS / 1_200)

async function unless(what: string, holds: () => boolean | Promise<boolean>): Promise<string[]> {
  return until(what, holds).then(
    () => [],
    () => [what],
  )
}

const openSockets = (remote: Remote) => unless('connections to the remote', () => remote.open() === 0)

/** Whether this process still listens there: another one may have got the port since. */
function listens(address: string): string[] {
  const { hostname, port: number } = new URL(`http://${address}`)
  try {
    Bun.listen({ hostname, port: Number(number), socket: { data() {} } }).stop(true)
    return []
  } catch {
    // Somebody does. The kernel takes 10 ms for the list of all sockets that says who.
  }
  const port = Number(number).toString(16).toUpperCase().padStart(4, '0')
  const sockets = new Set(descriptors())
  const listeners = ['tcp', 'tcp6'].flatMap((family) =>
    readFileSync(`/proc/net/${family}`, 'utf8').trim().split('\n').slice(1),
  )
  const isThere = listeners.some((line) => {
    const [, local, , state, , , , , , inode] = line.trim().split(/\s+/)
    return state === LISTENING && local!.endsWith(`:${port}`) && sockets.has(`socket:[${inode}]`)
  })
  return isThere ? ['its listener'] : []
}

/** As proc(5) numbers the states of a socket. */
const LISTENING = '0A'

/** What the file descriptors of this process lead to. */
function descriptors(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)]
    } catch {
      return [] // of the listing itself
    }
  })
}

/** Rows with an unreleased lease. The server has closed the file, so it may be opened. */
function leases(dataDir: string): string[] {
  if (!existsSync(join(dataDir, 'postrider.db'))) return [] // it uses PostgreSQL
  const db = connect(join(dataDir, 'postrider.db'), { busyTimeoutMs: 0, readonly: true })
  const held = ['deliveries', 'webhook_deliveries'].flatMap((table) => {
    const count = db.prepare(`select count(*) from ${table} where worker is not null`).pluck().get() as number
    return count > 0 ? [`${count} leases of ${table}`] : []
  })
  db.close()
  return held
}
