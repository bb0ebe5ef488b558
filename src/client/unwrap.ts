import type { Event, InboundReceived } from './types.ts'

/** Payload of a verified request to your endpoint: a webhook event, or an inbound message from a route. `type`
 *  distinguishes them. The payload of a route has no `type`; `unwrap` adds `inbound`. */
export type WebhookEvent = Event | ({ type: 'inbound' } & InboundReceived)

/** Request headers of any framework: a `Headers` object, or an object with header names in any case. */
export type HeadersLike =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>

/** Options of `unwrap`. */
export interface UnwrapOptions {
  /** Maximum difference between the time of the signature and now, in seconds. Default: 300. */
  toleranceSeconds?: number
  /** Returns the current time in ms UTC. Default: `Date.now`. */
  now?: () => number
}

/** Why `unwrap` rejected a request. */
export type VerificationFault =
  | 'missing_header'
  | 'malformed_header'
  | 'wrong_signature'
  | 'stale'
  | 'bad_secret'
  | 'bad_body'

/** The request could not be verified. Respond with 401 and ignore it. */
export class WebhookVerificationError extends Error {
  readonly fault: VerificationFault

  constructor(fault: VerificationFault, message: string) {
    super(message)
    this.name = 'WebhookVerificationError'
    this.fault = fault
  }
}

/** Verifies the signature of a request to your endpoint and resolves with its event. `body` is the raw body, before any
 *  parsing; `secret` is the signing secret of the webhook or inbound route.
 *
 *  Uses the header `X-Service-Signature`, else `X-Inbound-Signature`, else those of Standard Webhooks ("Signature
 *  scheme" in its specification). The signatures are HMAC-SHA256 and compared in constant time. If there are several
 *  `v1` signatures, one valid signature is enough.
 *
 *  Rejects with a `WebhookVerificationError` if the request is not genuine or too old. A genuine event can arrive
 *  twice, with the same `id`. */
export async function unwrap(
  body: string | Uint8Array | ArrayBuffer,
  headers: HeadersLike,
  secret: string,
  { toleranceSeconds = 300, now = Date.now }: UnwrapOptions = {},
): Promise<WebhookEvent> {
  const bytes = bytesOf(body)
  if (typeof secret !== 'string' || secret === '')
    throw fault('bad_secret', 'secret is required to verify the signature')
  const signed = signatureIn(headers, secret)
  const key = await hmacKey(signed.key)
  const message = joined(encoder.encode(signed.prefix), bytes)
  const matches = await Promise.all(
    signed.signatures.map((signature) => crypto.subtle.verify('HMAC', key, signature, message)),
  )
  if (!matches.includes(true)) {
    throw fault(
      'wrong_signature',
      `${signed.header} does not match the body and secret. Check that the secret is correct and the body is unmodified.`,
    )
  }
  const awaySeconds = Math.abs(Math.floor(now() / 1_000) - signed.t)
  if (awaySeconds > toleranceSeconds) {
    throw fault(
      'stale',
      `The signature is ${awaySeconds} s away from the local clock; at most ${toleranceSeconds} s are allowed.`,
    )
  }
  return eventOf(bytes, signed.isInbound)
}

interface Signed {
  header: string
  t: number
  /** Text before the body in the signed text. */
  prefix: string
  key: Bytes
  signatures: Bytes[]
  /** The header is one of a route; null for Standard Webhooks, which both have. */
  isInbound: boolean | null
}

type Bytes = Uint8Array<ArrayBuffer>

function signatureIn(headers: HeadersLike, secret: string): Signed {
  for (const header of ['X-Service-Signature', 'X-Inbound-Signature']) {
    const value = headerOf(headers, header)
    if (value === null) continue
    return {
      header,
      isInbound: header === 'X-Inbound-Signature',
      key: encoder.encode(secret),
      ...fieldsOf(header, value),
    }
  }
  return standardSignature(headers, secret)
}

/** Header value `t=<seconds>,v1=<hex>[,v1=<hex>]` → time, prefix of the signed text and signatures. Ignores other
 *  fields, which are reserved for later versions. The prefix contains `t` exactly as received. Throws
 *  `malformed_header`. */
function fieldsOf(header: string, value: string): Pick<Signed, 't' | 'prefix' | 'signatures'> {
  const fields = value.split(',').map((field) => field.trim())
  const times = fields.filter((field) => field.startsWith('t=')).map((field) => field.slice(2))
  const signatures = fields.filter((field) => field.startsWith('v1=')).map((field) => field.slice(3))
  const isWhole = times.length === 1 && TIME.test(times[0]!) && signatures.length > 0
  if (!isWhole || !signatures.every((signature) => /^[0-9a-f]{64}$/.test(signature))) {
    throw fault('malformed_header', `${header} must have the form t=<unix seconds>,v1=<64 hexadecimal digits>`)
  }
  return { t: Number(times[0]), prefix: `${times[0]}.`, signatures: signatures.map(bytesOfHex) }
}

/** Headers and secret of Standard Webhooks → signature: `webhook-signature: v1,<base64> v1,<base64>`. The HMAC key is
 *  the decoded base64 of the secret. Throws `missing_header`, `malformed_header` or `bad_secret`. */
function standardSignature(headers: HeadersLike, secret: string): Signed {
  const [id, time, value] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(headers, name),
  )
  if (value === null || value === undefined) {
    throw fault(
      'missing_header',
      'Missing signature header: X-Service-Signature, X-Inbound-Signature or webhook-signature.',
    )
  }
  if (!id || !time) throw fault('missing_header', `webhook-signature requires webhook-${id ? 'timestamp' : 'id'}`)
  const signatures = value.split(/,?\s+/).filter((each) => each.startsWith('v1,'))
  const decoded = signatures.map((each) => bytesOfBase64(each.slice(3)))
  if (!TIME.test(time) || decoded.length === 0 || decoded.some((each) => each?.length !== 32)) {
    throw fault('malformed_header', 'webhook-signature or webhook-timestamp does not follow Standard Webhooks.')
  }
  const key = bytesOfBase64(secret.replace(/^whsec_/, ''))
  if (key === null || key.length === 0) throw fault('bad_secret', 'secret must be whsec_ followed by base64')
  return {
    header: 'webhook-signature',
    t: Number(time),
    prefix: `${id}.${time}.`,
    key,
    signatures: decoded as Bytes[],
    isInbound: null,
  }
}

function eventOf(bytes: Bytes, isInbound: boolean | null): WebhookEvent {
  const event = parsed(bytes)
  if (isInbound ?? event?.event === 'inbound') {
    if (event?.event !== 'inbound') throw fault('bad_body', 'The body is not an inbound message.')
    return { ...event, type: 'inbound' } as unknown as WebhookEvent
  }
  const isEvent = typeof event?.id === 'string' && typeof event.type === 'string' && typeof event.data === 'object'
  if (!isEvent) throw fault('bad_body', 'The body is not an event.')
  return event as unknown as WebhookEvent
}

function parsed(bytes: Bytes): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return typeof value === 'object' ? (value as Record<string, unknown> | null) : null
  } catch {
    return null
  }
}

function headerOf(headers: HeadersLike, name: string): string | null {
  if (typeof headers?.get === 'function') return headers.get(name)
  const found = Object.entries(headers ?? {}).find(([each]) => each.toLowerCase() === name.toLowerCase())?.[1]
  return typeof found === 'string' ? found : Array.isArray(found) ? found.join(', ') : null
}

function bytesOf(body: unknown): Bytes {
  if (typeof body === 'string') return encoder.encode(body)
  if (body instanceof ArrayBuffer) return new Uint8Array(body)
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer as ArrayBuffer, body.byteOffset, body.byteLength)
  throw fault('bad_body', 'The body must be the raw text or bytes of the request. A parsed body cannot be verified.')
}

function bytesOfHex(hex: string): Bytes {
  return Uint8Array.from({ length: hex.length / 2 }, (_, index) =>
    Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16),
  )
}

function bytesOfBase64(text: string): Bytes | null {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
  } catch {
    return null
  }
}

function joined(first: Bytes, second: Bytes): Bytes {
  const whole = new Uint8Array(first.length + second.length)
  whole.set(first)
  whole.set(second, first.length)
  return whole
}

const hmacKey = (key: Bytes) =>
  crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
const fault = (what: VerificationFault, message: string) => new WebhookVerificationError(what, message)
const encoder = new TextEncoder()
/** Unix time in seconds. With thirteen digits it would be in milliseconds. */
const TIME = /^\d{1,12}$/
