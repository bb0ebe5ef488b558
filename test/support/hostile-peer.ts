import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'

/** Hostile responses. `endless` is sent repeatedly until the connection closes, as fast as possible. */
export const MISBEHAVIOURS: Readonly<Record<string, { first?: string; endless?: string; everyMs?: number }>> = {
  'endless 100 Continue': { endless: 'HTTP/1.1 100 Continue\r\n\r\n' },
  'endless 103 Early Hints': { endless: 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nX: y\r\n\r\n' },
  'an endless status line': { first: 'HTTP/1.1 200 ', endless: 'k' },
  'bytes without a line end': { endless: 'x' },
  'endless headers': { first: 'HTTP/1.1 200 OK\r\n', endless: 'a: b\r\n' },
  'one endless header': { first: 'HTTP/1.1 200 OK\r\nX: ', endless: 'y' },
  'endless folded lines': { first: 'HTTP/1.1 200 OK\r\nX: y\r\n', endless: ' z\r\n' },
  'endless chunks of one byte': {
    first: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
    endless: '1\r\nx\r\n',
  },
  'an endless chunk extension': { first: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;', endless: 'e' },
  'an endless chunk size': { first: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', endless: '0' },
  'endless trailers': { first: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n', endless: 'a: b\r\n' },
  'an endless body': { first: 'HTTP/1.1 200 OK\r\n\r\n', endless: 'b' },
  'a switch of protocols': { first: 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n', endless: '\0' },
  'one byte at a time': { first: 'HTTP/1.1 200 OK\r\n', endless: 'h', everyMs: 20 },
}

export interface HostilePeer {
  port: number
  /** Bytes passed to the sockets. */
  sentBytes(): number
  close(): void
}

/** A real TLS server on loopback. The path of the request selects the misbehaviour (its number, `/3`); any other
 *  path gets a proper 200. With `always` each request gets that misbehaviour. */
export async function startHostilePeer(pair: { key: string; cert: string }, always?: string): Promise<HostilePeer> {
  const names = Object.keys(MISBEHAVIOURS)
  const sockets = new Set<tls.TLSSocket>()
  let sent = 0
  const server = tls.createServer(pair, (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    const write = (text: string, then?: () => void) => {
      sent += text.length
      if (!socket.destroyed) socket.write(Buffer.from(text, 'latin1'), then)
    }
    socket.on('data', (bytes) => {
      const number = /^[A-Z]+ \/(\d+)/.exec(bytes.toString('latin1'))?.[1]
      const how = MISBEHAVIOURS[always ?? names[Number(number ?? -1)] ?? '']
      if (how === undefined) {
        if (/^[A-Z]+ \//.test(bytes.toString('latin1'))) write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
        return
      }
      if (how.first !== undefined) write(how.first)
      if (how.endless === undefined) return
      const piece = how.everyMs === undefined ? how.endless.repeat(Math.ceil(65_536 / how.endless.length)) : how.endless
      const more = () => {
        if (socket.destroyed) return
        write(piece, () => (how.everyMs === undefined ? setImmediate(more) : setTimeout(more, how.everyMs)))
      }
      more()
    })
  })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    sentBytes: () => sent,
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
