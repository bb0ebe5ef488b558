import { giveUp, PART_BYTES, writeSome } from './contents.ts'
import type { MailInside } from './inside.ts'
import type { MailLane } from './lane.ts'

/** Contents too long for one change: a commit of 20 MB delays what shares it by a tenth of a second. All but their first
 *  part is written in small changes before the change that writes their owner. Until then they have no owner.
 *
 *  Killed before   the next start, or another node, removes the written parts.
 *  Refused         the parts are released immediately: the disk is full, or the owner was refused. */
export interface LargeContents {
  /** Writes the long ones of `contents`, then calls `take`, whose change takes them over (ownAll), and returns its result.
   *  If `refusal` returns something, that is the result and nothing is written. Rejects with what any of them throws. */
  ahead<T>(
    contents: readonly Uint8Array[],
    take: () => Promise<T>,
    refusal: () => T | null | Promise<T | null>,
  ): Promise<T>
}

/** `taking` writes the contents, `release` gives them up: a full disk refuses only the first. `writtenAhead`: that of
 *  MailInside. */
export function createLargeContents(
  writtenAhead: MailInside['writtenAhead'],
  { taking, release }: { taking: MailLane['perform']; release: MailLane['perform'] },
): LargeContents {
  let last: Promise<unknown> = Promise.resolve()
  /** One at a time, so that no commit contains two of them. */
  const inTurn: MailLane['perform'] = (work) => {
    const step = last.then(() => taking(work))
    last = step.catch(() => {})
    return step
  }

  const writeAhead = async (bytes: Uint8Array, begun: (content: number) => void) => {
    let at = await inTurn((inside) => writeSome(inside, bytes, null, STEP_PARTS))
    begun(at.content)
    while (at.part * PART_BYTES < bytes.byteLength) {
      const from = at
      at = await inTurn((inside) => writeSome(inside, bytes, from, STEP_PARTS))
    }
    writtenAhead.set(bytes, at.content)
  }

  const aheadOfAll = async <T>(long: readonly Uint8Array[], take: () => Promise<T>): Promise<T> => {
    const contents: number[] = []
    try {
      for (const bytes of long) await writeAhead(bytes, (content) => contents.push(content))
      return await take()
    } finally {
      await release(() => giveUp(contents)).catch(() => {}) // the next start does it
    }
  }

  return {
    ahead: async (contents, take, refusal) => {
      const long = contents.filter(({ byteLength }) => byteLength > SHORT_BYTES)
      if (long.length === 0) return take()
      return (await refusal()) ?? aheadOfAll(long, take)
    },
  }
}

/** A megabyte takes some ten milliseconds. */
const STEP_PARTS = 4
/** Written with their owner, in one change. */
const SHORT_BYTES = (1 + STEP_PARTS) * PART_BYTES
