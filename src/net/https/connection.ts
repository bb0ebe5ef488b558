import net from 'node:net'
import tls from 'node:tls'
import { type Answer, AnswerReader, type JudgeHead } from './answer-reader.ts'
import { ANSWER_FAULTS } from './limits.ts'
import { isAboutCertificate, phraseOf } from './phrases.ts'

/** `closed`: the peer closed before sending a byte of the response; a new connection may succeed. */
export type Exchanged =
  | { kind: 'answered'; answer: Answer }
  | { kind: 'no_answer'; error: string }
  | { kind: 'closed_unused' }

/** One request to send. */
export interface WireRequest {
  head: Buffer
  /** Null for none. */
  body: Uint8Array | null
  /** Largest body to keep, in bytes; the connection is closed if more arrives. */
  keepBytes: number
  /** Aborts at the deadline of the whole request. */
  signal: AbortSignal
  /** The head is enough: a body that breaks off or does not end before the deadline leaves an answer that is not whole. */
  headDecides?: boolean
  /** Called before each received chunk is parsed, for the supervisor of the thread. */
  onWork?: () => void
  /** The response is a file. */
  file?: FileRules
}

/** Rules for a response that is a file. */
export interface FileRules {
  judge: JudgeHead
  /** Reserves memory for a file of this size; nothing is read meanwhile. Resolves with false if none became free. */
  enter: (sizeBytes: number) => Promise<boolean>
}

/** One open connection to one address. */
export interface Connection {
  /** Sends one request and reads its response; one at a time. Never rejects. */
  exchange(request: WireRequest): Promise<Exchanged>
  /** True if it can carry another request. Can become false at any time, also between requests. */
  isUsable(): boolean
  close(): void
  /** Called once when the connection becomes unusable. */
  onUnusable: () => void
}

/** Address to connect to, and the name that the certificate must contain. */
export interface Peer {
  ip: string
  port: number
  /** Host name as an A-label, or an address. */
  host: string
  /** Null for plaintext. */
  trust: tls.SecureContext | null
}

export type Opened =
  | { kind: 'open'; connection: Connection }
  /** No byte of a request was sent, so another address may be tried. */
  | { kind: 'not_connected'; error: string }
  | { kind: 'no_answer'; error: string }

/** Opens a connection with a completed TLS handshake and a verified certificate, regardless of environment variables
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
  // An unsolicited response would be taken for the response to the next request.
  socket.on('data', (bytes: Buffer) => (current === null ? close() : current.onData(bytes)))
  socket.on('error', (error) => ended(phraseOf(error)))
  socket.on('end', () => ended('connection closed'))
  socket.on('close', () => ended('connection closed'))
  socket.setNoDelay(true)

  const connection: Connection = {
    isUsable: () => isUsable,
    close,
    onUnusable: () => {},
    exchange: ({ head, body, keepBytes, signal, onWork = ignore, file, headDecides = false }) =>
      new Promise((resolve) => {
        const reader = new AnswerReader(keepBytes, file?.judge)
        let sending = NOTHING_SENT
        let hasEntered = file === undefined
        const settle = (exchanged: Exchanged) => {
          current = null
          signal.removeEventListener('abort', onTimeout)
          const canReuse = exchanged.kind === 'answered' && exchanged.answer.canReuse && sending.isDone()
          sending.stop()
          if (!canReuse) close()
          resolve(exchanged)
        }
        const fail = (error: string) => {
          const answer = headDecides ? reader.cut() : null
          settle(answer === null ? { kind: 'no_answer', error } : { kind: 'answered', answer })
        }
        const onTimeout = () => fail('timeout')
        const enter = async (sizeBytes: number) => {
          hasEntered = true
          socket.pause()
          if (await file?.enter(sizeBytes)) socket.resume()
          else if (current !== null) settle({ kind: 'no_answer', error: ANSWER_FAULTS.memory })
        }
        current = {
          onData: (bytes) => {
            onWork()
            const reading = reader.push(bytes)
            if (reading.kind === 'answer') settle({ kind: 'answered', answer: reading.answer })
            else if (reading.kind === 'fault') fail(reading.error)
            const largeBytes = hasEntered || reading.kind !== 'more' ? null : reader.largeBytes
            if (largeBytes !== null) void enter(largeBytes)
          },
          onClosed: (error) => {
            const reading = reader.end()
            if (reading.kind === 'answer') settle({ kind: 'answered', answer: reading.answer })
            else if (!reader.hasBegun && error === 'connection closed') settle({ kind: 'closed_unused' })
            else fail(error)
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

/** Sends head and body in slices, each after the previous one was sent, so that a large body is in memory once. */
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
