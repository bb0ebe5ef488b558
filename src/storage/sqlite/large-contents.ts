import { type ContentParts, PART_BYTES } from './content-parts.ts'
import type { Writer } from './writer.ts'

/** Contents too long for one change, since a commit of 20 MB blocks the thread for a tenth of a second. All but their
 *  first part is written in small changes before the change that writes their owner. Until then they have no owner.
 *
 *  Killed before   the next start removes the written parts.
 *  Refused         the parts are removed immediately: the disk is full, or the owner was refused. */
export interface LargeContents {
  /** Writes the long ones of `contents`, then calls `take`, whose change takes them over (ContentParts.addRest), and
   *  returns its result. If `refusal` returns something, that is the result and nothing is written. Rejects with
   *  what any of them throws. */
  ahead<T>(contents: readonly Uint8Array[], take: () => Promise<T>, refusal?: () => T | null): Promise<T>
}

/** `taking` writes the contents, `writer` releases those that were given up. */
export function createLargeContents(
  parts: ContentParts,
  { taking, writer }: { taking: Writer; writer: Writer },
): LargeContents {
  let last: Promise<unknown> = Promise.resolve()
  /** One at a time, so that no commit contains two of them. */
  const inTurn = <T>(change: () => T): Promise<T> => {
    const step = last.then(() => taking.write(change))
    last = step.catch(() => {})
    return step
  }

  const writeAhead = async (bytes: Uint8Array, begun: (content: number) => void) => {
    let at = await inTurn(() => parts.writeSome(bytes, null, STEP_PARTS))
    begun(at.content)
    while (at.part * PART_BYTES < bytes.byteLength) {
      const from = at
      at = await inTurn(() => parts.writeSome(bytes, from, STEP_PARTS))
    }
    parts.writtenAs(bytes, at.content)
  }

  const aheadOfAll = async <T>(long: readonly Uint8Array[], take: () => Promise<T>): Promise<T> => {
    const contents: number[] = []
    try {
      for (const bytes of long) await writeAhead(bytes, (content) => contents.push(content))
      return await take()
    } finally {
      const giveUp = () => {
        for (const content of contents) parts.giveUp(content)
      }
      await writer.write(giveUp).catch(() => {}) // the next start does it
    }
  }

  return {
    ahead: (contents, take, refusal = () => null) => {
      const long = contents.filter(({ byteLength }) => byteLength > SHORT_BYTES)
      if (long.length === 0) return take()
      const refused = refusal()
      return refused === null ? aheadOfAll(long, take) : Promise.resolve(refused)
    },
  }
}

/** A megabyte takes some ten milliseconds. */
const STEP_PARTS = 4
/** Written with their owner, in one change. */
const SHORT_BYTES = (1 + STEP_PARTS) * PART_BYTES
