import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

/** Clients that send as RFC 5321 §4.5.4.1 requires, and their records. */
export interface Ledger {
  /** Token → the reply to its final dot, a 250. */
  acknowledged: Map<string, string>
  /** Token → how often its final dot was sent without a reply: that often it may have been accepted unnoticed. */
  unanswered: Map<string, number>
  /** Replies that were neither 250 nor the end of a connection. */
  refusals: string[]
  /** Called as soon as a 250 arrives. */
  onAcknowledged: () => void
}

export interface SmtpClient {
  /** Sends until a 250. */
  deliver(token: string, mail: string): Promise<void>
  close(): void
}

/** One client with one connection at a time, reopened whenever it is lost. With `password` it logs in, over TLS by
 *  default. `envelope` returns the addresses for a token. */
export function createSmtpClient(options: {
  port: number
  password?: string
  isTls?: boolean
  envelope: (token: string) => { from: string; to: string }
  ledger: Ledger
}): SmtpClient {
  const { port, password, isTls = password !== undefined, envelope, ledger } = options
  let connection: Connection | null = null

  const open = async (): Promise<Connection> => {
    const made = await openConnection(port, isTls)
    await made.say('EHLO client.example', '250')
    if (password !== undefined) {
      await made.say(`AUTH PLAIN ${Buffer.from(`\0anybody\0${password}`).toString('base64')}`, '235')
    }
    return made
  }

  const attempt = async (token: string, mail: string): Promise<string> => {
    connection ??= await open()
    const { from, to } = envelope(token)
    await connection.say(`MAIL FROM:<${from}>`, '250')
    await connection.say(`RCPT TO:<${to}>`, '250')
    await connection.say('DATA', '354')
    const count = ledger.unanswered.get(token) ?? 0
    ledger.unanswered.set(token, count + 1)
    const reply = await connection.say(`${mail}.`, '')
    ledger.unanswered.set(token, count)
    if (!reply.startsWith('250')) throw new Error(reply)
    return reply
  }

  return {
    deliver: async (token, mail) => {
      for (;;) {
        try {
          ledger.acknowledged.set(token, await attempt(token, mail))
          ledger.onAcknowledged()
          return
        } catch (error) {
          connection?.close()
          connection = null
          if (!(error instanceof ConnectionLost)) ledger.refusals.push((error as Error).message)
          await Bun.sleep(20)
        }
      }
    },
    close: () => connection?.close(),
  }
}

export class ConnectionLost extends Error {}

export interface Connection {
  socket: Socket
  /** Sends a line and waits for the last line of its reply. Throws when that starts differently (with the line), or
   *  ConnectionLost. */
  say(line: string, expected: string): Promise<string>
  close(): void
}

/** Resolves after the greeting; with `isTls` with TLS from the first byte. `localAddress`: the client's address, one
 *  of 127.0.0.0/8. Rejects with ConnectionLost. */
export async function openConnection(port: number, isTls: boolean, localAddress?: string): Promise<Connection> {
  const socket: Socket = isTls
    ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
    : connect({ port, host: '127.0.0.1', localAddress, noDelay: true })
  let rest = ''
  let waiting = Promise.withResolvers<string>()
  waiting.promise.catch(() => {})
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    rest += chunk
    for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
      const line = rest.slice(0, end)
      rest = rest.slice(end + 2)
      if (line[3] === ' ') waiting.resolve(line)
    }
  })
  socket.on('error', () => {})
  socket.on('close', () => waiting.reject(new ConnectionLost('closed')))

  const reply = async (expected: string) => {
    const line = await waiting.promise
    if (!line.startsWith(expected)) throw new Error(line)
    return line
  }
  await reply('220')
  return {
    socket,
    say: (line, expected) => {
      if (socket.destroyed) return Promise.reject(new ConnectionLost('closed'))
      waiting = Promise.withResolvers()
      waiting.promise.catch(() => {})
      socket.write(`${line}\r\n`)
      return reply(expected)
    },
    close: () => socket.destroy(),
  }
}
