import { createHash } from 'node:crypto'
import type { Mode } from '../model/message.ts'
import { invalid, Refusal } from '../model/refusal.ts'
import type { Clock } from '../os/clock.ts'
import type { IdempotencyRecords, Remember } from '../storage/store.ts'
import { idempotencyKeyFault } from './checks.ts'

/** A request that carries an idempotency key, through whichever door. */
export interface IdempotencyRequest {
  organizationId: string
  /** Of the key that asks. Test keys have idempotency keys of their own: none of theirs is in the way of live mail. */
  mode: Mode
  /** The header as it came, and the header's name for refusals. */
  idempotencyKey: string
  header: string
  /** SHA-256 of all that makes two requests the same. */
  requestHash: Buffer
  now: number
  /** Ends the waiting: the client has gone. */
  signal?: AbortSignal
}

/** The part of a record that is known before the work is done. */
export type RecordHead = Pick<Remember, 'organizationId' | 'keyHash' | 'requestHash' | 'createdAt'>

/** What was remembered of the first parts of work that is written in several transactions, so that a repeated request whose
 *  first run was cut off goes on where that ended. Each part has a record of its own, of the same request. */
export interface Parts {
  /** The body of that part's record; null when it was not written. Throws as Once.run for another request. */
  known(part: number): Promise<Uint8Array | null>
  /** The record to write with the changes of that part. */
  record(part: number, body: Uint8Array): Remember
}

/** HTTP and SMTP share one, since an idempotency key belongs to the organization, apart for live and test. */
export interface IdempotencyKeys {
  /** Runs `work` once for all requests with the same key; for the others `replay` makes the answer of what `work` had
   *  remembered. What is remembered must be written with the change it tells of; nothing is remembered of work that
   *  wrote nothing, and then the next one that waits has its turn. Throws `validation_error` for a bad key, `conflict`
   *  with `details.reason` `idempotency_key_reused` for another request, and `request_in_progress` after waiting 20 s. */
  run<T>(
    request: IdempotencyRequest,
    replay: (known: Remember) => T,
    work: (head: RecordHead, parts: Parts) => Promise<T>,
  ): Promise<{ answer: T; replayed: boolean }>
}

/** Records and clock → Once. */
export function createIdempotencyKeys({
  records,
  clock,
}: {
  records: IdempotencyRecords
  clock: Clock
}): IdempotencyKeys {
  const inFlight = new Map<string, InFlight>()

  return {
    async run(request, replay, work) {
      const { organizationId, mode, requestHash, now } = request
      requireKey(request)
      // No idempotency key holds a line break.
      const named = mode === 'test' ? `test\n${request.idempotencyKey}` : request.idempotencyKey
      const keyHash = createHash('sha256').update(named).digest()
      const slot = `${organizationId} ${keyHash.toString('base64')}`

      const until = clock.now() + WAIT_MS
      // No await between the last look and the turn taken, or two would have it.
      for (let other = inFlight.get(slot); other !== undefined; other = inFlight.get(slot)) {
        if (!other.requestHash.equals(requestHash)) throw reused(request)
        await waitFor(other, until, request)
      }
      const mine = takeTurn(requestHash)
      inFlight.set(slot, mine)
      try {
        const known = await records.find(organizationId, keyHash, now - KEPT_MS)
        if (known === null) {
          const head = { organizationId, keyHash, requestHash, createdAt: now }
          return { answer: await work(head, partsOf(head, request)), replayed: false }
        }
        if (!requestHash.equals(known.requestHash)) throw reused(request)
        return { answer: replay(known), replayed: true }
      } finally {
        inFlight.delete(slot)
        mine.end()
      }
    },
  }

  function partsOf(head: RecordHead, request: IdempotencyRequest): Parts {
    const { organizationId, requestHash, now } = request
    const keyHashOf = (part: number) => createHash('sha256').update(head.keyHash).update(`part ${part}`).digest()
    return {
      known: async (part) => {
        const record = await records.find(organizationId, keyHashOf(part), now - KEPT_MS)
        if (record !== null && !requestHash.equals(record.requestHash)) throw reused(request)
        return record?.body ?? null
      },
      record: (part, body) => ({ ...head, keyHash: keyHashOf(part), status: PART, body }),
    }
  }

  /** Until the other request has ended; throws at `until`, or when the client has gone away. */
  async function waitFor(other: InFlight, until: number, request: IdempotencyRequest): Promise<void> {
    const { signal } = request
    const nap = new AbortController()
    const leave = () => nap.abort()
    signal?.addEventListener('abort', leave, { once: true })
    await Promise.race([other.ended, clock.sleep(until - clock.now(), nap.signal)])
    signal?.removeEventListener('abort', leave)
    nap.abort()
    if (signal?.aborted || clock.now() >= until) throw inProgress(request)
  }
}

interface InFlight {
  requestHash: Buffer
  ended: Promise<void>
  end: () => void
}

/** The status of a part's record: 206, as RFC 9110 §15.3.7 calls a part. Nobody is answered with it. */
const PART = 206
const KEPT_MS = 24 * 3_600_000 // contract §3
const WAIT_MS = 20_000 // contract §3

function requireKey({ idempotencyKey, header }: IdempotencyRequest): void {
  const fault = idempotencyKeyFault(idempotencyKey)
  if (fault !== null) throw invalid([{ field: header, message: `${header} ${fault}` }])
}

function takeTurn(requestHash: Buffer): InFlight {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { requestHash, ended: promise, end: resolve }
}

function reused({ header }: IdempotencyRequest): Refusal {
  return new Refusal('conflict', `this ${header} was used for another request`, {
    field: header,
    details: { reason: 'idempotency_key_reused' },
  })
}

function inProgress({ header }: IdempotencyRequest): Refusal {
  return new Refusal('conflict', `the first request with this ${header} is still under way, try again`, {
    field: header,
    details: { reason: 'request_in_progress' },
  })
}
