import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import https from 'node:https'
import type tls from 'node:tls'
import type { PostTarget } from './webhook-url.ts'

export interface SendRequest {
  method: 'POST' | 'GET'
  target: PostTarget
  /** As they go on the wire, with Host. */
  headers: Record<string, string>
  /** Null: none. */
  body: Uint8Array | string | null
  /** What is read of the answer; the connection is dropped when more comes. */
  keepBytes: number
  /** Aborts when the time for everything is over. */
  signal: AbortSignal
}

/** `not_connected`: no byte of the request has gone out, another address may be tried. */
export type Outcome =
  | { kind: 'answered'; status: number; headers: IncomingHttpHeaders; body: Buffer; isWhole: boolean }
  | { kind: 'no_answer'; error: string }
  | { kind: 'not_connected'; error: string }

export type Send = (ip: string, request: SendRequest, connectMs: number) => Promise<Outcome>

/** Agent and trust → the function that does one request to one address. The certificate must name the host of the
 *  URL (or the address, when that is the host). A kept connection that the peer closes before a byte of the
 *  answer is replaced once by a fresh one (RFC 9110 §9.2.2 leaves that to us; our receivers must expect a POST
 *  twice anyway). Rejects on headers HTTP cannot carry. */
export function createSend(agent: https.Agent | false, secureContext: tls.SecureContext): Send {
  return async (ip, request, connectMs) => {
    const first = await exchange(ip, request, connectMs, agent, secureContext)
    if (first.kind !== 'stale') return first
    const second = await exchange(ip, request, connectMs, false, secureContext)
    return second.kind === 'stale' ? { kind: 'no_answer', error: 'connection closed' } : second
  }
}

type Exchange = Outcome | { kind: 'stale' }

function exchange(
  ip: string,
  request: SendRequest,
  connectMs: number,
  agent: https.Agent | false,
  secureContext: tls.SecureContext,
): Promise<Exchange> {
  const { method, target, headers, body, keepBytes, signal } = request
  return new Promise((resolve, reject) => {
    if (signal.aborted) return resolve({ kind: 'not_connected', error: 'timeout' })
    let isConnected = false
    let connectTimer: ReturnType<typeof setTimeout> | undefined
    const outgoing = https.request({
      host: ip,
      port: target.port,
      path: target.path,
      method,
      headers: body === null ? headers : { ...headers, 'Content-Length': String(Buffer.byteLength(body)) },
      agent,
      // The certificate is held against the server name; without one, as for a host that is an address, against
      // the address. Left undefined it would follow the Host header. A checkServerIdentity of our own would say
      // the same, but Bun then reuses no connection.
      servername: target.host === ip ? '' : target.host,
      rejectUnauthorized: true, // whatever NODE_TLS_REJECT_UNAUTHORIZED says
      ...{ secureContext },
    })
    const end = (result: Exchange) => {
      clearTimeout(connectTimer)
      signal.removeEventListener('abort', onAbort)
      resolve(result)
    }
    const fail = (error: string) => end({ kind: isConnected ? 'no_answer' : 'not_connected', error })
    const onAbort = () => {
      fail('timeout')
      outgoing.destroy()
    }
    signal.addEventListener('abort', onAbort, { once: true })
    outgoing.on('socket', (socket) => {
      if (outgoing.reusedSocket) {
        isConnected = true
        return
      }
      connectTimer = setTimeout(onAbort, connectMs)
      socket.once('secureConnect', () => {
        isConnected = true
        clearTimeout(connectTimer)
      })
    })
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      if (outgoing.reusedSocket && isClosed(error)) return end({ kind: 'stale' })
      if (isCertificateTrouble(error)) return end({ kind: 'no_answer', error: phraseOf(error) })
      fail(phraseOf(error))
    })
    outgoing.on('response', (incoming) => {
      isConnected = true
      readAnswer(incoming, keepBytes).then(end, reject)
    })
    outgoing.end(body ?? undefined)
  })
}

/** Reads until the end or until `keepBytes` are full; then the connection is dropped, for nothing says how much
 *  would still come. */
function readAnswer(incoming: IncomingMessage, keepBytes: number): Promise<Outcome> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    const answered = () => {
      const { statusCode: status = 0, headers } = incoming
      const body = Buffer.concat(chunks).subarray(0, keepBytes)
      resolve({ kind: 'answered', status, headers, body, isWhole: size <= keepBytes })
    }
    incoming.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size <= keepBytes) return
      answered()
      incoming.destroy()
    })
    incoming.on('end', answered)
    incoming.on('error', () => resolve({ kind: 'no_answer', error: 'connection closed' }))
    incoming.on('close', () => resolve({ kind: 'no_answer', error: 'connection closed' }))
  })
}

const isClosed = ({ code = '' }: NodeJS.ErrnoException) => PHRASES[code] === 'connection closed'
const isCertificateTrouble = (error: NodeJS.ErrnoException) => phraseOf(error).startsWith('certificate')

/** Codes of node:net, node:tls and OpenSSL → the words we show. They stay the same over versions, and hold
 *  neither address nor query. */
const PHRASES: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed',
  EPIPE: 'connection closed',
  ECONNABORTED: 'connection closed',
  ETIMEDOUT: 'timeout',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'host unreachable',
  EADDRNOTAVAIL: 'host unreachable',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate is for another name',
  CERT_HAS_EXPIRED: 'certificate has expired',
  CERT_NOT_YET_VALID: 'certificate is not valid yet',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate is not trusted',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate is not trusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate is not trusted',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate is not trusted',
  CERT_UNTRUSTED: 'certificate is not trusted',
  EPROTO: 'TLS failed',
}

function phraseOf({ code = '' }: NodeJS.ErrnoException): string {
  if (PHRASES[code]) return PHRASES[code]
  if (code.includes('CERT')) return 'certificate is not valid'
  if (code.startsWith('HPE_') || code.includes('HEADER')) return 'answer is not HTTP'
  if (code.startsWith('ERR_SSL') || code.includes('TLS')) return 'TLS failed'
  return 'connection failed'
}
