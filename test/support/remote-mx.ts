import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import { SMTPServer } from 'smtp-server'

/** A mail as a remote server got it. */
export interface ReceivedMail {
  mailFrom: string
  rcptTo: string[]
  /** With the dot-stuffing undone. */
  raw: Buffer
  isTls: boolean
}

/** A real smtp-server on loopback. Each connection waits 100 ms for its banner, so a journey should need few. */
export interface RemoteMx {
  port: number
  mails: ReceivedMail[]
  /** Connections so far, and open ones. */
  connections(): number
  open(): number
  /** Resolves after `count` mails. */
  received(count: number): Promise<ReceivedMail[]>
  stop(): Promise<void>
}

/** Replies such as `451 4.7.1 come later`; null or nothing = accepted. */
export interface RemoteScript {
  mail?: (address: string) => string | null
  rcpt?: (address: string) => string | null | Promise<string | null>
  data?: (mail: ReceivedMail) => string | null
}

/** Starts a remote mail server that accepts everything, or answers by `script`. With `tls` it offers STARTTLS; with
 *  `login` it requires that user and password (over TLS, or in cleartext without `tls`). */
export async function startRemoteMx(
  options: {
    script?: RemoteScript
    tls?: { keyPem: string; certificatePem: string }
    login?: { user: string; password: string }
    /** 127.0.0.1 by default; all of 127.0.0.0/8 is this machine, so two hosts may share a port. */
    host?: string
    port?: number
  } = {},
): Promise<RemoteMx> {
  const { script = {}, tls, login } = options
  const mails: ReceivedMail[] = []
  const waiting: { count: number; resolve: (mails: ReceivedMail[]) => void }[] = []
  let connections = 0

  const server = new SMTPServer({
    authOptional: login === undefined,
    allowInsecureAuth: true,
    hideSTARTTLS: tls === undefined,
    disableReverseLookup: true,
    closeTimeout: 200,
    key: tls?.keyPem,
    cert: tls?.certificatePem,
    disabledCommands: login === undefined ? ['AUTH'] : [],
    onConnect: (_session, done) => {
      connections++
      done()
    },
    onAuth: (auth, _session, done) => {
      const isRight = auth.username === login?.user && auth.password === login?.password
      done(isRight ? null : refusal('535 5.7.8 wrong user or password'), isRight ? { user: auth.username } : undefined)
    },
    onMailFrom: ({ address }, _session, done) => done(refusal(script.mail?.(address))),
    onRcptTo: async ({ address }, _session, done) => done(refusal(await script.rcpt?.(address))),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        const mail: ReceivedMail = {
          mailFrom: mailFrom === false ? '' : mailFrom.address,
          rcptTo: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks),
          isTls: session.secure,
        }
        const refused = refusal(script.data?.(mail))
        if (refused !== null) return done(refused)
        mails.push(mail)
        done(null, '2.0.0 Ok: queued')
        for (const each of waiting) if (mails.length >= each.count) each.resolve(mails)
      })
    },
  })
  server.on('error', () => {})
  const listening = Promise.withResolvers<void>()
  server.listen(options.port ?? 0, options.host ?? '127.0.0.1', () => listening.resolve())
  await listening.promise
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    connections: () => connections,
    open: () => server.connections.size,
    received: (count) =>
      mails.length >= count ? Promise.resolve(mails) : new Promise((resolve) => waiting.push({ count, resolve })),
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

/** What the raw server does at a command: send these lines, or misbehave. */
export type Move =
  | string
  | { do: 'hang' | 'drop' | 'reset' }
  /** Sends the text (220 by default) and starts TLS. */
  | { do: 'starttls'; text?: string }
  /** Sends the line repeatedly, never the last one. */
  | { do: 'drip'; line: string; everyMs: number }
  /** Sends the text and reads no further. */
  | { do: 'stop_reading'; text: string }
  /** Sends the text and closes at once. */
  | { do: 'say_and_drop'; text: string }

/** The state of the raw server: verbs in upper case, `CONNECT`, and `DOT` for the end of a mail. */
export type Cue =
  | 'CONNECT'
  | 'EHLO'
  | 'HELO'
  | 'STARTTLS'
  | 'AUTH'
  | 'MAIL'
  | 'RCPT'
  | 'DATA'
  | 'DOT'
  | 'BDAT'
  | 'RSET'
  | 'QUIT'

/** A minimal server that can do what no real one would; sends its greeting at once. */
export interface RawMx {
  port: number
  /** Every command line, `<mail>` for a mail, `<tls>` for a handshake, `<connect>` and `<close>`. */
  heard: string[]
  mails: Buffer[]
  connections(): number
  open(): number
  /** Resolves when `heard` contains the line. */
  hears(line: string): Promise<void>
  stop(): Promise<void>
}

/** `script` is called at each cue, with the line, the number of the connection (from 1) and the client's address; null =
 *  behave correctly. */
export async function startRawMx(options: RawMxOptions = {}): Promise<RawMx> {
  const heard: string[] = []
  const mails: Buffer[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  let listeners: (() => void)[] = []
  const hear = (line: string) => {
    heard.push(line)
    for (const listener of [...listeners]) listener()
  }
  const serve = (socket: Socket) => {
    sockets.add(socket)
    hear('<connect>')
    socket.on('close', () => {
      sockets.delete(socket)
      hear('<close>')
    })
    new RawConnection(socket, ++connections, { ...options, hear, mails }).begin()
  }

  const server: Server = createServer(serve)
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    heard,
    mails,
    connections: () => connections,
    open: () => sockets.size,
    hears: (line) =>
      new Promise((resolve) => {
        const look = () => {
          if (!heard.includes(line)) return
          listeners = listeners.filter((each) => each !== look)
          resolve()
        }
        listeners.push(look)
        look()
      }),
    stop: () => {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

interface RawMxOptions {
  script?: (cue: Cue, line: string, connection: number, from: string) => Move | null
  /** After the greeting line of EHLO. */
  extensions?: string[]
  tls?: { keyPem: string; certificatePem: string }
  /** TLS from the first byte. */
  implicitTls?: boolean
  /** As for startRemoteMx. */
  host?: string
  port?: number
}

/** One connection of the raw server. */
class RawConnection {
  readonly #plain: Socket
  readonly #number: number
  readonly #from: string
  readonly #world: RawMxOptions & { hear: (line: string) => void; mails: Buffer[] }
  #socket: Socket
  #pending = ''
  #inMail = false
  /** A BDAT command whose octets have not all arrived. */
  #chunk: { line: string; bytes: number } | null = null
  #hasSender = false
  #hasRecipient = false
  #answers = ''

  constructor(plain: Socket, number: number, world: RawMxOptions & { hear: (line: string) => void; mails: Buffer[] }) {
    this.#plain = plain
    this.#socket = plain
    this.#number = number
    this.#from = plain.remoteAddress ?? ''
    this.#world = world
  }

  begin(): void {
    this.#plain.setNoDelay(true)
    this.#plain.on('error', () => {})
    if (this.#world.implicitTls) this.#encrypt()
    else this.#listen()
    this.#move('CONNECT', '', '220 mx.raw.test ESMTP')
    if (this.#answers !== '') this.#socket.write(this.#answers)
    this.#answers = ''
  }

  #listen(): void {
    this.#socket.on('data', (chunk: Buffer) => {
      this.#pending += chunk.toString('latin1')
      this.#take()
      if (this.#answers !== '' && !this.#socket.destroyed) this.#socket.write(this.#answers)
      this.#answers = ''
    })
    this.#socket.on('error', () => {})
  }

  #take(): void {
    for (;;) {
      if (this.#inMail) {
        const end = this.#pending.startsWith('.\r\n') ? 0 : this.#pending.indexOf('\r\n.\r\n')
        if (end < 0) return
        const raw = end === 0 ? '' : this.#pending.slice(0, end + 2)
        this.#pending = this.#pending.slice(end === 0 ? 3 : end + 5)
        this.#inMail = false
        this.#world.mails.push(Buffer.from(raw.replace(/^\.\./gm, '.'), 'latin1'))
        this.#world.hear('<mail>')
        this.#move('DOT', '.', '250 2.0.0 queued')
        continue
      }
      if (this.#chunk !== null) {
        const { line, bytes } = this.#chunk
        if (this.#pending.length < bytes) return
        const raw = this.#pending.slice(0, bytes)
        this.#pending = this.#pending.slice(bytes)
        this.#chunk = null
        if (this.#hasRecipient) this.#world.mails.push(Buffer.from(raw, 'latin1'))
        this.#world.hear('<mail>')
        this.#move('BDAT', line, this.#hasRecipient ? '250 2.0.0 queued' : '503 5.5.1 no recipient')
        continue
      }
      const end = this.#pending.indexOf('\r\n')
      if (end < 0) return
      const line = this.#pending.slice(0, end)
      this.#pending = this.#pending.slice(end + 2)
      this.#world.hear(line)
      this.#command(line)
    }
  }

  #command(line: string): void {
    const { tls, implicitTls, extensions = ['PIPELINING', '8BITMIME', 'SIZE 0'] } = this.#world
    const cue = line.split(' ')[0]!.toUpperCase() as Cue
    const ehlo = ['mx.raw.test', ...(tls && !implicitTls ? ['STARTTLS'] : []), ...extensions]
    switch (cue) {
      case 'EHLO':
        this.#move(cue, line, ehlo.map((text, i) => `250${i < ehlo.length - 1 ? '-' : ' '}${text}\r\n`).join(''))
        break
      case 'STARTTLS': {
        const what = this.#scripted(cue, line) ?? { do: 'starttls' as const }
        if (typeof what === 'string') this.#answers += `${what}\r\n`
        else this.#misbehave(what)
        break
      }
      case 'DATA':
        this.#move(cue, line, '354 go ahead')
        this.#inMail = /(?:^|\n)3\d\d [^\n]*\n$/.test(this.#answers)
        break
      case 'BDAT':
        this.#chunk = { line, bytes: Number(line.split(' ')[1]) }
        break
      case 'QUIT':
        this.#move(cue, line, '221 2.0.0 bye')
        break
      default:
        this.#move(cue, line, '250 2.0.0 ok')
        if (cue === 'MAIL') this.#hasSender = this.#answers.endsWith('250 2.0.0 ok\r\n')
        this.#hasRecipient = cue === 'RCPT' && this.#hasSender && this.#answers.endsWith('250 2.0.0 ok\r\n')
    }
  }

  #scripted(cue: Cue, line: string): Move | null {
    return this.#world.script?.(cue, line, this.#number, this.#from) ?? null
  }

  #move(cue: Cue, line: string, usual: string): void {
    const what = this.#scripted(cue, line) ?? usual
    if (typeof what === 'string') this.#answers += what.endsWith('\r\n') || what === '' ? what : `${what}\r\n`
    else this.#misbehave(what)
  }

  #misbehave(what: Exclude<Move, string>): void {
    const socket = this.#socket
    if (what.do === 'drop') socket.destroy()
    else if (what.do === 'reset') this.#plain.resetAndDestroy()
    else if (what.do === 'say_and_drop') socket.end(this.#answers + what.text)
    else if (what.do === 'starttls') this.#upgrade(what.text)
    else if (what.do === 'stop_reading') {
      socket.write(this.#answers + what.text)
      socket.pause()
    } else if (what.do === 'drip') {
      const timer = setInterval(() => this.#socket.write(what.line), what.everyMs)
      socket.on('close', () => clearInterval(timer))
    }
    if (what.do !== 'starttls') this.#answers = ''
  }

  #upgrade(text = '220 2.0.0 go ahead\r\n'): void {
    this.#socket.write(text)
    this.#pending = ''
    this.#encrypt()
  }

  #encrypt(): void {
    const { keyPem, certificatePem } = this.#world.tls!
    this.#plain.removeAllListeners('data')
    const context = createSecureContext({ key: keyPem, cert: certificatePem })
    this.#socket = new TLSSocket(this.#plain, { isServer: true, secureContext: context })
    this.#world.hear('<tls>')
    this.#listen()
  }
}

function refusal(reply: string | null | undefined): Error | null {
  if (reply === null || reply === undefined) return null
  return Object.assign(new Error(reply.slice(4)), { responseCode: Number(reply.slice(0, 3)) })
}
