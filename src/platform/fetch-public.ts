import { X509Certificate } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import https from 'node:https'
import tls from 'node:tls'
import type { Clock } from './clock.ts'
import { createSend, type Outcome, type Send, type SendRequest } from './https-send.ts'
import { EXCERPT_BYTES, excerptOf, retryAfterSeconds } from './post-answer.ts'
import type { Lookup, Resolver } from './resolver.ts'
import { type PostTarget, parsePostTarget } from './webhook-url.ts'

export { checkWebhookUrl } from './webhook-url.ts'

/** What became of one POST. `answered` is any status, redirects too: none is followed. `excerpt` is the text of
 *  at most the first 4 KiB. `blocked` never opened a connection. `error` is one of a few short phrases. */
export type PostResult =
  | { kind: 'answered'; status: number; retryAfterSeconds: number | null; excerpt: string; durationMs: number }
  | { kind: 'blocked'; reason: string; durationMs: number }
  | { kind: 'no_answer'; error: string; durationMs: number }

export type Post = (
  url: string,
  request: { headers: Record<string, string>; body: Uint8Array | string; timeoutMs: number },
) => Promise<PostResult>

/** What a GET gave. `text` is the whole body as UTF-8, null where it was longer than asked for or is none. */
export type GetResult =
  | { kind: 'answered'; status: number; contentType: string | null; text: string | null }
  | { kind: 'blocked'; reason: string }
  | { kind: 'no_answer'; error: string }

export type Get = (url: string, request: { maxBytes: number; timeoutMs: number }) => Promise<GetResult>

/** A request of either kind, and its answer with all headers (names in lower case); the rest as with GetResult. */
export type Ask = (
  url: string,
  request: { headers: Record<string, string>; body: string | null; maxBytes: number; timeoutMs: number },
) => Promise<AskResult>

export type AskResult =
  | { kind: 'answered'; status: number; headers: IncomingHttpHeaders; text: string | null }
  | Exclude<GetResult, { kind: 'answered' }>

export interface PostOptions {
  resolver: Resolver
  /** Asked for every address before a connection to it is opened. */
  mayConnect: (ip: string) => boolean
  /** PEM roots trusted beside the built-in ones. */
  ca?: string
  clock: Clock
  userAgent: string
}

/** The door for what we say by HTTPS: a POST to addresses that were looked up, checked and then connected
 *  to as they are, so that no name can point elsewhere in between; the certificate must fit the name. Connections
 *  are kept for the next POST to the same place. Where no connection can be made the next address is tried, IPv4
 *  before IPv6. `timeoutMs` covers everything up to the end of the answer, on the machine's own timer even under
 *  a test clock. Content-Length, Host and Accept-Encoding are ours, User-Agent unless given. Rejects only on
 *  headers that HTTP cannot carry; createPost throws on a `ca` that is no certificate.
 *  On node:https and not on fetch: fetch runs 256 requests per process and lets the others wait (measured, Bun
 *  1.4.5), so that thirty slow webhooks would stop all others; it also obeys HTTP_PROXY. */
export function createPost(options: PostOptions): Post {
  const { clock } = options
  const request = createRequest(
    options,
    new https.Agent({ keepAlive: true, maxFreeSockets: MAX_IDLE, timeout: IDLE_MS }),
  )
  return async (url, { headers, body, timeoutMs }) => {
    const startedAt = clock.now()
    const outcome = await request(url, { method: 'POST', headers, body, keepBytes: EXCERPT_BYTES }, timeoutMs)
    if ('refused' in outcome) return { kind: 'blocked', reason: outcome.refused, durationMs: 0 }
    const durationMs = clock.now() - startedAt
    if (outcome.kind !== 'answered') return { ...outcome, durationMs }
    return {
      kind: 'answered',
      status: outcome.status,
      retryAfterSeconds: retryAfterSeconds(outcome.headers['retry-after'], startedAt),
      excerpt: excerptOf(outcome.body, outcome.headers['content-encoding']),
      durationMs,
    }
  }
}

/** The door for what we read by HTTPS: a GET under the same guard as a POST, no redirect followed, no connection kept.
 *  Never rejects; throws on a `ca` that is no certificate. */
export function createGet(options: Omit<PostOptions, 'clock'>): Get {
  const ask = createAsk(options)
  return async (url, limits) => {
    const answer = await ask(url, { headers: {}, body: null, ...limits })
    if (answer.kind !== 'answered') return answer
    const { status, headers, text } = answer
    return { kind: 'answered', status, contentType: headers['content-type'] ?? null, text }
  }
}

/** The same for requests that have headers, or a body (then a POST). */
export function createAsk(options: Omit<PostOptions, 'clock'>): Ask {
  const request = createRequest(options, false)
  return async (url, { headers, body, maxBytes, timeoutMs }) => {
    const method = body === null ? 'GET' : 'POST'
    const outcome = await request(url, { method, headers, body, keepBytes: maxBytes }, timeoutMs)
    if ('refused' in outcome) return { kind: 'blocked', reason: outcome.refused }
    if (outcome.kind !== 'answered') return outcome
    const isPlain = (outcome.headers['content-encoding'] ?? 'identity').toLowerCase() === 'identity'
    const text = outcome.isWhole && isPlain ? utf8(outcome.body) : null
    return { kind: 'answered', status: outcome.status, headers: outcome.headers, text }
  }
}

type Asked = Pick<SendRequest, 'method' | 'headers' | 'body' | 'keepBytes'>

/** Guard and connections → the function that does one request wherever its name leads. */
function createRequest(options: Omit<PostOptions, 'clock'>, agent: https.Agent | false) {
  const { resolver, mayConnect, userAgent } = options
  const secureContext = tls.createSecureContext(options.ca ? { ca: withBuiltInRoots(options.ca) } : {})
  const send = createSend(agent, secureContext)
  return async (url: string, asked: Asked, timeoutMs: number): Promise<Result | { refused: string }> => {
    const target = parsePostTarget(url)
    if ('refused' in target) return target
    const timeout = new AbortController()
    const timer = setTimeout(() => timeout.abort(), timeoutMs)
    const request = { ...asked, target, headers: withOwn(asked.headers, target, userAgent), signal: timeout.signal }
    const tryAddress = (ip: string) => send(ip, request, Math.min(MAX_CONNECT_MS, timeoutMs / 2))
    try {
      return await sendTo(target, resolver, mayConnect, tryAddress, timeout.signal)
    } finally {
      clearTimeout(timer)
    }
  }
}

function utf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

/** Kept connections without work, over all webhooks. */
const MAX_IDLE = 256
/** A kept connection is closed before the firewalls between us forget it. Requests under way are not cut. */
const IDLE_MS = 30_000
/** One dead address must leave time for the next; the third SYN has gone out by then. */
const MAX_CONNECT_MS = 10_000
/** A name with more addresses is no webhook but an attempt to keep us busy. */
const MAX_ADDRESSES = 8

type Result = Exclude<Outcome, { kind: 'not_connected' }> | { kind: 'blocked'; reason: string }

function withBuiltInRoots(ca: string): string[] {
  new X509Certificate(ca) // throws here, not at the first POST
  return [...tls.rootCertificates, ca]
}

function withOwn(headers: Record<string, string>, target: PostTarget, userAgent: string): Record<string, string> {
  return { 'User-Agent': userAgent, Accept: '*/*', ...headers, Host: target.hostHeader, 'Accept-Encoding': 'identity' }
}

async function sendTo(
  target: PostTarget,
  resolver: Resolver,
  mayConnect: (ip: string) => boolean,
  tryAddress: (ip: string) => ReturnType<Send>,
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
      if (tried++ === MAX_ADDRESSES) break
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

function lookups(target: PostTarget, resolver: Resolver): (() => Promise<Lookup<string>>)[] {
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
