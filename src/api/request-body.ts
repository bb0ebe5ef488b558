import type { Clock } from '../os/clock.ts'
import type { Memory } from '../os/memory.ts'
import type { HeavyWork } from '../submission/heavy-work.ts'
import { extractBase64 } from './extract-base64.ts'
import { createLargeBodies, type LargeBodies } from './large-bodies.ts'
import type { Operation } from './operation.ts'
import { parseBody, readBytes, SMALL_BYTES } from './read.ts'

/** The body of one request. Large bodies reserve memory (large-bodies.ts) until `release`. */
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

const isLarge = ({ byteLength }: Uint8Array) => byteLength > SMALL_BYTES
const NO_BYTES: Uint8Array = new Uint8Array(0)
