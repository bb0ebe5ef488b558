import { createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto'
import { Refusal } from '../model/refusal.ts'
import type { Random } from '../os/random.ts'
import type { Remember } from '../storage/store.ts'
import type { IdempotencyKeys, RecordHead } from '../submission/idempotency.ts'
import type { ApiResponse, Call, MakeRemember, Operation } from './operation.ts'
import { JSON_TYPE, type Rendered, render } from './rendered-response.ts'

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
   *  The key belongs to the organization, apart for live and test. The same request is the same operation, path and body;
   *  an answer that shows a secret is repeated only for the same rights (permissions, domain, end, networks), or it would
   *  hand an admin's key to whoever repeats the request that made it. A replay asks not for the body's validity, and of
   *  the resource in the path only whether it is out of the key's reach. Throws 400 for a bad key, 409 for another request with it, 409 after waiting
   *  20 s. */
  run(
    request: KeyedRequest,
    work: (remember: MakeRemember) => Promise<ApiResponse>,
  ): Promise<{ rendered: Rendered; replayed: boolean }>
}

/** What runs things once, and random → Idempotency. */
export function createIdempotency({ once, random }: { once: IdempotencyKeys; random: Random }): Idempotency {
  return {
    async run(request, work) {
      const { call, idempotencyKey } = request
      const { organizationId, now } = call
      const { answer, replayed } = await once.run(
        {
          ...{ organizationId, idempotencyKey, header: 'Idempotency-Key', requestHash: hashOf(request), now },
          mode: call.key.mode,
          get signal() {
            return call.signal // made only when it is asked for
          },
        },
        (known) => replay(known, request),
        (head, parts) => {
          call.parts = parts
          return first(request, head, work)
        },
      )
      if (replayed) await requireReach(request)
      return { rendered: answer, replayed }
    },
  }

  async function first(
    request: KeyedRequest,
    head: RecordHead,
    work: (remember: MakeRemember) => Promise<ApiResponse>,
  ): Promise<Rendered> {
    let remembered: { answer: ApiResponse; rendered: Rendered } | null = null
    const remember: MakeRemember = (answer) => {
      if (answer.status < 200 || answer.status > 299) return undefined
      const rendered = render(answer)
      remembered = { answer, rendered }
      const plain = Buffer.from(rendered.body)
      const body = request.operation.secretResponse ? seal(plain, request, random) : plain
      return { ...head, status: answer.status, body }
    }
    const answer = await work(remember)
    const kept = remembered as { answer: ApiResponse; rendered: Rendered } | null
    return kept?.answer === answer ? kept.rendered : render(answer)
  }
}

/** What is remembered tells of the resource in the path: 403 for whom that is out of reach. One that is gone is no reason
 *  not to repeat what was said of it. */
async function requireReach({ operation, call }: KeyedRequest): Promise<void> {
  await operation.load?.(call).catch((thrown: unknown) => {
    if (!(thrown instanceof Refusal) || thrown.reason !== 'not_found') throw thrown
  })
}

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Operation, resource in the path, mode, body and where it matters the rights of the key → one hash; lengths cannot shift from
 *  one part into the next. */
function hashOf({ operation, call, body }: KeyedRequest): Buffer {
  const { mode, permissions, domainId, expiresAt, allowedNetworks } = call.key
  const parts = [operation.id, mode, Object.entries(call.params).sort()]
  const rights = [[...permissions].sort(), domainId, expiresAt, allowedNetworks]
  const head = JSON.stringify(operation.secretResponse ? [...parts, ...rights] : parts)
  return createHash('sha256').update(sha256(head)).update(body).digest()
}

function replay(known: Remember, request: KeyedRequest): Rendered {
  const body = request.operation.secretResponse ? open(known.body, request) : new Uint8Array(known.body)
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
