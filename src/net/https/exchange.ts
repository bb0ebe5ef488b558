import { X509Certificate } from 'node:crypto'
import tls from 'node:tls'
import type { Lookup, Resolver } from '../dns/resolver.ts'
import { type PostTarget, parsePostTarget } from '../webhook-url.ts'
import { excerptOf, redirectTarget } from './answer-excerpt.ts'
import type { Answer, JudgeHead } from './answer-reader.ts'
import { type Connection, type Exchanged, openConnection, type WireRequest } from './connection.ts'
import { createIdleConnections } from './idle-connections.ts'
import { ANSWER_FAULTS, CONNECT_LIMITS } from './limits.ts'
import { requestHead } from './request-bytes.ts'

/** One request, in a form that can be sent to a thread. */
export interface ExchangeJob {
  url: string
  method: 'POST' | 'GET'
  headers: Record<string, string>
  /** Null for none. */
  body: Uint8Array | string | null
  /** Largest body to read, in bytes. */
  maxBytes: number
  /** Time limit up to the end of the response. */
  timeoutMs: number
  /** Form of the returned body: text safe to display (answer-excerpt.ts), the whole body as UTF-8, or its bytes. */
  as: 'excerpt' | 'text' | 'file'
}

/** Result of a request, small (unless it is a file) and without data that still needs parsing. `answered`: any status,
 *  including redirects, which are not followed. `headers` are by lower-case name; with an excerpt only Retry-After and
 *  the target of a redirect (redirectTarget) as Location, and a body that does not end may be missing.
 *  `text` is null if the whole body was requested and was longer than `maxBytes`, encoded, or not UTF-8. `file` is the
 *  body of a 200 that was requested as a file, else null; one that is too large, compressed or without a length gives
 *  `no_answer`. `blocked`: no connection was opened. `error` is one of a few short phrases. */
export type ExchangeResult =
  | {
      kind: 'answered'
      status: number
      headers: Record<string, string>
      text: string | null
      file: Uint8Array<ArrayBuffer> | null
    }
  | { kind: 'blocked'; reason: string }
  | { kind: 'no_answer'; error: string }

/** Called during a request. */
export interface ExchangeHooks {
  /** Before each processing step on received data. */
  onWork?: () => void
  /** Before a file of more than FILE_LIMITS.smallBytes is read, with its size, or `maxBytes` if that is unknown.
   *  Nothing is read meanwhile. Resolves with false to refuse it. By default every file is read. */
  enter?: (sizeBytes: number) => Promise<boolean>
}

/** Sends one request. Rejects only for headers that HTTP does not allow. `body` may be transferred to a thread, so
 *  do not use it afterwards. */
export type Exchange = (job: ExchangeJob, hooks?: ExchangeHooks) => Promise<ExchangeResult>

/** Allowed targets and trust for one kind of request. */
export interface ExchangeOptions {
  resolver: Pick<Resolver, 'a' | 'aaaa'>
  /** Called for every address before a connection to it is opened. */
  mayConnect: (ip: string) => boolean
  /** PEM roots trusted in addition to the built-in ones. */
  ca?: string
  userAgent: string
  /** Keeps connections open for the next request to the same host. */
  keepsAlive: boolean
}

/** Sends requests from this thread. Host names are resolved, the addresses checked, and exactly those addresses
 *  connected to, so that a name cannot change in between; the certificate must contain the host. If no connection
 *  can be opened, the next address is tried, IPv4 before IPv6. Proxies from the environment are not used. Throws if
 *  `ca` is not a certificate.
 *
 *  Not based on fetch (measured with Bun 1.4.5): it reads interim responses, trailers and chunk extensions without limit
 *  until the deadline, in the one HTTP thread of the process. A single flooding connection delayed posts to others from
 *  0.4 to 65 ms. It also keeps connections only while there are at most 60 host names. Not based on node:https, whose
 *  parser reads interim responses without limit too. */
export function createExchange(options: ExchangeOptions): { exchange: Exchange; close: () => void } {
  const { keepsAlive } = options
  const sender = createSender(
    tls.createSecureContext(options.ca ? { ca: withBuiltInRoots(options.ca) } : {}),
    keepsAlive,
  )
  const exchange: Exchange = async (job, { onWork, enter = async () => true } = {}) => {
    const target = parsePostTarget(job.url)
    if ('refused' in target) return { kind: 'blocked', reason: target.refused }
    const body = typeof job.body === 'string' ? Buffer.from(job.body) : job.body
    const { path, hostHeader } = target
    const head = requestHead({ ...job, path, hostHeader, body, userAgent: options.userAgent, keepsAlive })
    const timeout = new AbortController()
    const timer = setTimeout(() => timeout.abort(), job.timeoutMs)
    const file = job.as === 'file' ? { judge: judgeFile(job.maxBytes), enter } : undefined
    const headDecides = job.as === 'excerpt'
    const request = { target, head, body, keepBytes: job.maxBytes, signal: timeout.signal, onWork, file, headDecides }
    const connectMs = Math.min(CONNECT_LIMITS.connectMs, job.timeoutMs / 2)
    try {
      const outcome = await sendTo(target, options, (ip) => sender.send(ip, request, connectMs), timeout.signal)
      return outcome.kind === 'answered' ? resultOf(outcome.answer, job) : outcome
    } finally {
      clearTimeout(timer)
    }
  }
  return { exchange, close: sender.close }
}

function withBuiltInRoots(ca: string): string[] {
  new X509Certificate(ca) // throws here, not at the first request
  return [...tls.rootCertificates, ca]
}

/** Reads only the body of a 200: of any other status the head says everything. A body that ends with the connection may
 *  have been cut off, and an unpacked one could have any size. */
function judgeFile(maxBytes: number): JudgeHead {
  return (head) => {
    const { status, framing } = head
    if (status !== 200) return 'skip'
    if (!isPlain(codingOf(head))) return { fault: ANSWER_FAULTS.coded }
    if (framing.kind === 'close') return { fault: ANSWER_FAULTS.endless }
    return framing.kind === 'length' && framing.bytes > maxBytes ? { fault: ANSWER_FAULTS.large } : 'read'
  }
}

const codingOf = ({ headers, isCoded }: Pick<Answer, 'headers' | 'isCoded'>) =>
  isCoded ? 'unknown' : headers.get('content-encoding')
const isPlain = (coding = 'identity') => coding.toLowerCase() === 'identity'

function resultOf(answer: Answer, { as, url }: ExchangeJob): ExchangeResult {
  const { status, headers, body, isWhole } = answer
  const coding = codingOf(answer)
  if (as === 'excerpt') {
    const retryAfter = headers.get('retry-after')?.slice(0, RETRY_AFTER_CHARACTERS)
    const location = status >= 300 && status < 400 ? redirectTarget(headers.get('location'), url) : null
    const said = { ...(retryAfter && { 'retry-after': retryAfter }), ...(location && { location }) }
    return { kind: 'answered', status, headers: said, text: excerptOf(body, coding), file: null }
  }
  const whole = { kind: 'answered', status, headers: Object.fromEntries(headers) } as const
  if (as === 'text') return { ...whole, text: isWhole && isPlain(coding) ? utf8(body) : null, file: null }
  if (!isWhole) return { kind: 'no_answer', error: ANSWER_FAULTS.large }
  return { ...whole, text: null, file: status === 200 ? ownBytes(body) : null }
}

/** The bytes as the only content of their buffer, so that it can be transferred to another thread. */
function ownBytes({ buffer, byteOffset, byteLength }: Buffer): Uint8Array<ArrayBuffer> {
  const isAlone = byteLength === buffer.byteLength && buffer instanceof ArrayBuffer
  return isAlone ? new Uint8Array(buffer) : new Uint8Array(new Uint8Array(buffer, byteOffset, byteLength))
}

/** A date has 29. */
const RETRY_AFTER_CHARACTERS = 64

function utf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

type Result = Exclude<Outcome, { kind: 'not_connected' }> | { kind: 'blocked'; reason: string }

async function sendTo(
  target: PostTarget,
  { resolver, mayConnect }: Pick<ExchangeOptions, 'resolver' | 'mayConnect'>,
  tryAddress: (ip: string) => ReturnType<Sender['send']>,
  signal: AbortSignal,
): Promise<Result> {
  let blocked: string | null = null
  let error: string | null = null
  let dnsTrouble: string | null = null
  let tried = 0
  for (const find of lookups(target, resolver)) {
    const found = await orAborted(find(), signal)
    if (found === 'aborted') return { kind: 'no_answer', error: error ?? 'timeout' }
    if (found.kind === 'temporary') dnsTrouble ??= 'DNS lookup failed'
    for (const ip of found.kind === 'records' ? found.records : []) {
      if (!mayConnect(ip)) {
        blocked ??= ip
        continue
      }
      if (tried++ === CONNECT_LIMITS.addresses) break
      const outcome = await tryAddress(ip)
      if (outcome.kind !== 'not_connected') return outcome
      error = outcome.error
      if (signal.aborted) return { kind: 'no_answer', error }
    }
  }
  if (error === null && blocked !== null) return { kind: 'blocked', reason: blockedReason(target.host, blocked) }
  return { kind: 'no_answer', error: error ?? dnsTrouble ?? 'host not found' }
}

const blockedReason = (host: string, ip: string) =>
  host === ip ? `${ip} is not a public address` : `${host} resolves to ${ip}, which is not a public address`

function lookups(target: PostTarget, resolver: Pick<Resolver, 'a' | 'aaaa'>): (() => Promise<Lookup<string>>)[] {
  const { host, addresses } = target
  if (addresses === null) return [() => resolver.a(host), () => resolver.aaaa(host)]
  return [async () => ({ kind: 'records', records: addresses, ttlSeconds: 0, authentic: false })]
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | 'aborted'> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return resolve('aborted')
    const onAbort = () => resolve('aborted')
    signal.addEventListener('abort', onAbort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

/** One request, and the name that the certificate must contain. */
interface SendRequest extends WireRequest {
  target: Pick<PostTarget, 'host' | 'port'>
}

/** `not_connected`: no byte of the request was sent, so another address may be tried. */
type Outcome =
  | { kind: 'answered'; answer: Answer }
  | { kind: 'no_answer'; error: string }
  | { kind: 'not_connected'; error: string }

interface Sender {
  /** Never rejects. */
  send(ip: string, request: SendRequest, connectMs: number): Promise<Outcome>
  /** Closes idle connections now, and busy ones after their request. */
  close(): void
}

/** Trust (null for plaintext) → Sender. With `keepsAlive`, a connection is kept for the next request to the same
 *  host and address. If the peer closes a kept connection before sending a byte of the response, the request is
 *  repeated once on a new one: RFC 9110 §9.2.2 permits that, and receivers must handle repeated POSTs anyway. */
function createSender(trust: tls.SecureContext | null, keepsAlive: boolean): Sender {
  const idle = createIdleConnections()

  const over = async (connection: Connection, key: string, request: SendRequest): Promise<Exchanged> => {
    const exchanged = await connection.exchange(request)
    if (connection.isUsable()) {
      if (keepsAlive) idle.keep(key, connection)
      else connection.close()
    }
    return exchanged
  }

  return {
    send: async (ip, request, connectMs) => {
      const { target, signal } = request
      const key = `${target.host} ${ip} ${target.port}`
      const kept = idle.take(key)
      if (kept !== null) {
        const exchanged = await over(kept, key, request)
        if (exchanged.kind !== 'closed_unused') return exchanged
      }
      const opened = await openConnection({ ip, port: target.port, host: target.host, trust }, connectMs, signal)
      if (opened.kind !== 'open') return opened
      const exchanged = await over(opened.connection, key, request)
      return exchanged.kind === 'closed_unused' ? { kind: 'no_answer', error: 'connection closed' } : exchanged
    },
    close: idle.close,
  }
}
