import { createHmac, timingSafeEqual } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { TOLERANCE_SECONDS, verifySignature } from '../../events/webhooks/sign.ts'
import type { Certificate } from '../../net/tls/certificate.ts'
import type { Clock } from '../../os/clock.ts'

/** A received webhook request, with the result of verifying its signatures as a customer would. `at` is ms UTC. */
export interface ArrivedCall {
  at: number
  eventId: string
  type: string
  data: Record<string, unknown>
  attempt: string
  /** Result for `X-Service-Signature`. */
  serviceSignature: string
  /** Result for `webhook-signature` (Standard Webhooks). */
  standardSignature: string
  /** Status of the server it was forwarded to, 502 without a response; null if it was not forwarded. */
  forwarded: number | null
}

/** A received request with an inbound message, with the result of verifying its signature. `at` is ms UTC. */
export interface ArrivedInbound {
  at: number
  from: string
  to: string[]
  subject: string
  /** Results of SPF, DKIM and DMARC. */
  verdicts: { spf: string; dkim: string; dmarc: string }
  attempt: string
  signature: string
  forwarded: number | null
}

export interface WebhookReceiver {
  /** URL for events. */
  url: string
  /** URL for inbound mail. */
  inboundUrl: string
  /** Sets the secrets to verify with. The webhook and the route, which have them, need the URLs of a
   *  started receiver. */
  setSecrets(secrets: { webhook: string; route: string }): void
  stop(): Promise<void>
}

/** Starts the webhook endpoint of the try-out: HTTPS on a free port of 127.0.0.1. It passes each request to `onCall` or
 *  `onInbound` and answers 204, or 400 if the body is not JSON. With `forwardTo` it forwards headers and body unchanged
 *  and answers with that server's status, or 502 without a response. */
export function startWebhookReceiver(options: {
  certificate: Certificate
  clock: Clock
  forwardTo?: URL | undefined
  onCall: (call: ArrivedCall) => void
  onInbound: (mail: ArrivedInbound) => void
}): WebhookReceiver {
  const { certificate, clock, forwardTo, onCall, onInbound } = options
  let secrets = { webhook: '', route: '' }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: { key: certificate.keyPem, cert: certificate.certificatePem },
    fetch: async (request) => {
      const body = await request.text()
      const now = clock.now()
      const isInbound = new URL(request.url).pathname === INBOUND_PATH
      const inbound = isInbound ? readInbound(request.headers, body, secrets.route, now) : null
      const call = isInbound ? null : readCall(request.headers, body, secrets.webhook, now)
      if (inbound === null && call === null) return new Response(null, { status: 400 })
      const status = forwardTo === undefined ? 204 : await forward(forwardTo, request.headers, body)
      const forwarded = forwardTo === undefined ? null : status
      if (inbound !== null) onInbound({ ...inbound, forwarded })
      if (call !== null) onCall({ ...call, forwarded })
      return new Response(null, { status })
    },
  })
  return {
    url: `https://127.0.0.1:${server.port}/webhook`,
    inboundUrl: `https://127.0.0.1:${server.port}${INBOUND_PATH}`,
    setSecrets: (given) => {
      secrets = given
    },
    stop: () => server.stop(true),
  }
}

/** Parses and verifies a webhook request; null if the body is not JSON. `now` is ms UTC. */
export function readCall(headers: Headers, body: string, secret: string, now: number): ArrivedCall | null {
  let event: { id: string; type: string; data: Record<string, unknown> }
  try {
    event = JSON.parse(body)
  } catch {
    return null
  }
  return {
    at: now,
    eventId: event.id,
    type: event.type,
    data: event.data,
    attempt: headers.get('x-service-delivery-attempt') ?? '',
    serviceSignature: verifySignature(headers.get('x-service-signature') ?? '', body, secret, now),
    standardSignature: verifyStandard(headers, body, secret, now),
    forwarded: null,
  }
}

/** The same for a request with an inbound message. */
function readInbound(headers: Headers, body: string, secret: string, now: number): ArrivedInbound | null {
  let mail: { from: string; to: string[]; subject: string; [result: `${string}_result`]: string }
  try {
    mail = JSON.parse(body)
  } catch {
    return null
  }
  const { from, to, subject, spf_result: spf = '', dkim_result: dkim = '', dmarc_result: dmarc = '' } = mail
  return {
    at: now,
    from,
    to,
    subject,
    verdicts: { spf, dkim, dmarc },
    attempt: headers.get('x-inbound-delivery-attempt') ?? '',
    signature: verifySignature(headers.get('x-inbound-signature') ?? '', body, secret, now),
    forwarded: null,
  }
}

const INBOUND_PATH = '/inbound'

/** Forwards a request and returns the status. Uses node:http, which ignores proxy environment variables. */
function forward(to: URL, headers: Headers, body: string): Promise<number> {
  const kept = [...headers].filter(([name]) => !OF_THIS_CONNECTION.has(name))
  return new Promise((resolve) => {
    const asked = httpRequest(to, { method: 'POST', headers: Object.fromEntries(kept), agent: false }, (answer) => {
      answer.resume()
      answer.on('close', () => resolve(answer.statusCode ?? 502))
    })
    asked.on('error', () => resolve(502))
    asked.end(body)
  })
}

const OF_THIS_CONNECTION = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'accept-encoding'])

/** An implementation independent of the signer, as in a customer's library (Standard Webhooks,
 *  "Verifying webhooks"). */
function verifyStandard(headers: Headers, body: string, secret: string, now: number): string {
  const id = headers.get('webhook-id') ?? ''
  const timestamp = headers.get('webhook-timestamp') ?? ''
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest()
  const given = (headers.get('webhook-signature') ?? '').split(' ').filter((each) => each.startsWith('v1,'))
  if (given.length === 0) return 'malformed'
  const isEqual = (bytes: Buffer) => bytes.length === expected.length && timingSafeEqual(bytes, expected)
  if (!given.some((each) => isEqual(Buffer.from(each.slice(3), 'base64')))) return 'mismatch'
  return Math.abs(now / 1000 - Number(timestamp)) > TOLERANCE_SECONDS ? 'stale' : 'valid'
}
