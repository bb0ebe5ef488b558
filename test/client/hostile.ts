import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'

/** What the server does with a request: answer, close without a response, break off within one, or stay silent. */
export type Move = { status: number; headers?: Record<string, string>; body?: string } | 'cut' | 'half' | 'hang'

export interface HeardRequest {
  method: string
  path: string
  /** Names in lower case. */
  headers: Record<string, string>
  body: string
}

/** A small server on a real socket that misbehaves towards its clients. */
export interface HostileServer {
  url: string
  heard: HeardRequest[]
  /** Resolves once that many requests have arrived. */
  hears(count: number): Promise<void>
  stop(): Promise<void>
}

/** A behaviour for each request, the last one repeated → a listening server. */
export async function startHostile(...moves: Move[]): Promise<HostileServer> {
  const heard: HeardRequest[] = []
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
        heard.push(request.heard)
        play(socket, moves[Math.min(heard.length, moves.length) - 1]!)
        for (const each of waiting) if (heard.length >= each.count) each.resolve()
        waiting = waiting.filter(({ count }) => heard.length < count)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard,
    hears: (count) =>
      heard.length >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve })),
    stop: () => {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** An error in the format of the API. */
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

/** The first complete request in the bytes so far; null while there is none. */
function requestIn(text: string): { heard: HeardRequest; length: number } | null {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return null
  const [first = '', ...lines] = text.slice(0, end).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const length = end + 4 + Number(headers['content-length'] ?? 0)
  if (text.length < length) return null
  const [method = '', path = ''] = first.split(' ')
  return { heard: { method, path, headers, body: text.slice(end + 4, length) }, length }
}
