import { type Answer, answer } from './answer.ts'
import type { Permission } from './rate-limit.ts'
import { listenTcp, type TcpLimits } from './tcp.ts'
import type { Zone } from './zone.ts'

export interface Served {
  /** The port of both transports. */
  port: number
  stop(): void
}

/** What happened to the queries, for metrics. */
export interface QueryCounter {
  answered(answer: Answer, transport: 'udp' | 'tcp'): void
  limited(permission: 'slip' | 'drop'): void
  /** An answer failed with an internal error. */
  failed(error: unknown): void
}

/** Answers queries at one address over UDP and TCP. `zone` returns the present zone, null while there is none. `permit` is
 *  the rate limit of UDP, common to all addresses. A bug in one answer costs that answer: the client gets none, and asks
 *  again. Rejects if the port cannot be bound. */
export async function serveAddress(options: {
  host: string
  /** 0: any that is free for both transports. */
  port: number
  zone: () => Zone | null
  permit: (address: string) => Permission
  count: QueryCounter
  now: () => number
  tcpLimits?: TcpLimits
  /** Query → the answer in `out`; a test may replace it. */
  answerOf?: typeof answer
}): Promise<Served> {
  const { host, zone, permit, count, answerOf = answer } = options
  const out = Buffer.alloc(65_535)
  const answerTo = (query: Buffer, how: Parameters<typeof answer>[3]): Answer | null => {
    try {
      return answerOf(query, zone(), out, how)
    } catch (error) {
      count.failed(error)
      return null
    }
  }
  const answerTcp = (query: Buffer) => {
    const given = answerTo(query, { transport: 'tcp' })
    if (given === null) return null
    count.answered(given, 'tcp')
    return out.subarray(0, given.sizeBytes)
  }
  const tcp = listenTcp({ host, port: options.port, answer: answerTcp, now: options.now, limits: options.tcpLimits })
  try {
    const udp = await Bun.udpSocket({
      hostname: host,
      port: tcp.port,
      socket: {
        data: (socket, packet, port, address) => {
          const permission = permit(address)
          if (permission !== 'answer') count.limited(permission)
          if (permission === 'drop') return
          const given = answerTo(packet, { transport: 'udp', isLimited: permission === 'slip' })
          if (given === null) return
          count.answered(given, 'udp')
          socket.send(out.subarray(0, given.sizeBytes), port, address) // lost if the kernel's buffer is full, as any datagram
        },
        error: () => {}, // a client's port is closed; the next packet is not affected
      },
    })
    return {
      port: tcp.port,
      stop: () => {
        udp.close()
        tcp.stop()
      },
    }
  } catch (error) {
    tcp.stop()
    throw error
  }
}
