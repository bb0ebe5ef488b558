import type { Mode } from '../model/message.ts'
import { createRecentOthers } from '../net/limiters/recent-others.ts'
import type { Clock } from '../os/clock.ts'
import { workOf } from './batch-slices.ts'
import type { SubmissionRequest } from './request.ts'

/** Paces work that keeps the main thread busy for long: reading large requests, writing slices of batches, large mail and mail
 *  to many recipients. While several organizations send, the pieces of one organization run one after the other, each
 *  followed by a pause as long as it took. */
export interface HeavyWork {
  /** The organization sends a mail that is no such work. */
  sends(organizationId: string): void
  /** Starts `work` now, or after the organization's earlier pieces and a pause. Resolves and rejects as `work` does. */
  run<T>(organizationId: string, work: () => Promise<T>): Promise<T>
}

/** Another organization counts as sending so long after its last request. */
const SENDING_MS = 10_000
const LONGEST_PAUSE_MS = 500

/** The pieces of one organization. */
interface Line {
  /** Settles when the last piece has ended; never rejects. */
  last: Promise<unknown>
  /** Pieces that wait or run. */
  waiting: number
  pauseUntil: number
}

/** → no organization has sent yet. */
export function createHeavyWork(clock: Clock): HeavyWork {
  const recentOthers = createRecentOthers(clock.now, SENDING_MS)
  const lines = new Map<string, Line>()

  const inTurn = async <T>(line: Line, work: () => Promise<T>): Promise<T> => {
    await line.last
    const waitMs = Math.min(line.pauseUntil - clock.now(), LONGEST_PAUSE_MS)
    if (waitMs > 0) await clock.sleep(waitMs)
    const beganAt = clock.now()
    try {
      return await work()
    } finally {
      const now = clock.now()
      line.pauseUntil = now + (now - beganAt)
    }
  }
  return {
    sends: (organizationId) => void recentOthers.than(organizationId),
    run: async (organizationId, work) => {
      const hasOthers = recentOthers.than(organizationId)
      const line = lines.get(organizationId) ?? { last: Promise.resolve(), waiting: 0, pauseUntil: 0 }
      if (!hasOthers && line.waiting === 0) return work()
      lines.set(organizationId, line)
      line.waiting++
      const turn = inTurn(line, work)
      line.last = turn.catch(() => {})
      try {
        return await turn
      } finally {
        line.waiting--
        if (lines.size > MAX_LINES) forgetIdle(lines)
      }
    },
  }
}

const MAX_LINES = 1_000

function forgetIdle(lines: Map<string, Line>): void {
  for (const [id, { waiting }] of lines) if (waiting === 0) lines.delete(id)
}

/** A live mail to 20 recipients, a test mail to 5. */
const HEAVY_WORK = 24
const LARGE_BYTES = 2 ** 20

/** Whether writing one message is such work. */
export function isHeavy(request: SubmissionRequest, mode: Mode): boolean {
  return workOf(request, mode) >= HEAVY_WORK || sizeOf(request) >= LARGE_BYTES
}

/** Roughly, in bytes. */
function sizeOf({ html, text, mime, attachments }: SubmissionRequest): number {
  const parts = (html?.length ?? 0) + (text?.length ?? 0) + (mime?.bytes.byteLength ?? 0)
  return attachments.reduce((sum, { content }) => sum + content.byteLength, parts)
}
