import { createServer, type Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'

/** What a server does at the greeting ('greeting') or at a command ('LOGIN', 'LIST', 'SELECT', 'SEARCH', 'FETCH', …). Returns true
 *  if it has answered. */
export type Misbehaviour = (client: { tag: string; socket: Socket }) => boolean

/** An IMAP server with one mail, which misbehaves where it is told to. */
export interface TestImapServer {
  port: number
  /** Every line that clients sent, of all connections. */
  lines: string[]
  /** Bytes that the system took from the server. */
  written(): number
  stop(): Promise<void>
}

export interface ImapOptions {
  at?: Partial<Record<string, Misbehaviour>>
  capabilities?: string
  tls?: { key: string; cert: string; isImplicit: boolean }
}

/** Starts it on loopback. It knows one mail, for whatever subject. */
export async function startImapServer({ at = {}, capabilities = '', tls }: ImapOptions = {}): Promise<TestImapServer> {
  const lines: string[] = []
  const sockets = new Set<Socket>()
  const serve = (socket: Socket, isGreeted: boolean) => {
    sockets.add(socket)
    socket.on('error', () => {})
    const misbehaves = (what: string, tag: string) => at[what]?.({ tag, socket }) === true
    if (!isGreeted && !misbehaves('greeting', '*')) socket.write(`* OK ready\r\n`)
    let rest = ''
    const onData = (chunk: Buffer) => {
      rest += chunk
      const parts = rest.split('\r\n')
      rest = parts.pop()!
      for (const line of parts) {
        lines.push(line)
        const [tag = '', first = '', second = ''] = line.split(' ')
        const command = (first === 'UID' ? second : first).toUpperCase()
        if (misbehaves(command, tag)) continue
        if (command === 'STARTTLS' && tls !== undefined) {
          socket.removeListener('data', onData)
          socket.write(`${tag} OK go\r\n`)
          serve(new TLSSocket(socket, { isServer: true, secureContext: createSecureContext(tls) }), true)
          return
        }
        const answer = line.endsWith('LIST "" ""') ? ROOT : (ANSWERS[command] ?? '')
        socket.write(`${answer.replace('CAPABILITIES', capabilities)}${tag} OK done\r\n`)
        if (command === 'LOGOUT') socket.end()
      }
    }
    socket.on('data', onData)
  }
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    if (tls?.isImplicit) {
      serve(new TLSSocket(socket, { isServer: true, secureContext: createSecureContext(tls) }), false)
    } else serve(socket, false)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as { port: number }).port,
    lines,
    written: () =>
      [...sockets].reduce((sum, { bytesWritten, writableLength }) => sum + bytesWritten - writableLength, 0),
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

/** Sends the same again and again, as fast as the client reads. */
export function flood(socket: Socket, text: string): true {
  const bytes = Buffer.from(text)
  const go = () => {
    while (!socket.destroyed && socket.write(bytes));
    socket.once('drain', go)
  }
  go()
  return true
}

const ROOT = '* LIST (\\Noselect) "/" ""\r\n'
const ANSWERS: Readonly<Record<string, string>> = {
  CAPABILITY: '* CAPABILITY IMAP4rev1 CAPABILITIES\r\n',
  LIST: '* LIST (\\HasNoChildren) "/" INBOX\r\n* LIST (\\HasNoChildren \\Junk) "/" Junk\r\n',
  SELECT: '* 1 EXISTS\r\n* FLAGS (\\Deleted)\r\n* OK [UIDVALIDITY 1] ok\r\n',
  EXAMINE: '* 1 EXISTS\r\n* FLAGS ()\r\n* OK [UIDVALIDITY 1] ok\r\n',
  SEARCH: '* SEARCH 7\r\n',
  FETCH: '* 1 FETCH (UID 7 INTERNALDATE "21-Nov-2026 12:00:00 +0000")\r\n',
  LOGOUT: '* BYE bye\r\n',
}
