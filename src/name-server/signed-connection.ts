import net from 'node:net'
import { framedMessages, frameMessage } from '../net/dns/frame.ts'
import type { Clock } from '../os/clock.ts'
import { HEADER_BYTES } from './constants.ts'
import { ReplyVerifier, signMessage, type TsigKey } from './tsig.ts'

/** A name server that takes requests signed with TSIG. */
export interface SignedServer {
  host: string
  port: number
  key: TsigKey
}

/** Time of day (ms UTC), and waits for the time limit of a request. */
export interface RequestClock {
  now: () => number
  sleep: Clock['sleep']
}

/** A TCP connection for one signed request after the other. */
export interface SignedConnection {
  /** Sends a request, whose ID it sets, and gives `read` a function that resolves with the next messages of the reply that
   *  are proved to be whole and of the server. Rejects with what is wrong, for people: no answer, no connection, a
   *  TsigFailure, or what `read` throws; the connection is then of no use any more. `limitMs`: for the whole reply, however
   *  many messages it has. */
  request<T>(message: Buffer, limitMs: number, read: (next: () => Promise<Buffer[]>) => Promise<T>): Promise<T>
  close(): void
}

/** Opens a connection. What the server sends unasked waits in its own memory. Never throws: a failure rejects the request. */
export function openSignedConnection({ host, port, key }: SignedServer, clock: RequestClock): SignedConnection {
  const socket = net.connect(port, host)
  const takeMessages = framedMessages()
  const waiting: Buffer[] = []
  let wake = () => {}
  let problem: string | null = null
  let id = Math.floor(clock.now()) & 0xffff
  const end = (reason: string) => {
    problem ??= reason
    socket.destroy()
    wake()
  }
  socket.on('error', (error) => end(error.message))
  socket.on('close', () => end('the name server closed the connection'))
  socket.on('data', (bytes) => {
    socket.pause()
    waiting.push(...takeMessages(Buffer.from(bytes)))
    if (waiting.length === 0) socket.resume()
    wake()
  })
  const next = async (): Promise<Buffer> => {
    for (;;) {
      const message = waiting.shift()
      if (message !== undefined) return message
      if (problem !== null) throw new Error(problem)
      await new Promise<void>((resolve) => {
        wake = resolve
        socket.resume()
      })
    }
  }
  const send = (message: Buffer) => {
    id = (id + 1) & 0xffff
    message.writeUInt16BE(id)
    const { signed, mac } = signMessage(message, key, clock.now())
    socket.write(frameMessage(signed))
    return new ReplyVerifier(key, mac, clock.now)
  }
  return {
    request: async (message, limitMs, read) => {
      const done = new AbortController()
      let isLate = false
      void clock.sleep(limitMs, done.signal).then(() => {
        if (done.signal.aborted) return
        isLate = true
        end(LATE)
      })
      try {
        const verifier = send(message)
        return await read(async () => {
          const reply = await next()
          if (isLate) throw new Error(LATE) // although messages wait
          if (reply.length < HEADER_BYTES || reply.readUInt16BE() !== id)
            throw new Error('the reply is to another request')
          return verifier.receive(reply)
        })
      } finally {
        done.abort()
      }
    },
    close: () => end('closed'),
  }
}

const LATE = 'no answer in time'
