import type { Socket, TCPSocketListener } from 'bun'
import { networkOf } from '../../net/ip.ts'

/** Limits of DNS over TCP (RFC 7766 §6.2). */
export interface TcpLimits {
  connections: number
  connectionsPerNetwork: number
  /** Longest time for a query from its first wait on, and between two. */
  idleMs: number
  queryBytes: number
}

const TCP_LIMITS: TcpLimits = { connections: 500, connectionsPerNetwork: 50, idleMs: 5_000, queryBytes: 2_048 }

/** An open connection. */
interface State {
  network: string
  /** When the last query was complete, or the connection was opened (ms). */
  lastAt: number
  /** Bytes of a query that is not complete yet. */
  rest: Buffer
}

/** Listens on TCP. `answer` writes the response into a buffer and returns it, null for none. Several queries on a connection
 *  are answered in turn. A client that sends too much, reads nothing or waits too long is disconnected; so is the idlest
 *  connection when there are too many, of the same network first. Throws if the port cannot be bound. */
export function listenTcp(options: {
  host: string
  port: number
  answer: (query: Buffer) => Buffer | null
  now: () => number
  limits?: TcpLimits
}): { port: number; connections(): number; stop(): void } {
  const { answer, now, limits = TCP_LIMITS } = options
  const open = new Set<Socket<State>>()

  const idlest = (network: string | null) => {
    let found: Socket<State> | undefined
    for (const socket of open) {
      if (network !== null && socket.data.network !== network) continue
      if (found === undefined || socket.data.lastAt < found.data.lastAt) found = socket
    }
    return found
  }
  const disconnect = (socket: Socket<State> | undefined) => {
    if (socket === undefined) return
    open.delete(socket)
    socket.terminate()
  }
  const listener: TCPSocketListener<State> = Bun.listen<State>({
    hostname: options.host,
    port: options.port,
    socket: {
      open: (socket) => {
        const network = networkOf(socket.remoteAddress)
        socket.data = { network, lastAt: now(), rest: EMPTY }
        open.add(socket)
        let same = 0
        for (const each of open) if (each.data.network === network) same++
        if (same > limits.connectionsPerNetwork) disconnect(idlest(network))
        else if (open.size > limits.connections) disconnect(idlest(null))
      },
      data: (socket, bytes) => {
        if (open.has(socket) && !take(socket, bytes)) disconnect(socket)
      },
      close: (socket) => {
        open.delete(socket)
      },
      error: disconnect,
    },
  })

  /** False: disconnect. */
  const take = (socket: Socket<State>, bytes: Buffer): boolean => {
    const { data } = socket
    let rest = data.rest.length === 0 ? bytes : Buffer.concat([data.rest, bytes])
    while (rest.length >= 2) {
      const end = 2 + rest.readUInt16BE()
      if (end > 2 + limits.queryBytes) return false
      if (rest.length < end) break
      data.lastAt = now()
      const response = answer(rest.subarray(2, end))
      if (response === null) return false
      const length = Buffer.alloc(2)
      length.writeUInt16BE(response.length)
      const framed = Buffer.concat([length, response])
      if (socket.write(framed) < framed.length) return false // it does not read its responses
      rest = rest.subarray(end)
    }
    data.rest = Buffer.from(rest) // the runtime uses its buffer again
    return true
  }

  const sweep = setInterval(() => {
    for (const socket of open) if (now() - socket.data.lastAt > limits.idleMs) disconnect(socket)
  }, limits.idleMs / 5)
  return {
    port: listener.port,
    connections: () => open.size,
    stop: () => {
      clearInterval(sweep)
      for (const socket of open) disconnect(socket)
      listener.stop(true)
    },
  }
}

const EMPTY = Buffer.alloc(0)
