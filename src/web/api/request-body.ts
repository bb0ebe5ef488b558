import { createMemoryBudget, type MemoryBudget } from '../../net/limiters/memory-budget.ts'
import type { Clock } from '../../os/clock.ts'
import { createGcTrigger } from '../../os/gc-trigger.ts'
import type { Memory } from '../../os/memory.ts'
import type { HeavyWork } from '../../sending/submission/heavy-work.ts'
import { unavailable } from './errors.ts'
import { extractBase64 } from './extract-base64.ts'
import type { BodyKey, IncomingBodies } from './incoming-body.ts'
import type { Operation } from './operation.ts'
import { parseBody } from './read.ts'
import { SMALL_BYTES } from './receive-body.ts'

/** The body of one request. It counts until `release` (incoming-body.ts); a body of more than 256 KiB reserves memory. */
export interface RequestBody {
  /** Reads the whole body. Rejects as IncomingBody.read, and with `unavailable` if no memory becomes free. */
  receive(): Promise<void>
  /** The body; empty before `receive`. */
  bytes(): Uint8Array
  /** Bytes of memory reserved for the body, or its size if it is small. A large body without Content-Length reserves
   *  the maximum body size. */
  heldBytes(): number
  /** The body, parsed and validated by the operation's schema; a promise for large bodies. Throws or rejects with
   *  `validation_error` that lists every invalid field. */
  parse(operation: Operation): unknown
  /** Releases the reserved memory. */
  release(): void
}

/** Reads and parses request bodies within memory limits. */
export interface RequestBodies {
  /** Opens the body of a request with this key. Reads nothing until `receive`. */
  open(request: Request, key: BodyKey): RequestBody
}

export interface RequestBodiesDeps {
  clock: Clock
  memory: Memory
  incoming: IncomingBodies
  /** Schedules the parsing of large bodies fairly between organizations, together with large messages. */
  heavyWork: HeavyWork
  /** Maximum size of a body. */
  limitBytes: number
}

/** Creates RequestBodies from memory, a scheduler and a size limit. */
export function createRequestBodies(deps: RequestBodiesDeps): RequestBodies {
  const { clock, memory, incoming, limitBytes } = deps
  const largeBodies = createLargeBodies({ clock, memory })
  return {
    open: (request, key) => {
      const { organizationId } = key
      const body = incoming.open(request, key)
      const reserved = largeBodies.open(request, organizationId)
      let bytes: Uint8Array = NO_BYTES
      return {
        receive: async () => {
          bytes = await body.read(limitBytes, reserved.enter)
          if (isLarge(bytes)) await reserved.begin(bytes.byteLength)
        },
        bytes: () => bytes,
        heldBytes: () => (isLarge(bytes) && !request.headers.has('content-length') ? limitBytes : bytes.byteLength),
        parse: (operation) => {
          if (!isLarge(bytes)) return parseBody(operation, request, bytes)
          return parseLarge({ operation, request, bytes, organizationId }, deps.heavyWork, largeBodies)
        },
        release: () => {
          body.release()
          reserved.leave(bytes.byteLength)
        },
      }
    },
  }
}

/** Parses one large body at a time, and base64 in slices, so that the main thread is never blocked for long. */
function parseLarge(
  body: { operation: Operation; request: Request; bytes: Uint8Array; organizationId: string },
  heavyWork: HeavyWork,
  largeBodies: LargeBodies,
): Promise<unknown> {
  const { operation, request, bytes, organizationId } = body
  const { base64At } = operation
  if (base64At === undefined) return heavyWork.run(organizationId, async () => parseBody(operation, request, bytes))
  return heavyWork.run(organizationId, () =>
    largeBodies.inTurn(async () => {
      const { json, put } = await extractBase64(bytes, base64At)
      return parseBody(operation, request, json, put)
    }),
  )
}

/** Limits the memory and main-thread time of request bodies of more than 256 KiB. */
export interface LargeBodies {
  /** Opens the body of one request of this organization. It reserves nothing until `enter` is called. */
  open(request: Request, organizationId: string): LargeBody
  /** Runs `work` when all earlier calls are done, and resolves or rejects with its result. The next call starts two
   *  turns of the event loop later, in which the caller packs and writes the body. Otherwise several bodies in a row
   *  would block the thread. */
  inTurn<T>(work: () => Promise<T>): Promise<T>
}

/** The memory reservation of one large request body. */
export interface LargeBody {
  /** Reserves memory for receiving the body. The body is not read while this waits. Rejects with `unavailable` if no
   *  memory becomes free within 20 s. */
  enter(sizeBytes: number): Promise<void>
  /** Reserves memory for processing the received body; no effect without `enter`. Rejects as `enter` does. */
  begin(readBytes: number): Promise<void>
  /** Releases the reservation. `readBytes` is the actual size of the body. */
  leave(readBytes: number): void
}

/** Creates LargeBodies, with a budget of 64 MiB, from a clock and memory. One organization can reserve at most half of
 *  it, so that its slow uploads leave memory for others. */
export function createLargeBodies({ clock, memory }: { clock: Clock; memory: Memory }): LargeBodies {
  const budget: MemoryBudget = createMemoryBudget({
    mostWaitingOfOwner: 100,
    totalBytes: BUDGET_BYTES,
    clock,
    beyond: (...bytes) => memory.enter('upload', ...bytes),
  })
  const releaseUncollected = createGcTrigger(GC_AFTER_BYTES)
  let last: Promise<unknown> = Promise.resolve()
  return {
    inTurn: (work) => {
      const done = last.then(work)
      last = done.catch(() => {}).then(restOfTurn)
      return done
    },
    open: (request, organizationId) => {
      const leaves: (() => void)[] = []
      const entered = (leave: (() => void) | null) => {
        if (leave === null) throw unavailable('Too many large requests at once. Try again in a few seconds.')
        leaves.push(leave)
      }
      return {
        enter: async (sizeBytes) =>
          entered(await budget.reserve(organizationId, sizeBytes, PATIENCE_MS, request.signal)),
        begin: async (readBytes) => {
          if (leaves.length > 0) entered(await memory.enter('request', readBytes, PATIENCE_MS, request.signal))
        },
        leave: (readBytes) => {
          for (const leave of leaves) leave()
          if (leaves.length > 0) releaseUncollected(readBytes)
        },
      }
    },
  }
}

/** Waits for two turns of the event loop: in the first the caller packs the body, in the second the store writes it
 *  (writer.ts). */
async function restOfTurn(): Promise<void> {
  await new Promise(setImmediate)
  await new Promise(setImmediate)
}

/** Small, because a body needs a multiple of its size while it is read, validated and packed. */
const BUDGET_BYTES = 64 * 2 ** 20
const GC_AFTER_BYTES = 48 * 2 ** 20
const PATIENCE_MS = 20_000

const isLarge = ({ byteLength }: Uint8Array) => byteLength > SMALL_BYTES
const NO_BYTES: Uint8Array = new Uint8Array(0)
