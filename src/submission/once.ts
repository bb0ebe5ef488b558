import { createHash } from 'node:crypto'
import { invalid, Refusal } from '../model/refusal.ts'
import type { Clock } from '../platform/clock.ts'
import type { IdempotencyRecords, Remember } from '../storage/store.ts'
import { idempotencyKeyFault } from './checks.ts'

/** A request that carries an idempotency key, through whichever door. */
export interface OnceRequest {
  organizationId: string
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

/** All the doors of the house share one, since a key belongs to the organization. */
export interface Once {
  /** Runs `work` once for all requests with the same key; for the others `replay` makes the answer of what `work` had
   *  remembered. What is remembered must be written with the change it tells of; nothing is remembered of work that
   *  wrote nothing, and then the next one that waits has its turn. Throws `validation_error` for a bad key, `conflict`
   *  with `details.reason` `idempotency_key_reused` for another request, and `request_in_progress` after waiting 20 s. */
  run<T>(
    request: OnceRequest,
    replay: (known: Remember) => T,
    work: (head: RecordHead) => Promise<T>,
  ): Promise<{ answer: T; replayed: boolean }>
}

/** Records and clock → Once. */
export function createOnce({ records, clock }: { records: IdempotencyRecords; clock: Clock }): Once {
  const inFlight = new Map<string, InFlight>()

  return {
    async run(request, replay, work) {
      const { organizationId, requestHash, now } = request
      requireKey(request)
      const keyHash = createHash('sha256').update(request.idempotencyKey).digest()
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
          return { answer: await work({ organizationId, keyHash, requestHash, createdAt: now }), replayed: false }
        }
        if (!requestHash.equals(known.requestHash)) throw reused(request)
        return { answer: replay(known), replayed: true }
      } finally {
        inFlight.delete(slot)
        mine.end()
      }
    },
  }

  /** Until the other request has ended; throws at `until`, or when the client has gone away. */
  async function waitFor(other: InFlight, until: number, request: OnceRequest): Promise<void> {
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

const KEPT_MS = 24 * 3_600_000 // contract §3
const WAIT_MS = 20_000 // contract §3

function requireKey({ idempotencyKey, header }: OnceRequest): void {
  const fault = idempotencyKeyFault(idempotencyKey)
  if (fault !== null) throw invalid([{ field: header, message: `${header} ${fault}` }])
}

function takeTurn(requestHash: Buffer): InFlight {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { requestHash, ended: promise, end: resolve }
}

function reused({ header }: OnceRequest): Refusal {
  return new Refusal('conflict', `this ${header} was used for another request`, {
    field: header,
    details: { reason: 'idempotency_key_reused' },
  })
}

function inProgress({ header }: OnceRequest): Refusal {
  return new Refusal('conflict', `the first request with this ${header} is still under way, try again`, {
    field: header,
    details: { reason: 'request_in_progress' },
  })
}
