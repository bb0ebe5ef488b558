import { createMemoryBudget, type MemoryBudget } from '../net/limiters/memory-budget.ts'
import type { Clock } from '../os/clock.ts'
import { createGcTrigger } from '../os/gc-trigger.ts'
import type { Memory } from '../os/memory.ts'
import type { HeavyWork } from '../submission/heavy-work.ts'
import { unavailable } from './errors.ts'
import { extractBase64 } from './extract-base64.ts'
import type { Operation } from './operation.ts'
import { parseBody, readBytes, SMALL_BYTES } from './read.ts'

/** The body of one request. Large bodies reserve memory until `release`. */
export interface RequestBody {
  /** Reads the whole body. Throws `payload_too_large`, `unavailable` without memory, or 400 for a body that ends early. */
  receive(): Promise<void>
  /** Empty before `receive`. */
  bytes(): Uint8Array
  /** Memory that the body holds. A large body that did not announce its size reserved the limit. */
  heldBytes(): number
  /** The body as the operation's schema defines it; a promise for large bodies. Throws 400 with every fault. */
  parse(operation: Operation): unknown
  release(): void
}

export interface RequestBodies {
  open(request: Request, organizationId: string): RequestBody
}

export interface RequestBodiesDeps {
  clock: Clock
  memory: Memory
  /** Paces large bodies by organization, together with large messages. */
  heavyWork: HeavyWork
  /** Largest body. */
  limitBytes: number
}

export function createRequestBodies(deps: RequestBodiesDeps): RequestBodies {
  const { clock, memory, limitBytes } = deps
  const largeBodies = createLargeBodies({ clock, memory })
  return {
    open: (request, organizationId) => {
      const reserved = largeBodies.open(request, organizationId)
      let bytes: Uint8Array = NO_BYTES
      return {
        receive: async () => {
          bytes = await readBytes(request, limitBytes, clock, reserved.enter)
          if (isLarge(bytes)) await reserved.begin(bytes.byteLength)
        },
        bytes: () => bytes,
        heldBytes: () => (isLarge(bytes) && !request.headers.has('content-length') ? limitBytes : bytes.byteLength),
        parse: (operation) => {
          if (!isLarge(bytes)) return parseBody(operation, request, bytes)
          return parseLarge({ operation, request, bytes, organizationId }, deps.heavyWork, largeBodies)
        },
        release: () => reserved.leave(bytes.byteLength),
      }
    },
  }
}

/** Large bodies are parsed one after another, and base64 in slices, so that the main thread is never blocked for long. */
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

/** Limits the memory of request bodies. Small bodies are not counted (read.ts). */
export interface LargeBodies {
  /** Reservation of one request of this organization, empty at first. */
  open(request: Request, organizationId: string): LargeBody
  /** Runs `work` after all earlier ones, with its direct continuations: one large body is validated, packed and
   *  written at a time. Otherwise several could block the thread in a row. */
  inTurn<T>(work: () => Promise<T>): Promise<T>
}

export interface LargeBody {
  /** Reserves memory; until then the body stays in the sender's socket. Rejects with `unavailable` after twenty
   *  seconds. */
  enter(sizeBytes: number): Promise<void>
  /** The body has been read: reserves memory for its processing. Rejects as `enter` does. */
  begin(readBytes: number): Promise<void>
  /** Releases the reservation after the response; `readBytes` is the actual size of the body. */
  leave(readBytes: number): void
}

/** An organization can reserve at most half of the memory, however many keys it has, so that slow senders leave some
 *  for others. */
export function createLargeBodies({ clock, memory }: { clock: Clock; memory: Memory }): LargeBodies {
  const budget: MemoryBudget = createMemoryBudget({
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

/** The first of these packs the body, the second writes it (writer.ts). */
async function restOfTurn(): Promise<void> {
  await new Promise(setImmediate)
  await new Promise(setImmediate)
}

/** A body needs a multiple of its size while it is read, validated and packed. */
const BUDGET_BYTES = 64 * 2 ** 20
const GC_AFTER_BYTES = 48 * 2 ** 20
const PATIENCE_MS = 20_000

const isLarge = ({ byteLength }: Uint8Array) => byteLength > SMALL_BYTES
const NO_BYTES: Uint8Array = new Uint8Array(0)
