import { createFairPool, type PoolOwner } from '../../net/limiters/fair-pool.ts'
import type { Clock } from '../../os/clock.ts'
import type { Memory } from '../../os/memory.ts'
import { createBodyPace, LEAST_BYTES } from './body-pace.ts'
import { unavailable } from './errors.ts'
import { readAtOnce, readInPieces, tooLarge } from './receive-body.ts'

/** Receives the bodies of all requests, whatever they are for, within limits of memory and time. */
export interface IncomingBodies {
  /** Opens the body of an authenticated request. Reads and counts nothing until `read`. */
  open(request: Request, key: BodyKey): IncomingBody
  /** Reads the whole body of a request that keeps little of it; `key` is null without one. Rejects as
   *  IncomingBody.read. */
  readOnce(request: Request, limit: number, key: BodyKey | null): Promise<Uint8Array>
}

export interface BodyKey {
  id: string
  organizationId: string
}

/** The body of one request. It counts from `read` to `release`. */
export interface IncomingBody {
  /** Reads the body, at most `limit` bytes. A missing body is empty. Rejects with `payload_too_large` for a longer body:
   *  before reading if Content-Length exceeds the limit, otherwise while reading. Rejects with `request_timeout` if it arrives
   *  too slowly (body-pace.ts), with `unavailable` without room for it, with `validation_error` if it ends early. Calls
   *  `enter` before it buffers more than 256 KiB, with Content-Length, or with `limit` if there is none, and rejects with
   *  the error of `enter`. */
  read(limit: number, enter?: (sizeBytes: number) => Promise<void>): Promise<Uint8Array>
  /** To be called once, when the request has its response. */
  release(): void
}

export interface IncomingBodiesDeps {
  clock: Clock
  memory: Pick<Memory, 'limitBytes' | 'take'>
  /** The network of the client (net/ip.ts); null if it is unknown, as behind a proxy that does not name its clients. */
  networkOf: (request: Request) => string | null
}

/** Creates IncomingBodies.
 *
 *  The bodies that arrive, or wait for their response, hold at most 64 MiB and a sixteenth of the memory limit. Each
 *  counts as 16 KiB at least, so that this bounds their number too. A key may hold half of what stays free, its
 *  organization and the client's network as much as stays free (fair-pool.ts). With 64 MiB one key gets 1,365 bodies and a
 *  network 2,048. A body of more than 256 KiB has a reservation of its own (`enter`) and counts as 16 KiB, but while it
 *  waits for that as the bytes that Bun reads ahead. */
export function createIncomingBodies({ clock, memory, networkOf }: IncomingBodiesDeps): IncomingBodies {
  const total = Math.min(MOST_BYTES, memory.limitBytes / 16)
  const pool = createFairPool(total, createCover(memory))
  const pace = createBodyPace(clock)

  const ownersOf = (request: Request, key: BodyKey | null, size: number | null): PoolOwner[] => {
    if (key === null) return [{ name: `network ${networkOf(request) ?? 'unknown'}`, part: 1 }]
    const owners = [
      { name: `key ${key.id}`, part: 0.5 },
      { name: `organization ${key.organizationId}`, part: 1 },
    ]
    // For small bodies the key is enough: asking Bun for the address takes as long as reading one.
    const network = size !== null && size <= LEAST_BYTES ? null : networkOf(request)
    return network === null ? owners : [...owners, { name: `network ${network}`, part: 1 }]
  }

  const open = (request: Request, key: BodyKey | null): IncomingBody => {
    let owners: PoolOwner[] = []
    let held = 0
    const hold = (bytes: number) => {
      const more = Math.max(LEAST_BYTES, bytes) - held
      if (more > 0 && !pool.take(owners, more)) throw tooManyBodies()
      if (more < 0) pool.give(owners, -more)
      held += more
    }
    return {
      read: async (limit, enter = async () => {}) => {
        const size = announcedSize(request)
        if (size !== null && size > limit) throw tooLarge(limit)
        if (size === 0) return NO_BYTES
        if (size !== null && size <= LEAST_BYTES) {
          owners = ownersOf(request, key, size)
          hold(0)
          return readAtOnce(request, pace)
        }
        if (request.body === null) return NO_BYTES
        owners = ownersOf(request, key, size)
        return readInPieces(request.body, { size, limit, enter, hold, pace })
      },
      release: () => {
        if (held > 0) pool.give(owners, held)
        held = 0
      },
    }
  }

  return {
    open,
    readOnce: async (request, limit, key) => {
      const body = open(request, key)
      try {
        return await body.read(limit)
      } finally {
        body.release()
      }
    },
  }
}

const MOST_BYTES = 64 * 2 ** 20
const NO_BYTES: Uint8Array = new Uint8Array(0)

/** Reserves the memory of the pool in pieces, so that most requests reserve none. The first piece is part of what the process
 *  needs anyway. */
function createCover(memory: Pick<Memory, 'take'>): (amount: number) => boolean {
  const releases: (() => void)[] = []
  return (amount) => {
    while ((releases.length + 1) * PIECE_BYTES < amount) {
      const release = memory.take('body', PIECE_BYTES)
      if (release === null) return false
      releases.push(release)
    }
    while (releases.length * PIECE_BYTES > amount + PIECE_BYTES) releases.pop()?.()
    return true
  }
}

const PIECE_BYTES = 4 * 2 ** 20

/** Size of the body as the client states it; null if it does not. */
function announcedSize({ headers }: Request): number | null {
  const header = headers.get('content-length')
  return header === null ? null : Number(header)
}

/** The refusal (503) of a body for which there is no room. */
export const tooManyBodies = () => unavailable('Too many request bodies at once. Try again in a few seconds.')
