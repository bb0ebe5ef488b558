import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'

/** Response to one request: written as it is, or what a function does with the connection. */
export type RawAnswer = string | Buffer | ((socket: tls.TLSSocket) => void)

/** A real HTTPS server on loopback that answers with the bytes a test chose. */
export interface FileServer {
  port: number
  /** `https://127.0.0.1:port` and the path. */
  url(path: string): string
  /** Sets the answer to a path, query included. Any other path gets 404. */
  set(path: string, answer: RawAnswer): void
  /** Heads of the requests so far. Callers may empty it. */
  requests: string[]
  connections(): number
  stop(): void
}

/** Key and certificate (PEM) → a listening FileServer. */
export async function startFileServer(pair: { key: string; cert: string }, host = '127.0.0.1'): Promise<FileServer> {
  const answers = new Map<string, RawAnswer>()
  const sockets = new Set<tls.TLSSocket>()
  const requests: string[] = []
  let connections = 0
  const server = tls.createServer(pair, (socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (bytes) => {
      const head = bytes.toString('latin1')
      const path = /^GET (\S+) HTTP\/1\.1\r\n/.exec(head)?.[1]
      if (path === undefined) return
      requests.push(head)
      const answer = answers.get(path) ?? fileAnswer('', 'status: none', '404 Not Found')
      if (typeof answer === 'function') answer(socket)
      else socket.write(answer)
    })
  })
  server.on('tlsClientError', () => {})
  server.listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: (path) => `https://127.0.0.1:${port}${path}`,
    set: (path, answer) => answers.set(path, answer),
    requests,
    connections: () => connections,
    stop: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/** Content and header lines → a response with Content-Length. */
export function fileAnswer(content: string | Uint8Array, headers = 'X-Other: y', status = '200 OK'): Buffer {
  const body = Buffer.from(content as Uint8Array)
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status}\r\n${headers}\r\nContent-Length: ${body.length}\r\n\r\n`, 'latin1'),
    body,
  ])
}

/** Location → a redirect with a body. */
export const redirectTo = (location: string, status = '302 Found'): Buffer =>
  fileAnswer('moved', `Location: ${location}\r\nSet-Cookie: a=b`, status)
