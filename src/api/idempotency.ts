import { createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto'
import { invalid, Refusal } from '../model/refusal.ts'
import type { Clock } from '../platform/clock.ts'
import type { Random } from '../platform/random.ts'
import type { IdempotencyRecords, Remember } from '../storage/store.ts'
import { JSON_TYPE, type Rendered, render } from './answer.ts'
import type { Answer, Call, MakeRemember, Operation } from './operation.ts'

/** A request that carries an Idempotency-Key. */
export interface KeyedRequest {
  operation: Operation
  call: Call
  /** The header as it came. */
  idempotencyKey: string
  /** The body's bytes as they came. */
  body: Uint8Array
}

export interface Idempotency {
  /** Runs `work` once for all requests with the same key, and answers the others with what it gave (contract §3).
   *
   *  The answer is remembered by the store method that makes the change, in its transaction: what is not there after a
   *  crash did not happen. Only 2xx answers are remembered; after anything else the next one that waits has its turn.
   *  The key belongs to the organization. The same request is the same operation, path, mode and body: a live key does
   *  not get the answer of a sandbox key; an answer that shows a secret is repeated only for the same permissions, or
   *  it would hand an admin's key to whoever repeats the request that made it. A replay asks neither for the resource in the path nor for the body's
   *  validity. Throws 400 for a bad key, 409 for another request with it, 409 after waiting 20 s. */
  run(
    request: KeyedRequest,
    work: (remember: MakeRemember) => Promise<Answer>,
  ): Promise<{ rendered: Rendered; replayed: boolean }>
}

/** Store, clock and random → Idempotency. */
export function createIdempotency(options: { records: IdempotencyRecords; clock: Clock; random: Random }): Idempotency {
  const { records, clock, random } = options
  const inFlight = new Map<string, InFlight>()

  return {
    async run(request, work) {
      checkKey(request.idempotencyKey)
      const { organizationId, now } = request.call
      const keyHash = sha256(request.idempotencyKey)
      const requestHash = hashOf(request)
      const slot = `${organizationId} ${keyHash.toString('base64')}`

      const until = clock.now() + WAIT_MS
      // No await between the last look and the turn taken, or two would have it.
      for (let other = inFlight.get(slot); other !== undefined; other = inFlight.get(slot)) {
        if (!other.requestHash.equals(requestHash)) throw reused()
        await waitFor(other, until, request.call.signal)
      }
      const mine = takeTurn(requestHash)
      inFlight.set(slot, mine)
      try {
        const known = await records.find(organizationId, keyHash, now - KEPT_MS)
        if (known !== null) return { rendered: replay(known, requestHash, request), replayed: true }
        return { rendered: await first(request, keyHash, requestHash, work), replayed: false }
      } finally {
        inFlight.delete(slot)
        mine.end()
      }
    },
  }

  /** Until the other request has ended; throws 409 at `until`, or when the client has gone away. */
  async function waitFor(other: InFlight, until: number, signal: AbortSignal): Promise<void> {
    const nap = new AbortController()
    const leave = () => nap.abort()
    signal.addEventListener('abort', leave, { once: true })
    await Promise.race([other.ended, clock.sleep(until - clock.now(), nap.signal)])
    signal.removeEventListener('abort', leave)
    nap.abort()
    if (signal.aborted || clock.now() >= until) throw inProgress()
  }

  async function first(
    request: KeyedRequest,
    keyHash: Buffer,
    requestHash: Buffer,
    work: (remember: MakeRemember) => Promise<Answer>,
  ): Promise<Rendered> {
    let remembered: { answer: Answer; rendered: Rendered } | null = null
    const remember: MakeRemember = (answer) => {
      if (answer.status < 200 || answer.status > 299) return undefined
      const rendered = render(answer)
      remembered = { answer, rendered }
      const { organizationId, now } = request.call
      const plain = Buffer.from(rendered.body)
      const body = request.operation.secretAnswer ? seal(plain, request, random) : plain
      return { organizationId, keyHash, requestHash, status: answer.status, body, createdAt: now }
    }
    const answer = await work(remember)
    const kept = remembered as { answer: Answer; rendered: Rendered } | null
    return kept?.answer === answer ? kept.rendered : render(answer)
  }
}

interface InFlight {
  requestHash: Buffer
  ended: Promise<void>
  end: () => void
}

const KEPT_MS = 24 * 3_600_000 // contract §3
const WAIT_MS = 20_000 // contract §3
const PRINTABLE_ASCII = /^[\x20-\x7e]{1,255}$/
const NONCE_BYTES = 12
const TAG_BYTES = 16

function checkKey(key: string): void {
  if (PRINTABLE_ASCII.test(key)) return
  throw invalid([{ field: 'Idempotency-Key', message: 'Idempotency-Key must be 1 to 255 printable ASCII characters' }])
}

function takeTurn(requestHash: Buffer): InFlight {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { requestHash, ended: promise, end: resolve }
}

/** Operation, resource in the path, mode, body and where it matters permissions → one hash; lengths cannot shift from
 *  one part into the next. */
function hashOf({ operation, call, body }: KeyedRequest): Buffer {
  const { mode, permissions } = call.key
  const parts = [operation.id, mode, Object.entries(call.params).sort()]
  const head = JSON.stringify(operation.secretAnswer ? [...parts, [...permissions].sort()] : parts)
  return createHash('sha256').update(sha256(head)).update(body).digest()
}

function replay(known: Remember, requestHash: Buffer, request: KeyedRequest): Rendered {
  if (!requestHash.equals(known.requestHash)) throw reused()
  const body = request.operation.secretAnswer ? open(known.body, request) : new Uint8Array(known.body)
  return { status: known.status, body, contentType: JSON_TYPE, headers: undefined }
}

/** Answer that shows a secret → nonce, AES-256-GCM text, tag. The key comes from the Idempotency-Key, of which the disk
 *  has only a hash, so the disk alone does not give the secret back (RFC 5869 for the key, NIST SP 800-38D). */
function seal(plain: Uint8Array, request: KeyedRequest, random: Random): Uint8Array {
  const nonce = random.bytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', sealKey(request), nonce)
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

function open(sealed: Uint8Array, request: KeyedRequest): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.from(sealed)
  const decipher = createDecipheriv('aes-256-gcm', sealKey(request), bytes.subarray(0, NONCE_BYTES))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES))
  return new Uint8Array(Buffer.concat([text, decipher.final()]))
}

function sealKey({ idempotencyKey, call }: KeyedRequest): Uint8Array {
  const key = hkdfSync('sha256', idempotencyKey, call.organizationId, 'postrider remembered answer', 32)
  return new Uint8Array(key)
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function reused(): Refusal {
  return new Refusal('conflict', 'this Idempotency-Key was used for another request', {
    field: 'Idempotency-Key',
    details: { reason: 'idempotency_key_reused' },
  })
}

function inProgress(): Refusal {
  return new Refusal('conflict', 'the first request with this Idempotency-Key is still under way, try again', {
    field: 'Idempotency-Key',
    details: { reason: 'request_in_progress' },
  })
}
