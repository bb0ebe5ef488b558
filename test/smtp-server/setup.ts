import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { selfSignedCertificate } from '../../src/net/tls/certificate.ts'
import { createLog } from '../../src/os/log.ts'
import type { Memory } from '../../src/os/memory.ts'
import { createSmtpListener, type SmtpListener } from '../../src/receiving/smtp-server/listener.ts'
import type { IncomingMail, SmtpHandler } from '../../src/receiving/smtp-server/session.ts'
import { LIMITS, type ListenerLimits, type ListenerSettings } from '../../src/receiving/smtp-server/settings.ts'
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts'
import { until } from '../support/patience.ts'

export const NOW = Date.UTC(2026, 10, 21, 12)
export const CERTIFICATE = await selfSignedCertificate({ names: ['mx.test.example', '127.0.0.1'], now: Date.now() })

/** A handler that accepts every mail and keeps it. */
export interface TakenMail {
  from: string | null
  to: string[]
  raw: string
  sizeBytes: number
  protocol: string
  tls: string | null
  helo: string
}

export interface ListenerAtTest {
  listener: SmtpListener
  port: number
  clock: FakeClock
  taken: TakenMail[]
  refused: { listener: string; address: string; reply: string }[]
  /** Warnings and errors in the log. */
  logged: string[]
  spoolDir: string
  /** `from`: the client's address, one of 127.0.0.0/8. */
  connect(from?: string): Promise<Client>
  /** Resolves when at most `left` connections are open. */
  nobodyLeft(left?: number): Promise<void>
  /** Resolves when the listener has read all that these clients wrote. */
  hasRead(...clients: Client[]): Promise<void>
  stop(): Promise<void>
}

/** A listener on a free port with a fake clock; `handler` may replace single answers. */
export async function startListener(
  options: {
    handler?: Partial<SmtpHandler<string>>
    limits?: Partial<ListenerLimits>
    settings?: Partial<ListenerSettings>
    memory?: Memory
  } = {},
): Promise<ListenerAtTest> {
  const clock = createFakeClock(NOW)
  const logged: string[] = []
  const taken: TakenMail[] = []
  const refused: ListenerAtTest['refused'] = []
  const spoolDir = options.settings?.spoolDir ?? mkdtempSync(join(tmpdir(), 'smtp-spool-'))
  const settings: ListenerSettings = {
    hostname: 'mx.test.example',
    tls: 'starttls',
    certificate: CERTIFICATE,
    loginNeedsTls: true,
    spoolDir,
    limits: {
      messageBytes: 25 * 2 ** 20,
      connections: 1000,
      connectionsPerAddress: 1000,
      ...LIMITS,
      ...options.limits,
    },
    ...options.settings,
  }
  const handler: SmtpHandler<string> = {
    onRecipient: async (_session, recipient) => recipient.address,
    onMail: async (mail) => {
      taken.push(await takenOf(mail))
      return `taken as ${taken.length}`
    },
    ...options.handler,
  }
  const log = createLog({ clock, level: 'warn', format: 'json', write: (line) => void logged.push(line) })
  const mailLog = { refused: (fact: (typeof refused)[number]) => void refused.push(fact) }
  const listener = createSmtpListener(settings, handler, { name: 'mx', clock, log, mailLog, memory: options.memory })
  const { port } = await listener.listen({ host: '127.0.0.1', port: 0 })
  const clients: Client[] = []
  return {
    listener,
    port,
    clock,
    taken,
    refused,
    logged,
    spoolDir,
    connect: async (from) => {
      const client = settings.tls === 'implicit' ? await Client.overTls(port) : await Client.to(port, from)
      clients.push(client)
      return client
    },
    nobodyLeft: async (left = 0) => {
      await until(`at most ${left} connections`, () => listener.connections() <= left)
    },
    hasRead: (...clients) =>
      until('the listener to read', () =>
        clients.every(({ socket }) => socket.writableLength === 0 && isEmpty(socket)),
      ),
    stop: async () => {
      for (const client of clients) client.destroy()
      const stopping = listener.stop(0)
      await clock.advance(1)
      await stopping
      rmSync(spoolDir, { recursive: true, force: true })
    },
  }
}

/** Nothing of the connection is in a buffer of the system: `tx_queue:rx_queue` of both its ends in proc_pid_net(5). */
function isEmpty({ localPort }: Socket): boolean {
  const port = `:${localPort!.toString(16).toUpperCase().padStart(4, '0')}`
  const ends = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, remote]) => local?.endsWith(port) || remote?.endsWith(port))
  return ends.every(([, , , , queues]) => queues === '00000000:00000000')
}

export async function takenOf(mail: IncomingMail<string>): Promise<TakenMail> {
  const { session, returnPath, recipients, sizeBytes } = mail
  return {
    from: returnPath?.address ?? null,
    to: recipients.map(({ spoken }) => spoken.address),
    raw: Buffer.from(await mail.read()).toString('latin1'),
    sizeBytes,
    protocol: session.protocol,
    tls: session.tls,
    helo: session.helo,
  }
}

/** One end of a connection, unencrypted. */
export class Client {
  #socket: Socket
  #text = ''
  #ended = false
  #watchers: (() => void)[] = []

  constructor(socket: Socket) {
    this.#socket = socket
    this.#listen()
  }

  static to(port: number, localAddress?: string): Promise<Client> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', localAddress }, () => resolve(new Client(socket)))
      socket.once('error', reject)
    })
  }

  static overTls(port: number): Promise<Client> {
    return new Promise((resolve, reject) => {
      const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }, () =>
        resolve(new Client(socket)),
      )
      socket.once('error', reject)
    })
  }

  get socket(): Socket {
    return this.#socket
  }

  #listen() {
    this.#socket.setNoDelay(true)
    this.#socket.on('data', (piece: Buffer) => {
      this.#text += piece.toString('latin1')
      this.#tell()
    })
    const over = () => {
      this.#ended = true
      this.#tell()
    }
    this.#socket.on('error', over)
    this.#socket.on('close', over)
    this.#socket.on('end', over)
  }

  #tell() {
    const watchers = this.#watchers
    this.#watchers = []
    for (const watcher of watchers) watcher()
  }

  write(text: string | Uint8Array): void {
    this.#socket.write(text)
  }

  /** The next complete reply, its lines joined by line feeds; `(closed)` at the end of the connection. */
  async reply(): Promise<string> {
    for (;;) {
      const whole = /^(?:\d{3}-.*\r\n)*\d{3} .*\r\n/.exec(this.#text)
      if (whole !== null) {
        this.#text = this.#text.slice(whole[0].length)
        return whole[0].slice(0, -2).replaceAll('\r\n', '\n')
      }
      if (this.#ended) return '(closed)'
      await new Promise<void>((resolve) => this.#watchers.push(resolve))
    }
  }

  /** Sends one line and returns its reply. */
  async say(line: string): Promise<string> {
    this.write(Buffer.from(`${line}\r\n`))
    return this.reply()
  }

  /** After the greeting and EHLO. */
  async hello(): Promise<Client> {
    await this.reply()
    await this.say('EHLO client.example')
    return this
  }

  /** MAIL, RCPT and DATA. → the reply to DATA */
  async envelope(to = 'a@test.example'): Promise<string> {
    await this.say('MAIL FROM:<s@sender.example>')
    await this.say(`RCPT TO:<${to}>`)
    return this.say('DATA')
  }

  async mail(body: string, to?: string): Promise<string> {
    await this.envelope(to)
    this.write(Buffer.from(body, 'latin1'))
    return this.say('.')
  }

  async startTls(): Promise<void> {
    this.#socket.removeAllListeners()
    const plain = this.#socket
    plain.on('error', () => {})
    this.#socket = await new Promise<Socket>((resolve, reject) => {
      const secure = connectTls({ socket: plain, rejectUnauthorized: false }, () => resolve(secure))
      secure.once('error', reject)
    })
    this.#listen()
  }

  async closed(): Promise<void> {
    while (!this.#ended) await new Promise<void>((resolve) => this.#watchers.push(resolve))
  }

  /** Resets the connection without QUIT: RST. */
  reset(): void {
    this.#socket.resetAndDestroy()
  }

  destroy(): void {
    this.#socket.on('error', () => {})
    this.#socket.destroy()
  }
}
