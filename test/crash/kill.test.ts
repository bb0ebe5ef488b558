import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startZone, type Zone } from '../../src/platform/zone-server.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

/** Kills the built program again and again while applications send through it, and keeps the books: what was answered
 *  with 202 must arrive and be told, and only what was on the wire at a kill may arrive twice. */

const PROGRAM = join(import.meta.dir, '../../dist/postrider')
const KILLS = Number(process.env.CRASH_KILLS ?? 8)
const CLIENTS = 12
/** Connections to one destination: as many mails can be on the wire when the process dies. */
const CONNECTIONS = 20
const LIMIT_MS = 120_000

let folder: string
let zone: Zone
let sink: Sink
let receiver: Receiver
let config: string
let base: string
let key: string

beforeAll(async () => {
  if (!existsSync(PROGRAM)) throw new Error('dist/postrider is not there: bun run build')
  folder = mkdtempSync(join(tmpdir(), 'postrider-crash-'))
  sink = await startSink()
  receiver = await startReceiver()
  zone = await startZone([
    { name: 'example.org', type: 'MX', data: { preference: 10, exchange: 'mx.example.org' } },
    { name: 'mx.example.org', type: 'A', data: '127.0.0.1' },
  ])
  const ca = join(folder, 'ca.pem')
  writeFileSync(ca, receiver.ca)
  base = `127.0.0.1:${await freePort()}`
  config = join(folder, 'config.toml')
  writeFileSync(
    config,
    `hostname = "mail.example.com"
data_dir = "${join(folder, 'data')}"
[http]
listen = "${base}"
[smtp.inbound]
listen = "off"
[delivery]
port = ${sink.port}
allow_private_destinations = true
retry_schedule_seconds = [1]
max_per_destination = ${CONNECTIONS}
[dns]
servers = ["${zone.address}"]
[webhooks]
allowed_private_networks = ["127.0.0.0/8"]
ca_file = "${ca}"
retry_schedule_seconds = [1, 1, 1, 1]
[sending]
require_verified_domain = false
`,
  )
  const made = spawnSync(PROGRAM, ['init', '--config', config, '--domain', 'example.com', '--json'])
  if (made.status !== 0) throw new Error(`init: ${made.stderr}`)
  key = JSON.parse(made.stdout.toString()).api_key
})

afterAll(async () => {
  await zone?.stop()
  await receiver?.stop()
  sink?.server.close()
  rmSync(folder, { recursive: true, force: true })
})

test(
  `${KILLS} times kill -9 under load: nothing acknowledged is lost, everything is told, few arrive twice`,
  async () => {
    let house = await serve()
    const subscription = { url: receiver.url, events: ['message.delivered', 'message.bounced'] }
    expect((await api('POST', '/v1/webhooks', subscription)).status).toBe(201)

    const acknowledged = new Set<string>()
    let isSending = true
    const clients = Array.from({ length: CLIENTS }, async (_, client) => {
      for (let n = 0; isSending; n++) await sendUntilAcknowledged(`${client}-${n}`, acknowledged)
    })
    for (let kill = 0; kill < KILLS; kill++) {
      await Bun.sleep(100 + 400 * Math.random())
      house.kill('SIGKILL')
      house = await serve()
    }
    isSending = false
    await Promise.all(clients)
    await until('every acknowledged mail to arrive', () => [...acknowledged].every((token) => sink.mails.has(token)))
    await until('every delivery to be told', () => untold(acknowledged).length === 0).catch(async (error) => {
      throw new Error(`${error.message}: ${await whyUntold(untold(acknowledged))}`)
    })

    const copies = [...sink.mails.values()]
    const twice = copies.filter((messageIds) => messageIds.length > 1)
    expect(acknowledged.size).toBeGreaterThan(KILLS * 10)
    expect(twice.every((messageIds) => new Set(messageIds).size === 1)).toBe(true)
    expect(copies.reduce((sum, messageIds) => sum + messageIds.length - 1, 0)).toBeLessThanOrEqual(KILLS * CONNECTIONS)
    expect([...sink.mails.keys()].filter((token) => !acknowledged.has(token))).toEqual([])

    house.kill('SIGTERM')
    expect(await exitOf(house)).toBe(0)
  },
  LIMIT_MS,
)

test(
  'SIGTERM under load loses nothing, sends nothing twice and exits 0',
  async () => {
    let house = await serve()
    const before = new Map([...sink.mails].map(([token, messageIds]) => [token, messageIds.length]))
    const acknowledged = new Set<string>()
    let isSending = true
    const clients = Array.from({ length: CLIENTS }, async (_, client) => {
      for (let n = 0; isSending; n++) await sendUntilAcknowledged(`term-${client}-${n}`, acknowledged)
    })
    for (let round = 0; round < 3; round++) {
      await Bun.sleep(300)
      house.kill('SIGTERM')
      expect(await exitOf(house)).toBe(0)
      house = await serve()
    }
    isSending = false
    await Promise.all(clients)
    await until('every acknowledged mail to arrive', () => [...acknowledged].every((token) => sink.mails.has(token)))
    house.kill('SIGTERM')
    expect(await exitOf(house)).toBe(0)
    const copies = [...sink.mails].filter(([token]) => !before.has(token))
    expect(copies.filter(([, messageIds]) => messageIds.length > 1)).toEqual([])
  },
  LIMIT_MS,
)

/** As an application should: the same Idempotency-Key until an answer comes. */
async function sendUntilAcknowledged(token: string, acknowledged: Set<string>): Promise<void> {
  for (;;) {
    const body = { from: 'us@example.com', to: `${token}@example.org`, subject: `token ${token}`, text: 'Hello' }
    const status = await api('POST', '/v1/send', body, { 'Idempotency-Key': token }).then(
      (response) => response.status,
      () => 0,
    )
    if (status === 202) {
      acknowledged.add(token)
      return
    }
    await Bun.sleep(20)
  }
}

/** Tokens of which no webhook request spoke. */
function untold(acknowledged: Set<string>): string[] {
  const told = new Set(receiver.requests.map((request) => JSON.parse(request.body).data.to.split('@')[0]))
  return [...acknowledged].filter((token) => !told.has(token))
}

/** What the house itself says of the first of them. */
async function whyUntold(tokens: string[]): Promise<string> {
  const read = async (path: string) => (await (await api('GET', path)).json()) as { data: { id: string }[] }
  const { data: messages } = await read(`/v1/messages?to=${tokens[0]}@example.org`)
  const { data: webhooks } = await read('/v1/webhooks')
  const { data: events } = await read(`/v1/messages/${messages[0]?.id}/events`)
  const { data: pending } = await read(`/v1/webhooks/${webhooks[0]?.id}/deliveries?status=pending&limit=3`)
  const { data: failed } = await read(`/v1/webhooks/${webhooks[0]?.id}/deliveries?status=failed&limit=3`)
  return JSON.stringify({ tokens: tokens.length, message: messages[0], events, webhooks, pending, failed }, null, 1)
}

function api(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`http://${base}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(5_000),
  })
}

async function serve(): Promise<ChildProcess> {
  const child = spawn(PROGRAM, ['serve', '--config', config], { stdio: ['ignore', 'pipe', 'ignore'] })
  for await (const line of createInterface({ input: child.stdout! })) {
    if (JSON.parse(line).event === 'ready') return child
  }
  throw new Error('serve ended before it was ready')
}

function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null) return Promise.resolve(child.exitCode)
  return new Promise((resolve) => child.on('exit', (code) => resolve(code)))
}

async function until(what: string, done: () => boolean | Promise<boolean>): Promise<void> {
  const endsAt = Date.now() + 60_000
  while (!(await done())) {
    if (Date.now() > endsAt) throw new Error(`waited a minute for ${what}`)
    await Bun.sleep(50)
  }
}

interface Sink {
  server: Server
  port: number
  /** Token of the recipient → the Message-ID of each copy whose final dot was answered with 250. */
  mails: Map<string, string[]>
}

/** A mail server that keeps the books. It counts a mail before it says 250, as real ones do. */
async function startSink(): Promise<Sink> {
  const mails = new Map<string, string[]>()
  const server = createServer({ noDelay: true }, (socket) => {
    let token = ''
    let mail: string | null = null
    let rest = ''
    socket.setEncoding('latin1')
    socket.on('error', () => socket.destroy())
    socket.write('220 sink\r\n')
    socket.on('data', (chunk: string) => {
      rest += chunk
      for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
        const line = rest.slice(0, end)
        rest = rest.slice(end + 2)
        if (mail !== null && line !== '.') mail += `${line}\n`
        else if (mail !== null) {
          mails.set(token, [...(mails.get(token) ?? []), /^message-id: *(\S+)/im.exec(mail)![1]!])
          mail = null
          socket.write('250 2.0.0 taken\r\n')
        } else if (/^ehlo/i.test(line)) socket.write('250-sink\r\n250 PIPELINING\r\n')
        else if (/^data/i.test(line)) {
          mail = ''
          socket.write('354 go on\r\n')
        } else {
          token = /^rcpt to:<([^@]+)@/i.exec(line)?.[1] ?? token
          socket.write('250 ok\r\n')
        }
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, port: (server.address() as { port: number }).port, mails }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
