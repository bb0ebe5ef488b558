import { createHash } from 'node:crypto'
import { IDEMPOTENCY_KEPT_MS } from '../../model/idempotency.ts'
import type { Mode } from '../../model/message.ts'
import { invalid, Refusal } from '../../model/refusal.ts'
import type { Clock } from '../../os/clock.ts'
import { AlreadyRemembered, type Remember, type Store } from '../../storage/store.ts'
import { idempotencyKeyFault } from './checks.ts'

/** A request with an idempotency key, from API or SMTP. */
export interface IdempotencyRequest {
  organizationId: string
  /** Mode of the API key. Live and test idempotency keys are separate. */
  mode: Mode
  /** Domain of an API key that reaches no other one; null for all other callers. Its answers are not for keys of other
   *  domains. */
  domainId: string | null
  /** Header value, and header name for refusals. */
  idempotencyKey: string
  header: string
  /** SHA-256 of everything that makes two requests equal. */
  requestHash: Buffer
  now: number
  /** Aborts the wait when the client disconnects. */
  signal?: AbortSignal
}

/** The part of a record known before the work runs. */
export type RecordHead = Pick<Remember, 'organizationId' | 'keyHash' | 'requestHash' | 'createdAt'>

/** Records of the first parts of work written in several transactions, so that a repeated request continues after the
 *  last written part. Each part has a record of the same request. */
export interface Parts {
  /** The body of a part's record; null if not written. Throws like IdempotencyKeys.run for another request. */
  known(part: number): Promise<Uint8Array | null>
  /** The record to write with that part. */
  record(part: number, body: Uint8Array): Remember
}

/** Shared by API and SMTP. Keys belong to an organization, separately for live and test, and for each domain whose API keys
 *  reach no other one. */
export class IdempotencyKeys {
  readonly #records: Store['idempotency']
  readonly #clock: Clock
  readonly #inFlight = new Map<string, InFlight>()

  constructor(records: Store['idempotency'], clock: Clock) {
    this.#records = records
    this.#clock = clock
  }

  /** Runs `work` once for all requests with the same key. For the others `replay` builds the answer from the stored
   *  record. The record must be written in the transaction of the work; work that writes nothing stores no record, and
   *  the next waiting request runs it. Of requests on several nodes, too, one makes its change: where the work of the
   *  others fails because of it, they get its answer. Throws `validation_error` for an invalid key, `conflict` with
   *  `details.reason` `idempotency_key_reused` for a different request, and `request_in_progress` after waiting 20 s. */
  async run<T>(
    request: IdempotencyRequest,
    replay: (known: Remember) => T,
    work: (head: RecordHead, parts: Parts) => Promise<T>,
  ): Promise<{ answer: T; replayed: boolean }> {
    const { organizationId, requestHash, now } = request
    requireKey(request)
    const keyHash = createHash('sha256').update(nameOf(request)).digest()
    const slot = `${organizationId} ${keyHash.toString('base64')}`

    const until = this.#clock.now() + WAIT_MS
    // No await between the last check and takeTurn, or two requests could proceed.
    for (let other = this.#inFlight.get(slot); other !== undefined; other = this.#inFlight.get(slot)) {
      if (!other.requestHash.equals(requestHash)) throw reused(request)
      await this.#waitFor(other, until, request)
    }
    const mine = takeTurn(requestHash)
    this.#inFlight.set(slot, mine)
    try {
      const head = { organizationId, keyHash, requestHash, createdAt: now }
      for (;;) {
        const known = await this.#find(head)
        if (known !== null && !requestHash.equals(known.requestHash)) throw reused(request)
        if (known !== null) return { answer: replay(known), replayed: true }
        try {
          return { answer: await work(head, this.#partsOf(head, request)), replayed: false }
        } catch (error) {
          // The same request on another node may have been first. Then its record is the answer, or its parts are
          // where this one continues.
          const isLost = error instanceof AlreadyRemembered
          if (isLost && this.#clock.now() >= until) throw inProgress(request)
          const isAnswered = error instanceof Refusal && (await this.#find(head)) !== null
          if (!isLost && !isAnswered) throw error
        }
      }
    } finally {
      this.#inFlight.delete(slot)
      mine.end()
    }
  }

  #find({ organizationId, keyHash, createdAt }: RecordHead): Promise<Remember | null> {
    return this.#records.find(organizationId, keyHash, createdAt - IDEMPOTENCY_KEPT_MS)
  }

  #partsOf(head: RecordHead, request: IdempotencyRequest): Parts {
    const headOf = (part: number): RecordHead => {
      return { ...head, keyHash: createHash('sha256').update(head.keyHash).update(`part ${part}`).digest() }
    }
    return {
      known: async (part) => {
        const record = await this.#find(headOf(part))
        if (record !== null && !request.requestHash.equals(record.requestHash)) throw reused(request)
        return record?.body ?? null
      },
      record: (part, body) => ({ ...headOf(part), status: PART, body }),
    }
  }

  /** Waits for the other request to end; throws at `until` or when the client disconnects. */
  async #waitFor(other: InFlight, until: number, request: IdempotencyRequest): Promise<void> {
    const { signal } = request
    const pause = new AbortController()
    const leave = () => pause.abort()
    signal?.addEventListener('abort', leave, { once: true })
    await Promise.race([other.ended, this.#clock.sleep(until - this.#clock.now(), pause.signal)])
    signal?.removeEventListener('abort', leave)
    pause.abort()
    if (signal?.aborted || this.#clock.now() >= until) throw inProgress(request)
  }
}

/** An idempotency key contains no line break. */
function nameOf({ mode, domainId, idempotencyKey }: IdempotencyRequest): string {
  return [...(mode === 'test' ? [mode] : []), ...(domainId === null ? [] : [domainId]), idempotencyKey].join('\n')
}

interface InFlight {
  requestHash: Buffer
  ended: Promise<void>
  end: () => void
}

/** Status of a part's record, after 206 Partial Content (RFC 9110 §15.3.7). Never sent to a client. */
const PART = 206
const WAIT_MS = 20_000 // 20 s, as the manual states

function requireKey({ idempotencyKey, header }: IdempotencyRequest): void {
  const fault = idempotencyKeyFault(idempotencyKey)
  if (fault !== null) throw invalid([{ field: header, message: `${header} ${fault}` }])
}

function takeTurn(requestHash: Buffer): InFlight {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { requestHash, ended: promise, end: resolve }
}

function reused({ header }: IdempotencyRequest): Refusal {
  return new Refusal('conflict', `This ${header} was already used for a different request. Use a new key.`, {
    field: header,
    details: { reason: 'idempotency_key_reused' },
  })
}

function inProgress({ header }: IdempotencyRequest): Refusal {
  return new Refusal(
    'conflict',
    `The first request with this ${header} is still running. Try again in a few seconds.`,
    {
      field: header,
      details: { reason: 'request_in_progress' },
    },
  )
}
