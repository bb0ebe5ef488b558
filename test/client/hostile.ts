import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'

/** How the server treats a request: it responds, closes the connection without a response (`cut`), closes it in the
 *  middle of one (`half`), or never responds (`hang`). */
export type Move = { status: number; headers?: Record<string, string>; body?: string } | 'cut' | 'half' | 'hang'

export interface ReceivedRequest {
  method: string
  path: string
  /** By name in lower case. */
  headers: Record<string, string>
  body: string
}

/** A small HTTP server on a real socket that misbehaves as configured. */
export interface HostileServer {
  url: string
  requests: ReceivedRequest[]
  /** Resolves once `count` requests have arrived. */
  untilReceived(count: number): Promise<void>
  stop(): Promise<void>
}

/** Starts a server. Each request gets the next move; the last one is repeated. */
export async function startHostile(...moves: Move[]): Promise<HostileServer> {
  const requests: ReceivedRequest[] = []
  const sockets = new Set<Socket>()
  let waiting: { count: number; resolve: () => void }[] = []

  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    let pending = ''
    socket.on('data', (chunk) => {
      pending += chunk.toString('latin1')
      for (let request = requestIn(pending); request !== null; request = requestIn(pending)) {
        pending = pending.slice(request.length)
        requests.push(request.request)
        play(socket, moves[Math.min(requests.length, moves.length) - 1]!)
        for (const each of waiting) if (requests.length >= each.count) each.resolve()
        waiting = waiting.filter(({ count }) => requests.length < count)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    untilReceived: (count) =>
      requests.length >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve })),
    stop: () => {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** Response with an error in the format of the API. */
export function refusal(status: number, code: string, more: Record<string, unknown> = {}): Move {
  const error = { code, message: `${code}!`, details: { request_id: 'req_1' }, ...more }
  return { status, body: JSON.stringify({ error }) }
}

function play(socket: Socket, move: Move): void {
  if (move === 'hang') return
  if (move === 'cut') return void socket.destroy()
  if (move === 'half') {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"id":"m', () =>
      socket.destroy(),
    )
    return
  }
  const { status, body = '{}' } = move
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...move.headers }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${status} X\r\n${lines.join('')}\r\n${body}`)
}

/** Received bytes → the first complete request and its length; null if there is none yet. */
function requestIn(text: string): { request: ReceivedRequest; length: number } | null {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return null
  const [first = '', ...lines] = text.slice(0, end).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const length = end + 4 + Number(headers['content-length'] ?? 0)
  if (text.length < length) return null
  const [method = '', path = ''] = first.split(' ')
  return { request: { method, path, headers, body: text.slice(end + 4, length) }, length }
}
