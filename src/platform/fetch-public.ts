import { X509Certificate } from 'node:crypto'
import https from 'node:https'
import tls from 'node:tls'
import type { Clock } from './clock.ts'
import { createSend, type Outcome, type Send } from './https-send.ts'
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

export interface PostOptions {
  resolver: Resolver
  /** Asked for every address before a connection to it is opened. */
  mayConnect: (ip: string) => boolean
  /** PEM roots trusted beside the built-in ones. */
  ca?: string
  clock: Clock
  userAgent: string
}

/** The only door for HTTPS requests of ours: a POST to addresses that were looked up, checked and then connected
 *  to as they are, so that no name can point elsewhere in between; the certificate must fit the name. Connections
 *  are kept for the next POST to the same place. Where no connection can be made the next address is tried, IPv4
 *  before IPv6. `timeoutMs` covers everything up to the end of the answer, on the machine's own timer even under
 *  a test clock. Content-Length, Host and Accept-Encoding are ours, User-Agent unless given. Rejects only on
 *  headers that HTTP cannot carry; createPost throws on a `ca` that is no certificate.
 *  On node:https and not on fetch: fetch runs 256 requests per process and lets the others wait (measured, Bun
 *  1.4.5), so that thirty slow webhooks would stop all others; it also obeys HTTP_PROXY. */
export function createPost(options: PostOptions): Post {
  const { resolver, mayConnect, clock, userAgent } = options
  const secureContext = tls.createSecureContext(options.ca ? { ca: withBuiltInRoots(options.ca) } : {})
  const send = createSend(
    new https.Agent({ keepAlive: true, maxFreeSockets: MAX_IDLE, timeout: IDLE_MS }),
    secureContext,
  )

  return async (url, { headers, body, timeoutMs }) => {
    const startedAt = clock.now()
    const target = parsePostTarget(url)
    if ('refused' in target) return { kind: 'blocked', reason: target.refused, durationMs: 0 }
    const timeout = new AbortController()
    const timer = setTimeout(() => timeout.abort(), timeoutMs)
    const request = {
      target,
      headers: withOwn(headers, target, userAgent),
      body,
      now: startedAt,
      signal: timeout.signal,
    }
    const tryAddress = (ip: string) => send(ip, request, Math.min(MAX_CONNECT_MS, timeoutMs / 2))
    try {
      const outcome = await postTo(target, resolver, mayConnect, tryAddress, timeout.signal)
      return { ...outcome, durationMs: clock.now() - startedAt }
    } finally {
      clearTimeout(timer)
    }
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

async function postTo(
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
