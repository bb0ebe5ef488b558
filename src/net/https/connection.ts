import net from 'node:net'
import tls from 'node:tls'
import { type Answer, createAnswerReader } from './answer-reader.ts'
import { isAboutCertificate, phraseOf } from './phrases.ts'

/** `closed`: the peer closed before a byte of the answer came; a fresh connection may have more success. */
export type Exchanged =
  | { kind: 'answered'; answer: Answer }
  | { kind: 'no_answer'; error: string }
  | { kind: 'closed_unused' }

/** One request as it goes out. */
export interface WireRequest {
  head: Buffer
  /** Null: none. */
  body: Uint8Array | null
  /** What is read of the body of the answer; the connection is closed when more comes. */
  keepBytes: number
  /** Aborts when the time for everything is over. */
  signal: AbortSignal
  /** Called before each piece of the answer is read, for whoever watches who computes. */
  onWork?: () => void
}

/** One open connection to one address. */
export interface Connection {
  /** Sends one request and reads its answer; one at a time. Never rejects. */
  exchange(request: WireRequest): Promise<Exchanged>
  /** Whether the next request may go over it. Becomes false by itself, also between requests. */
  isUsable(): boolean
  close(): void
  /** Called once, when it cannot be used any longer. */
  onUnusable: () => void
}

/** Where to connect to, and whom the certificate must name. */
export interface Peer {
  ip: string
  port: number
  /** Host name as an A-label, or an address. */
  host: string
  /** Null: in clear. */
  trust: tls.SecureContext | null
}

export type Opened =
  | { kind: 'open'; connection: Connection }
  /** No byte of a request has gone out: another address may be tried. */
  | { kind: 'not_connected'; error: string }
  | { kind: 'no_answer'; error: string }

/** Address → a connection with the TLS handshake done and the certificate verified, whatever the environment says
 *  (NODE_TLS_REJECT_UNAUTHORIZED, HTTP_PROXY). Never rejects. */
export function openConnection(peer: Peer, connectMs: number, signal: AbortSignal): Promise<Opened> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve({ kind: 'not_connected', error: 'timeout' })
    const socket = peer.trust === null ? net.connect({ host: peer.ip, port: peer.port }) : connectTls(peer, peer.trust)
    const settle = (opened: Opened) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onTimeout)
      socket.off('error', onError)
      socket.off('close', onClose)
      if (opened.kind !== 'open') {
        socket.on('error', ignore)
        socket.destroy()
      }
      resolve(opened)
    }
    const onTimeout = () => settle({ kind: 'not_connected', error: 'timeout' })
    const onError = (error: NodeJS.ErrnoException) => {
      const phrase = phraseOf(error)
      settle({ kind: isAboutCertificate(phrase) ? 'no_answer' : 'not_connected', error: phrase })
    }
    const onClose = () => settle({ kind: 'not_connected', error: 'connection closed' })
    const timer = setTimeout(onTimeout, connectMs)
    signal.addEventListener('abort', onTimeout, { once: true })
    socket.on('error', onError)
    socket.on('close', onClose)
    socket.once(peer.trust === null ? 'connect' : 'secureConnect', () =>
      settle({ kind: 'open', connection: connectionOver(socket) }),
    )
  })
}

function connectTls({ ip, port, host }: Peer, secureContext: tls.SecureContext): tls.TLSSocket {
  return tls.connect({
    host: ip,
    port,
    servername: net.isIP(host) ? '' : host,
    checkServerIdentity: (_, certificate) => tls.checkServerIdentity(host, certificate),
    rejectUnauthorized: true,
    ALPNProtocols: ['http/1.1'],
    secureContext,
  })
}

function connectionOver(socket: net.Socket): Connection {
  let isUsable = true
  let current: { onData: (bytes: Buffer) => void; onClosed: (error: string) => void } | null = null

  const close = () => {
    socket.destroy()
    leave()
  }
  const leave = () => {
    if (!isUsable) return
    isUsable = false
    connection.onUnusable()
  }
  const ended = (error: string) => {
    leave()
    current?.onClosed(error)
  }
  // An answer that nobody asked for would be taken for the answer to the next request.
  socket.on('data', (bytes: Buffer) => (current === null ? close() : current.onData(bytes)))
  socket.on('error', (error) => ended(phraseOf(error)))
  socket.on('end', () => ended('connection closed'))
  socket.on('close', () => ended('connection closed'))
  socket.setNoDelay(true)

  const connection: Connection = {
    isUsable: () => isUsable,
    close,
    onUnusable: () => {},
    exchange: ({ head, body, keepBytes, signal, onWork = ignore }) =>
      new Promise((resolve) => {
        const reader = createAnswerReader(keepBytes)
        let sending = NOTHING_SENT
        const settle = (exchanged: Exchanged) => {
          current = null
          signal.removeEventListener('abort', onTimeout)
          const canReuse = exchanged.kind === 'answered' && exchanged.answer.canReuse && sending.isDone()
          sending.stop()
          if (!canReuse) close()
          resolve(exchanged)
        }
        const onTimeout = () => settle({ kind: 'no_answer', error: 'timeout' })
        current = {
          onData: (bytes) => {
            onWork()
            const reading = reader.push(bytes)
            if (reading.kind === 'answer') settle({ kind: 'answered', answer: reading.answer })
            else if (reading.kind === 'fault') settle({ kind: 'no_answer', error: reading.error })
          },
          onClosed: (error) => {
            const reading = reader.end()
            if (reading.kind === 'answer') settle({ kind: 'answered', answer: reading.answer })
            else if (!reader.hasBegun() && error === 'connection closed') settle({ kind: 'closed_unused' })
            else settle({ kind: 'no_answer', error })
          },
        }
        signal.addEventListener('abort', onTimeout, { once: true })
        sending = send(socket, head, body)
        if (signal.aborted) onTimeout()
      }),
  }
  return connection
}

interface Sending {
  isDone(): boolean
  stop(): void
}

/** Head and body in slices, each when the one before is gone, so that a large body is in memory once. */
function send(socket: net.Socket, head: Buffer, body: Uint8Array | null): Sending {
  if (body === null || body.byteLength <= SLICE_BYTES) {
    socket.write(body === null || body.byteLength === 0 ? head : Buffer.concat([head, body]))
    return { isDone: () => true, stop: ignore }
  }
  let at = 0
  let isStopped = false
  const more = () => {
    if (isStopped || at >= body.byteLength) return
    const slice = body.subarray(at, at + SLICE_BYTES)
    at += slice.byteLength
    socket.write(slice, more)
  }
  socket.write(head, more)
  return {
    isDone: () => at >= body.byteLength,
    stop: () => {
      isStopped = true
    },
  }
}

const SLICE_BYTES = 65_536

const ignore = () => {}
const NOTHING_SENT: Sending = { isDone: () => false, stop: ignore }
