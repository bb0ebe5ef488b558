import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startZone, type Zone, type ZoneRecord } from '../../src/cli/try/zone-server.ts'
import { freePort } from '../support/free-port.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

/** The built program in a temporary folder, with peers and DNS that outlive it. */
export interface TestInstallation {
  /** Of the program's files: `data` below it is the data directory. */
  folder: string
  /** Where mail for example.org goes. */
  sink: Sink
  receiver: Receiver
  zone: Zone
  config: string
  dataDir: string
  /** Where it answers HTTP. */
  port: number
  /** Starts the program and waits until it is ready; `around` is a prefix of the command line. Rejects with
   *  NeverReady. */
  serve(around?: readonly string[]): Promise<ChildProcess>
  /** Kills what a failed test may have left running. */
  halt(): Promise<void>
  /** Sends a request to the program with the key of `init`; rejects while it is not running. */
  api(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<Response>
  key: string
  close(): Promise<void>
}

export interface TestInstallationOptions {
  /** `[smtp]` sections of the config. */
  smtp?: string
  /** Other sections. */
  sections?: string
  /** Further keys of `[delivery]`. */
  delivery?: string
  /** Further DNS records. */
  zone?: ZoneRecord[]
  /** To the one destination. */
  connections?: number
  program?: string
  /** In the temporary folder by default. */
  dataDir?: string
  /** Further variables of its environment. */
  env?: Record<string, string>
}

/** The program ended, or was ended, before it was ready. */
export class NeverReady extends Error {
  readonly exitCode: number | null
  constructor(exitCode: number | null, said: string) {
    super(said)
    this.exitCode = exitCode
  }
}

const CONNECTIONS = 20
/** Mails of one destination that may have reached it unreported when the process dies: as many as its connections
 *  (sending/outbound/journal/delivered-journal.ts). */
export const UNDER_WAY = CONNECTIONS

/** The surroundings, and the program set up with the domain example.com but not started. Throws when it was not
 *  built. */
export async function makeTestInstallation(options: TestInstallationOptions = {}): Promise<TestInstallation> {
  const { smtp = INBOUND_OFF, sections = '', delivery = '', connections = CONNECTIONS, program = PROGRAM } = options
  if (!existsSync(program)) throw new Error('dist/postrider is not there: bun run build')
  const folder = mkdtempSync(join(tmpdir(), 'postrider-crash-'))
  const sink = await startSink()
  const receiver = await startReceiver()
  const zone = await startZone([
    { name: 'example.org', type: 'MX', data: { preference: 10, exchange: 'mx.example.org' } },
    { name: 'mx.example.org', type: 'A', data: '127.0.0.1' },
    ...(options.zone ?? []),
  ])
  const ca = join(folder, 'ca.pem')
  writeFileSync(ca, receiver.ca)
  const dataDir = options.dataDir ?? join(folder, 'data')
  const port = await freePort()
  const base = `127.0.0.1:${port}`
  const config = join(folder, 'config.toml')
  writeFileSync(
    config,
    `hostname = "mail.example.com"
data_dir = "${dataDir}"
[http]
listen = "${base}"
${smtp}
[delivery]
port = ${sink.port}
allow_private_destinations = true
retry_schedule_seconds = [1]
max_per_destination = ${connections}
${delivery}
[dns]
servers = ["${zone.address}"]
[webhooks]
allowed_private_networks = ["127.0.0.0/8"]
ca_file = "${ca}"
retry_schedule_seconds = [1, 1, 1, 1]
[inbound]
retry_schedule_seconds = [1, 1, 1, 1]
[sending]
require_verified_domain = false
${sections}
`,
  )
  const made = spawnSync(program, ['init', '--config', config, '--domain', 'example.com', '--skip-checks', '--json'])
  if (made.status !== 0) throw new Error(`init: ${made.stderr}`)
  const key: string = JSON.parse(made.stdout.toString()).api_key
  const children: ChildProcess[] = []
  const halt = async () => {
    for (const child of children) if (child.kill('SIGKILL')) await exitOf(child)
  }

  return {
    folder,
    dataDir,
    port,
    sink,
    receiver,
    zone,
    config,
    key,
    serve: async (around = []) => {
      await halt()
      const log = openSync(join(folder, 'log'), 'w')
      const [command = program, ...words] = [...around, program, 'serve', '--config', config]
      const child = spawn(command, words, { stdio: ['ignore', 'pipe', log], env: { ...process.env, ...options.env } })
      closeSync(log)
      children.push(child)
      const limit = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
      try {
        for await (const line of createInterface({ input: child.stdout! })) {
          if (JSON.parse(line).event === 'ready') return child
        }
      } finally {
        clearTimeout(limit)
      }
      const code = await exitOf(child)
      throw new NeverReady(code, `ended before it was ready: ${readFileSync(join(folder, 'log'), 'utf8')}`)
    },
    api: (method, path, body, headers = {}) =>
      fetch(`http://${base}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        body: body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.timeout(PATIENCE_MS),
      }),
    halt,
    close: async () => {
      await halt()
      await zone.stop()
      await receiver.stop()
      sink.server.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export const PROGRAM = join(import.meta.dir, '../../dist/postrider')
const INBOUND_OFF = '[smtp.inbound]\nlisten = "off"'

export function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode)
  return new Promise((resolve) => child.on('exit', (code) => resolve(code)))
}

export interface Sink {
  server: Server
  port: number
  /** Token of the recipient → the Message-ID of each copy whose final dot was answered with 250. */
  mails: Map<string, string[]>
  /** Token → the time of the last copy, by performance.now(). */
  cameAt: Map<string, number>
  /** For each repeated mail, the time of its previous copy. */
  cameBeforeAt: number[]
  /** The reply to every RCPT. */
  answer: string
}

/** What happens at a sink. */
export interface SinkTraffic {
  /** A transaction began or ended: MAIL, and its last reply or the end of the connection. */
  began(socket: Socket): void
  ended(socket: Socket): void
  /** A copy of the mail was counted. */
  came(token: string, socket: Socket): void
}

/** A mail server that records its mails. It counts a mail before it says 250, as real servers do. `replyMs`: the time
 *  between. */
export async function startSink({
  host = '127.0.0.1',
  replyMs = 0,
  traffic,
}: {
  host?: string
  replyMs?: number
  traffic?: SinkTraffic
} = {}): Promise<Sink> {
  const mails = new Map<string, string[]>()
  const cameAt = new Map<string, number>()
  const sink = { mails, cameAt, cameBeforeAt: [] as number[], answer: '250 ok' }
  const server = createServer({ noDelay: true }, (socket) => {
    let token = ''
    let mail: string | null = null
    let chunkBytes = 0
    let rest = ''
    let isOpen = false
    const inTransaction = (isNow: boolean) => {
      if (isOpen === isNow) return
      isOpen = isNow
      if (isNow) traffic?.began(socket)
      else traffic?.ended(socket)
    }
    const accept = () => {
      inTransaction(false)
      socket.write('250 2.0.0 taken\r\n')
    }
    const came = (text: string) => {
      const before = cameAt.get(token)
      if (before !== undefined) sink.cameBeforeAt.push(before)
      cameAt.set(token, performance.now())
      mails.set(token, [...(mails.get(token) ?? []), /^message-id: *(\S+)/im.exec(text)?.[1] ?? ''])
      traffic?.came(token, socket)
      if (replyMs === 0) accept()
      else setTimeout(accept, replyMs)
    }
    socket.setEncoding('latin1')
    socket.on('error', () => socket.destroy())
    socket.on('close', () => inTransaction(false))
    socket.write('220 sink\r\n')
    socket.on('data', (chunk: string) => {
      rest += chunk
      for (;;) {
        if (chunkBytes > 0) {
          if (rest.length < chunkBytes) break
          const text = rest.slice(0, chunkBytes)
          rest = rest.slice(chunkBytes)
          chunkBytes = 0
          if (token === '') socket.write('503 5.5.1 for nobody\r\n')
          else came(text)
        }
        const end = rest.indexOf('\r\n')
        if (end < 0) break
        const line = rest.slice(0, end)
        rest = rest.slice(end + 2)
        if (mail !== null && line !== '.') mail += `${line}\n`
        else if (mail !== null) {
          const text = mail
          mail = null
          came(text)
        } else if (/^ehlo/i.test(line)) socket.write('250-sink\r\n250-PIPELINING\r\n250 CHUNKING\r\n')
        else if (/^bdat/i.test(line)) chunkBytes = Number(line.split(' ')[1])
        else if (/^data/i.test(line)) {
          mail = token === '' ? null : ''
          socket.write(token === '' ? '554 5.5.1 for nobody\r\n' : '354 go on\r\n')
        } else {
          if (/^mail/i.test(line)) inTransaction(true)
          const recipient = /^rcpt to:<([^@]+)@/i.exec(line)?.[1]
          if (recipient !== undefined) token = sink.answer.startsWith('250') ? recipient : ''
          socket.write(`${recipient === undefined ? '250 ok' : sink.answer}\r\n`)
        }
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  return Object.assign(sink, { server, port: (server.address() as { port: number }).port })
}
