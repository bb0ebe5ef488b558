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
  /** The raw header value. */
  idempotencyKey: string
  /** The raw body. */
  body: Uint8Array
}

export interface Idempotency {
  /** Runs `work` idempotencyKeys for all requests with the same key and returns its response to the others.
   *
   *  The store method that makes the change stores the response in the same transaction: if it is missing after a
   *  crash, the change did not happen. Only 2xx responses are stored; after anything else the next waiting request
   *  runs. Keys are scoped to the organization and mode. A repeated request has the same operation, path and body. A
   *  response that shows a secret is replayed only to callers with the same rights (permissions, domain, expiry,
   *  networks); otherwise a weaker key could obtain an admin key. A replay does not validate the body and checks the
   *  resource in the path only for access. Throws 400 for an invalid key, 409 for a different request with the same
   *  key, and 409 after waiting 20 s. */
  run(
    request: KeyedRequest,
    work: (remember: MakeRemember) => Promise<ApiResponse>,
  ): Promise<{ rendered: Rendered; replayed: boolean }>
}

/** Idempotency keys and random → Idempotency. */
export function createIdempotency({
  idempotencyKeys,
  random,
}: {
  idempotencyKeys: IdempotencyKeys
  random: Random
}): Idempotency {
  return {
    async run(request, work) {
      const { call, idempotencyKey } = request
      const { organizationId, now } = call
      const { answer, replayed } = await idempotencyKeys.run(
        {
          ...{ organizationId, idempotencyKey, header: 'Idempotency-Key', requestHash: hashOf(request), now },
          mode: call.key.mode,
          get signal() {
            return call.signal // built only when needed
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
    const renderedOf = new Map<ApiResponse, Rendered>()
    const remember: MakeRemember = (answer) => {
      if (answer.status < 200 || answer.status > 299) return undefined
      const rendered = render(answer)
      renderedOf.set(answer, rendered)
      const plain = Buffer.from(rendered.body)
      const body = request.operation.secretResponse ? encrypt(plain, request, random) : plain
      return { ...head, status: answer.status, body }
    }
    const answer = await work(remember)
    return renderedOf.get(answer) ?? render(answer)
  }
}

/** The stored response describes the resource in the path, so callers without access get 403. A deleted resource does
 *  not prevent the replay. */
async function requireReach({ operation, call }: KeyedRequest): Promise<void> {
  await operation.load?.(call).catch((thrown: unknown) => {
    if (!(thrown instanceof Refusal) || thrown.reason !== 'not_found') throw thrown
  })
}

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Operation, resource in the path, mode, body and, where relevant, the key's rights → one hash. Lengths are included,
 *  so no part can shift into the next. */
function hashOf({ operation, call, body }: KeyedRequest): Buffer {
  const { mode, permissions, domainId, expiresAt, allowedNetworks } = call.key
  const parts = [operation.id, mode, Object.entries(call.params).sort()]
  const rights = [[...permissions].sort(), domainId, expiresAt, allowedNetworks]
  const head = JSON.stringify(operation.secretResponse ? [...parts, ...rights] : parts)
  return createHash('sha256').update(sha256(head)).update(body).digest()
}

function replay(known: Remember, request: KeyedRequest): Rendered {
  const body = request.operation.secretResponse ? decrypt(known.body, request) : new Uint8Array(known.body)
  return { status: known.status, body, contentType: JSON_TYPE, headers: undefined }
}

/** Response with a secret → nonce, AES-256-GCM ciphertext, tag. The key is derived from the Idempotency-Key, of which
 *  only a hash is stored, so the disk alone does not reveal the secret (RFC 5869 for the key, NIST SP 800-38D). */
function encrypt(plain: Uint8Array, request: KeyedRequest, random: Random): Uint8Array {
  const nonce = random.bytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', responseKey(request), nonce)
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

function decrypt(encrypted: Uint8Array, request: KeyedRequest): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.from(encrypted)
  const decipher = createDecipheriv('aes-256-gcm', responseKey(request), bytes.subarray(0, NONCE_BYTES))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES))
  return new Uint8Array(Buffer.concat([text, decipher.final()]))
}

function responseKey({ idempotencyKey, call }: KeyedRequest): Uint8Array {
  const key = hkdfSync('sha256', idempotencyKey, call.organizationId, 'postrider remembered answer', 32)
  return new Uint8Array(key)
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
