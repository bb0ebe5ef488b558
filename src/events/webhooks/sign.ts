import { createHmac, timingSafeEqual } from 'node:crypto'
import type { WebhookSecrets } from '../../model/webhook.ts'
import type { Random } from '../../os/random.ts'

/** Result of verifying the signature of a received request. */
export type SignatureVerdict = 'valid' | 'malformed' | 'stale' | 'mismatch'

/** Maximum difference between `t` and the receiver's clock, in seconds. */
export const TOLERANCE_SECONDS = 300

/** A new signing secret for a webhook or an inbound route: `whsec_` + base64 of 32 random bytes. */
export function mintSigningSecret(random: Random): string {
  return `${SECRET_PREFIX}${Buffer.from(random.bytes(32)).toString('base64')}`
}

/** One attempt of an enveloped event → its headers. `body` is posted as exactly these bytes; `now` (ms UTC) is the
 *  time of the attempt, not of the event. Supports two verifiers: `X-Service-Signature`, keyed with the whole secret
 *  string, and Standard Webhooks, keyed with the bytes that its base64 part encodes. During the grace period of an
 *  old secret both headers contain two signatures, the current secret's first. Source: the Standard Webhooks
 *  specification "Signature scheme". */
export function signEnveloped(request: {
  secrets: WebhookSecrets
  eventId: string
  body: string | Uint8Array
  attempt: number
  now: number
}): Record<string, string> {
  const { eventId, body, attempt } = request
  const t = unixSeconds(request.now)
  const secrets = secretsInForce(request.secrets, request.now)
  const standard = secrets.map((secret) => `v1,${hmac(standardKey(secret), `${eventId}.${t}.`, body, 'base64')}`)
  return {
    'content-type': 'application/json',
    'X-Service-Signature': signatureHeader(t, secrets, body),
    'X-Service-Delivery-Attempt': String(attempt),
    'webhook-id': eventId,
    'webhook-timestamp': String(t),
    'webhook-signature': standard.join(' '),
  }
}

/** The same for an event in Resend's format: its headers are those of Standard Webhooks with the names of Svix. */
export function signResend(request: Parameters<typeof signEnveloped>[0]): Record<string, string> {
  const headers = signEnveloped(request)
  const svix = ['id', 'timestamp', 'signature'].map((name) => [`svix-${name}`, headers[`webhook-${name}`]!])
  return { ...headers, ...Object.fromEntries(svix) }
}

/** One attempt of an inbound delivery → its headers. The signature also appears under the header names for inbound
 *  mail and those of Standard Webhooks, so that each verifier supports both. `secret` is the route's. Every attempt of the
 *  delivery has its id, by which the endpoint recognizes a repetition. A large body takes several turns of the event
 *  loop; do not change it meanwhile. Never rejects. */
export async function signInbound(request: {
  secret: string
  deliveryId: string
  messageId: string
  routeId: string
  body: Uint8Array
  attempt: number
  now: number
}): Promise<Record<string, string>> {
  const { secret, deliveryId, body } = request
  const t = unixSeconds(request.now)
  const signature = await hmacInTurns(secret, `${t}.`, body, 'hex')
  const standard = await hmacInTurns(standardKey(secret), `${deliveryId}.${t}.`, body, 'base64')
  return {
    'content-type': 'application/json',
    'X-Inbound-Signature': `t=${t},v1=${signature}`,
    'X-Inbound-Timestamp': String(t),
    'X-Inbound-Delivery-Attempt': String(request.attempt),
    'X-Inbound-Message-Id': request.messageId,
    'X-Inbound-Route-Id': request.routeId,
    'webhook-id': deliveryId,
    'webhook-timestamp': String(t),
    'webhook-signature': `v1,${standard}`,
  }
}

/** The `X-Service-Signature` or `X-Inbound-Signature` of a received request → whether `secret` signed exactly these
 *  bytes. A header without one `t` and at least one `v1`, or with other than 64 lower-case hex digits, is malformed;
 *  other fields are ignored, for later versions. A correct signature more than `toleranceSeconds` before or after
 *  `now` (ms UTC) is stale. Every `v1` is compared, in constant time. Never throws. */
export function verifySignature(
  header: string,
  body: string | Uint8Array,
  secret: string,
  now: number,
  toleranceSeconds = TOLERANCE_SECONDS,
): SignatureVerdict {
  const parsed = parseSignatureHeader(header)
  if (parsed === null) return 'malformed'
  const expected = Buffer.from(hmac(secret, `${parsed.t}.`, body, 'hex'))
  const matches = parsed.signatures.filter((signature) => timingSafeEqual(Buffer.from(signature), expected))
  if (matches.length === 0) return 'mismatch'
  return Math.abs(unixSeconds(now) - Number(parsed.t)) > toleranceSeconds ? 'stale' : 'valid'
}

function secretsInForce({ secret, previous }: WebhookSecrets, now: number): string[] {
  return previous !== null && previous.expiresAt > now ? [secret, previous.secret] : [secret]
}

function signatureHeader(t: number, secrets: string[], body: string | Uint8Array): string {
  return [`t=${t}`, ...secrets.map((secret) => `v1=${hmac(secret, `${t}.`, body, 'hex')}`)].join(',')
}

/** `whsec_` + base64 → the bytes; a secret without the prefix is decoded as base64 entirely. */
function standardKey(secret: string): Uint8Array {
  return Buffer.from(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret, 'base64')
}

/** `t` keeps its original text, because that text was signed. */
function parseSignatureHeader(header: string): { t: string; signatures: string[] } | null {
  const fields = header.split(',').map((field) => field.trim())
  const times = fields.filter((field) => field.startsWith('t=')).map((field) => field.slice(2))
  const signatures = fields.filter((field) => field.startsWith('v1=')).map((field) => field.slice(3))
  if (times.length !== 1 || !TIME.test(times[0]!)) return null
  if (signatures.length === 0 || !signatures.every((signature) => SIGNATURE.test(signature))) return null
  return { t: times[0]!, signatures }
}

function hmac(key: string | Uint8Array, start: string, body: string | Uint8Array, form: 'hex' | 'base64'): string {
  return createHmac('sha256', key).update(start).update(body).digest(form)
}

/** The digest of a large body takes the thread up to 0.1 s, so it is computed slice by slice, in one turn each. */
async function hmacInTurns(
  key: string | Uint8Array,
  start: string,
  body: Uint8Array,
  form: 'hex' | 'base64',
): Promise<string> {
  const digest = createHmac('sha256', key).update(start)
  for (let at = 0; at < body.byteLength; at += SLICE_BYTES) {
    if (at > 0) await new Promise(setImmediate)
    digest.update(body.subarray(at, at + SLICE_BYTES))
  }
  return digest.digest(form)
}

const unixSeconds = (ms: number) => Math.floor(ms / 1000)

/** Takes 1 to 4 ms. */
const SLICE_BYTES = 2 ** 20
const SECRET_PREFIX = 'whsec_'
/** Thirteen digits would be milliseconds; twelve digits of seconds last until the year 33658. */
const TIME = /^\d{1,12}$/
const SIGNATURE = /^[0-9a-f]{64}$/
