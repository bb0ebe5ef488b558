import { connect, type Socket } from 'node:net'
import { StringDecoder } from 'node:string_decoder'
import { type TLSSocket, connect as tlsConnect } from 'node:tls'
import { createReplyReader, type Reply, ReplyFault } from '../../../mail/reply.ts'
import type { TlsaRecord } from '../../../net/dns/resolver.ts'
import { isIpLiteral } from '../../../net/ip.ts'
import { systemClock } from '../../../os/clock.ts'
import { strayHandler } from '../../../os/job-isolation.ts'
import { errorCode } from '../../../os/thrown.ts'
import { daneProblem } from '../tls/dane.ts'
import type { Fault } from './reply.ts'
import type { Transcript } from './transcript.ts'

/** Options of a TLS client handshake. */
export interface TlsRequest {
  /** For SNI and certificate verification. */
  host: string
  /** PEM of authorities that replace the public ones. */
  ca?: string
  /** Usable TLSA records that verify the server in place of an authority. */
  tlsa?: readonly TlsaRecord[]
  timeoutMs: number
}

/** Result of a TLS handshake; `problem` says why the certificate is not valid for the server, null if it is. */
export interface TlsFacts {
  version: string
  cipher: string
  problem: string | null
  /** SHA-256 of the server's certificate, hex; '' for none. */
  fingerprint?: string
}

/** One SMTP connection below the level of commands: bytes out, replies in. Every wait is bounded: its timeout covers
 *  the whole reply, however slowly it arrives, and no wait passes `deadlineMs`. The first fault ends the dialogue; each
 *  later wait returns the same fault. */
export interface Dialogue {
  /** Transcript of the current attempt; replaced when the connection is reused. */
  transcript: Transcript
  /** On nowMs(); Infinity when only the step timeouts apply. */
  deadlineMs: number
  readonly localAddress: string | null
  /** Sends one or more command lines, CRLF included; the transcript gets `shown`. */
  say(bytes: string | Uint8Array, shown: string): void
  /** Sends bytes without recording them in the transcript. */
  write(bytes: Uint8Array): void
  /** The next reply; one already received comes first. */
  reply(timeoutMs: number): Promise<Reply | Fault>
  /** Resolves with null when the kernel has accepted all written bytes. */
  drained(timeoutMs: number): Promise<Fault | null>
  /** TLS client handshake. Discards earlier input, which came without TLS and may be injected. */
  secure(request: TlsRequest): Promise<TlsFacts | Fault>
  /** Whether the connection is open and the peer has sent nothing unasked. */
  isQuiet(): boolean
  /** Whether bytes passed to the kernel had not left this machine when the connection ended. */
  hasUnsent(): boolean
  close(): void
}

export const isFault = <T extends object>(value: T | Fault): value is Fault => 'class' in value

/** Monotonic milliseconds for all deadlines here, so that a changed wall clock ends no dialogue. */
export const nowMs = () => performance.now()

/** Address and port → an open Dialogue, or the fault. Nothing is sent or read yet. Never rejects. */
export function openDialogue(options: {
  address: string
  port: number
  localAddress: string | null
  timeoutMs: number
  deadlineMs: number
  transcript: Transcript
}): Promise<Dialogue | Fault> {
  const { address, port, localAddress, timeoutMs, deadlineMs, transcript } = options
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, localAddress: localAddress ?? undefined })
    const end = (fault: Fault) => {
      clearTimeout(timer)
      socket.destroy()
      transcript.note(fault.message)
      resolve(fault)
    }
    const timer = setTimeout(
      () => end({ class: 'timeout', code: '4.4.1', message: `cannot connect to ${address}:${port}: timed out` }),
      Math.max(0, Math.min(timeoutMs, deadlineMs - nowMs())),
    )
    const onError = (error: Error) => end(connectFault(error, `${address}:${port}`))
    socket.once('error', onError)
    socket.once('connect', () => {
      clearTimeout(timer)
      socket.removeListener('error', onError)
      socket.setNoDelay(true)
      resolve(new SocketDialogue(socket, transcript, deadlineMs))
    })
  })
}

class SocketDialogue implements Dialogue {
  readonly localAddress: string | null
  private decoder = new StringDecoder('utf8')
  private reader = createReplyReader({ maxBytes: MAX_REPLY_BYTES })
  private replies: Reply[] = []
  private ended: Fault | null = null
  private waiter: ((answer: Reply | Fault) => void) | null = null
  private drainWaiter: ((fault: Fault | null) => void) | null = null
  private timer: ReturnType<typeof setTimeout> | null = null
  private timerAt = 0
  private unsent = false
  /** Of the job that waits, or did last: a connection serves many. */
  private onBug: ((error: unknown) => void) | undefined
  private waitUntil = Number.POSITIVE_INFINITY

  constructor(
    private socket: Socket,
    public transcript: Transcript,
    public deadlineMs: number,
  ) {
    this.localAddress = socket.localAddress ?? null
    this.listen()
  }

  say(bytes: string | Uint8Array, shown: string): void {
    if (this.ended !== null) return
    for (const line of shown.split('\r\n')) this.transcript.client(line)
    this.socket.write(bytes)
  }

  write(bytes: Uint8Array): void {
    if (this.ended === null) this.socket.write(bytes)
  }

  reply(timeoutMs: number): Promise<Reply | Fault> {
    const ready = this.replies.shift() ?? this.ended
    if (ready !== undefined && ready !== null) return Promise.resolve(ready)
    return new Promise((resolve) => {
      this.waiter = resolve
      this.arm(timeoutMs)
    })
  }

  drained(timeoutMs: number): Promise<Fault | null> {
    if (this.ended !== null || this.socket.writableLength === 0) return Promise.resolve(this.ended)
    return new Promise((resolve) => {
      this.drainWaiter = resolve
      this.arm(timeoutMs)
    })
  }

  secure(options: TlsRequest): Promise<TlsFacts | Fault> {
    const clear = this.socket
    clear.removeAllListeners('data')
    clear.removeAllListeners('drain')
    this.replies = []
    this.decoder = new StringDecoder('utf8')
    this.reader = createReplyReader({ maxBytes: MAX_REPLY_BYTES })
    if (this.ended !== null) return Promise.resolve(this.ended)

    return new Promise((resolve) => {
      const failed = (fault: Fault) => resolve(fault.class === 'timeout' ? fault : tlsFault(fault.message))
      this.waiter = (answer) => isFault(answer) && failed(answer)
      this.arm(options.timeoutMs)
      const secured = tlsConnect({
        socket: clear,
        // The name for SNI and the certificate; an address has no SNI (RFC 6066 §3).
        ...(isIpLiteral(options.host) ? { host: options.host } : { servername: options.host }),
        ca: options.ca,
        // Checked afterwards: without a requirement, unverified encryption is better than none (RFC 7435).
        rejectUnauthorized: false,
        minVersion: 'TLSv1.2',
      })
      this.socket = secured
      this.listen()
      secured.once('secureConnect', () => {
        if (this.ended !== null) return
        this.waiter = null
        resolve(tlsFacts(secured, options))
      })
    })
  }

  isQuiet(): boolean {
    return this.ended === null && this.replies.length === 0
  }

  hasUnsent(): boolean {
    return this.unsent
  }

  close(): void {
    this.end({ class: 'network', code: '4.4.2', message: 'connection closed by us' })
  }

  private listen(): void {
    this.socket.on('data', (chunk: Buffer) => this.receive(chunk))
    this.socket.on('drain', () => this.flushed())
    this.socket.on('error', (error: Error) => this.end(lostFault(error.message)))
    const onGone = () => this.end(lostFault(`peer closed the connection${this.strayWords()}`))
    this.socket.on('close', onGone)
    this.socket.on('end', onGone)
  }

  /** Of a peer that may speak another protocol. */
  private strayWords(): string {
    const line = this.reader.strayLine()
    return line === null ? '' : `, but sent a line that is not an SMTP reply: ${JSON.stringify(line.slice(0, 100))}`
  }

  /** After a bug, no later reply may answer the command of the lost one. */
  private receive(chunk: Buffer): void {
    if (this.ended !== null) return
    try {
      this.take(chunk)
    } catch (error) {
      this.onBug?.(error)
      this.end({ class: 'protocol', code: '4.3.0', message: 'internal error' })
      if (this.onBug === undefined) throw error
    }
  }

  private take(chunk: Buffer): void {
    let replies: readonly Reply[]
    let fault: Fault | null = null
    try {
      replies = this.reader.push(this.decoder.write(chunk))
    } catch (error) {
      if (!(error instanceof ReplyFault)) throw error
      replies = error.replies
      fault = { class: 'protocol', code: '4.5.0', message: error.message }
    }
    for (const reply of replies) {
      this.transcript.server(replyLines(reply))
      this.replies.push(reply)
    }
    const waiter = this.waiter
    const reply = waiter === null ? undefined : this.replies.shift()
    if (waiter !== null && reply !== undefined) {
      this.waiter = null
      waiter(reply)
    }
    if (fault !== null) this.end(fault)
  }

  private flushed(): void {
    const waiter = this.drainWaiter
    this.drainWaiter = null
    waiter?.(null)
  }

  /** One timer serves all waits. It keeps running and checks `waitUntil` when it fires, because a new timer per reply
   *  would cost more than the reply. */
  private arm(timeoutMs: number): void {
    this.onBug = strayHandler()
    const now = nowMs()
    this.waitUntil = Math.min(now + timeoutMs, this.deadlineMs)
    if (this.timer !== null && this.timerAt <= this.waitUntil) return
    if (this.timer !== null) clearTimeout(this.timer)
    this.timerAt = this.waitUntil
    this.timer = setTimeout(() => this.onTimer(), Math.max(0, this.waitUntil - now))
    this.timer.unref()
  }

  private onTimer(): void {
    this.timer = null
    if (this.waiter === null && this.drainWaiter === null) return
    const leftMs = this.waitUntil - nowMs()
    if (leftMs > 0) this.arm(leftMs)
    else this.end({ class: 'timeout', code: '4.4.2', message: `peer did not respond in time${this.strayWords()}` })
  }

  private end(fault: Fault): void {
    if (this.ended !== null) return
    this.ended = fault
    this.unsent = this.socket.writableLength > 0
    if (this.timer !== null) clearTimeout(this.timer)
    this.socket.destroy()
    const waiter = this.waiter
    const drainWaiter = this.drainWaiter
    this.waiter = null
    this.drainWaiter = null
    if (waiter !== null || drainWaiter !== null) this.transcript.note(fault.message)
    waiter?.(fault)
    drainWaiter?.(fault)
  }
}

const MAX_REPLY_BYTES = 65_536

function replyLines({ code, enhanced, text }: Reply): string {
  const status = enhanced === null ? '' : `${enhanced} `
  if (!text.includes('\n')) return `${code} ${status}${text}`
  const lines = text.split('\n')
  return lines.map((line, i) => `${code}${i < lines.length - 1 ? '-' : ' '}${status}${line}`).join('\n')
}

function tlsFacts(socket: TLSSocket, { host, tlsa }: TlsRequest): TlsFacts {
  const problem =
    tlsa === undefined ? publicProblem(socket) : daneProblem(tlsa, shownBy(socket), host, systemClock.now())
  const facts = { version: socket.getProtocol() ?? 'TLS', cipher: socket.getCipher()?.name ?? 'unknown', problem }
  return problem === null ? facts : { ...facts, fingerprint: fingerprintOf(shownBy(socket)[0]) }
}

const fingerprintOf = (der: Uint8Array | undefined) =>
  der === undefined ? '' : new Bun.CryptoHasher('sha256').update(der).digest('hex')

/** Why the public authorities, or their replacement, do not verify the certificate; null if they do. */
function publicProblem(socket: TLSSocket): string | null {
  const error: unknown = socket.authorizationError
  if (socket.authorized) return null
  return error instanceof Error ? error.message : String(error ?? 'certificate not verified')
}

/** The certificates sent by the server, DER, its own first. */
function shownBy(socket: TLSSocket): Uint8Array[] {
  const shown: Uint8Array[] = []
  let each = socket.getPeerCertificate(true)
  while (each?.raw && shown.length < MAX_SHOWN) {
    shown.push(each.raw)
    if (each.issuerCertificate === each) break
    each = each.issuerCertificate
  }
  return shown
}

const MAX_SHOWN = 10

const tlsFault = (reason: string): Fault => ({
  class: 'tls',
  tls: 'validation-failure',
  code: '4.7.5', // RFC 3463 §3.8: cryptographic failure
  message: `TLS handshake failed: ${reason}`,
})

const lostFault = (reason: string): Fault => ({
  class: 'network',
  code: '4.4.2',
  message: `connection lost: ${reason}`,
})

function connectFault(error: Error, where: string): Fault {
  const code = errorCode(error) ?? ''
  const reason = CONNECT_WORDS[code] ?? error.message
  const isOfOurAddress = code === 'EADDRNOTAVAIL'
  return { class: 'network', code: '4.4.1', message: `cannot connect to ${where}: ${reason}`, isOfOurAddress }
}

const CONNECT_WORDS: Partial<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENETUNREACH: 'network unreachable',
  EHOSTUNREACH: 'host unreachable',
  ETIMEDOUT: 'timed out',
  ECONNRESET: 'connection reset',
  EADDRNOTAVAIL: 'the source address is not an address of this machine',
}
