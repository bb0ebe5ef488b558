import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Certificate } from '../../platform/certificate.ts'
import type { Clock } from '../../platform/clock.ts'
import { TOLERANCE_SECONDS, verifySignature } from '../../webhooks/sign.ts'

/** A webhook call as it arrived, its signatures checked as a customer would. */
export interface ArrivedCall {
  /** ms UTC. */
  at: number
  eventId: string
  type: string
  data: Record<string, unknown>
  attempt: string
  /** `X-Service-Signature`, the service's own. */
  serviceSignature: string
  /** `webhook-signature`, Standard Webhooks. */
  standardSignature: string
}

export interface WebhookReceiver {
  url: string
  /** The signing secret, known once the webhook is made. */
  trust(secret: string): void
  stop(): Promise<void>
}

/** The endpoint of the try-out: HTTPS on loopback, answers every call with 204 and hands it to `onCall`. */
export function startWebhookReceiver(options: {
  certificate: Certificate
  clock: Clock
  onCall: (call: ArrivedCall) => void
}): WebhookReceiver {
  const { certificate, clock, onCall } = options
  let secret = ''
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: { key: certificate.keyPem, cert: certificate.certificatePem },
    fetch: async (request) => {
      const body = await request.text()
      const call = readCall(request.headers, body, secret, clock.now())
      if (call === null) return new Response(null, { status: 400 })
      onCall(call)
      return new Response(null, { status: 204 })
    },
  })
  return {
    url: `https://127.0.0.1:${server.port}/webhook`,
    trust: (given) => {
      secret = given
    },
    stop: () => server.stop(true),
  }
}

/** Headers and body → the call; null for what is no event. */
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
  }
}

/** Written out once more, apart from the signer: this is what a customer's library does (Standard Webhooks,
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
