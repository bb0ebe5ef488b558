import { createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto'
import { Refusal } from '../../model/refusal.ts'
import type { Random } from '../../os/random.ts'
import type { IdempotencyKeys, RecordHead } from '../../sending/submission/idempotency.ts'
import type { Remember } from '../../storage/store.ts'
import type { ApiResponse, Call, MakeRemember, Operation } from './operation.ts'
import { JSON_TYPE, type Rendered, render } from './rendered-response.ts'
import { scopeOf } from './scope.ts'

/** A request with an Idempotency-Key. */
export interface KeyedRequest {
  operation: Operation
  call: Call
  /** The raw header value. */
  idempotencyKey: string
  /** The raw body. */
  body: Uint8Array
}

/** Replays the stored response of repeated requests with an Idempotency-Key. */
export class Idempotency {
  readonly #keys: IdempotencyKeys
  readonly #random: Random

  /** `random` is for nonces. */
  constructor(keys: IdempotencyKeys, random: Random) {
    this.#keys = keys
    this.#random = random
  }

  /** Runs `work` once for all requests with the same Idempotency-Key. Later requests get the stored response of the
   *  first one (`replayed`); parallel requests wait for it.
   *
   *  The transaction that makes the change also stores the response. If the response is missing after a crash, the
   *  change was not made either. Only 2xx responses are stored; after any other response, the next waiting request runs
   *  `work`. Keys are separate for each organization and mode, and for the domain of a key that reaches no other one. A
   *  repeated request must have the same operation, path parameters and body.
   *
   *  A response with a secret is replayed only to callers with the same rights (permissions, domain, expiry, networks).
   *  Otherwise a key with fewer rights could obtain an admin key. A replay does not validate the body. It only checks
   *  that the caller can still access the resource in the path.
   *
   *  Rejects with `validation_error` for an invalid key, with `conflict` for a different request with the same key or
   *  after 20 s of waiting, with `forbidden` for a replay of an inaccessible resource, and with the error of `work`. */
  async run(request: KeyedRequest, work: Work): Promise<{ rendered: Rendered; replayed: boolean }> {
    const { call, idempotencyKey } = request
    const { organizationId, now } = call
    const { answer, replayed } = await this.#keys.run(
      {
        ...{ organizationId, idempotencyKey, header: 'Idempotency-Key', requestHash: hashOf(request), now },
        mode: call.key.mode,
        domainId: scopeOf(call.key).domainId,
        get signal() {
          return call.signal // a getter, because Bun creates the signal on first access
        },
      },
      (known) => replay(known, request),
      (head, parts) => {
        call.parts = parts
        return this.#first(request, head, work)
      },
    )
    if (replayed) await requireReach(request)
    return { rendered: answer, replayed }
  }

  async #first(request: KeyedRequest, head: RecordHead, work: Work): Promise<Rendered> {
    const renderedOf = new Map<ApiResponse, Rendered>()
    const remember: MakeRemember = (answer) => {
      if (answer.status < 200 || answer.status > 299) return undefined
      const rendered = render(answer)
      renderedOf.set(answer, rendered)
      const plain = Buffer.from(rendered.body)
      const body = request.operation.secretResponse ? encrypt(plain, request, this.#random) : plain
      return { ...head, status: answer.status, body }
    }
    const answer = await work(remember)
    return renderedOf.get(answer) ?? render(answer)
  }
}

type Work = (remember: MakeRemember) => Promise<ApiResponse>

/** Rejects if the caller cannot access the resource in the path, which the stored response describes. A deleted
 *  resource does not prevent the replay. */
async function requireReach({ operation, call }: KeyedRequest): Promise<void> {
  await operation.load?.(call).catch((thrown: unknown) => {
    if (!(thrown instanceof Refusal) || thrown.reason !== 'not_found') throw thrown
  })
}

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** SHA-256 of operation, mode, path parameters and body. If the response has a secret, also of the key's rights and maker,
 *  and of a value derived from the Idempotency-Key, since such a body may have a secret that could be guessed. The
 *  parts before the body are one JSON text, hashed separately, so that no two different requests have the same
 *  input. */
function hashOf({ operation, call, idempotencyKey, body }: KeyedRequest): Buffer {
  const { mode, permissions, domainId, expiresAt, allowedNetworks } = call.key
  const parts = [operation.id, mode, Object.entries(call.params).sort()]
  const maker = call.user?.id ?? call.key.createdBy ?? call.key.makerRole
  const guard = operation.secretResponse && Buffer.from(responseKey({ idempotencyKey, call })).toString('hex')
  const rights = [[...permissions].sort(), domainId, expiresAt, allowedNetworks, maker]
  const head = JSON.stringify(operation.secretResponse ? [...parts, ...rights, guard] : parts)
  return createHash('sha256').update(sha256(head)).update(body).digest()
}

function replay(known: Remember, request: KeyedRequest): Rendered {
  const body = request.operation.secretResponse ? decrypt(known.body, request) : new Uint8Array(known.body)
  return { status: known.status, body, contentType: JSON_TYPE, headers: undefined }
}

/** Response with a secret → nonce, ciphertext and tag of AES-256-GCM (NIST SP 800-38D). The encryption key is derived
 *  from the Idempotency-Key (RFC 5869). The store contains only a hash of that, so a copy of the disk does not reveal
 *  the secret. */
function encrypt(plain: Uint8Array, request: KeyedRequest, random: Random): Uint8Array {
  const nonce = random.bytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', responseKey(request), nonce)
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** Inverse of encrypt. Throws if the bytes were modified. */
function decrypt(encrypted: Uint8Array, request: KeyedRequest): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.from(encrypted)
  const decipher = createDecipheriv('aes-256-gcm', responseKey(request), bytes.subarray(0, NONCE_BYTES))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES))
  return new Uint8Array(Buffer.concat([text, decipher.final()]))
}

function responseKey({ idempotencyKey, call }: Pick<KeyedRequest, 'idempotencyKey' | 'call'>): Uint8Array {
  const key = hkdfSync('sha256', idempotencyKey, call.organizationId, 'postrider remembered answer', 32)
  return new Uint8Array(key)
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
