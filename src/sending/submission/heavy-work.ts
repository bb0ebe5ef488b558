import type { Mode } from '../../model/message.ts'
import { createRecentOthers } from '../../net/limiters/recent-others.ts'
import type { Clock } from '../../os/clock.ts'
import type { GivenRequest, SubmissionRequest } from './request.ts'

/** Paces work that occupies the main thread: parsing large requests, writing batch slices, large mail and mail to many
 *  recipients. While several organizations send, pieces of one organization run in sequence, each followed by a pause
 *  of the same length. */
export interface HeavyWork {
  /** Records that the organization sends other mail. */
  sends(organizationId: string): void
  /** Runs `work` now, or after the organization's earlier pieces and a pause. Settles as `work` does. */
  run<T>(organizationId: string, work: () => Promise<T>): Promise<T>
}

/** Another organization counts as sending for this long after its last request. */
const SENDING_MS = 10_000
const LONGEST_PAUSE_MS = 500

/** Pieces of one organization. */
interface Line {
  /** Settles with the last piece; never rejects. */
  last: Promise<unknown>
  /** Pieces waiting or running. */
  waiting: number
  pauseUntil: number
}

/** Returns HeavyWork without senders. */
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
        if (lines.size > MAX_LINES) deleteIdle(lines)
      }
    },
  }
}

const MAX_LINES = 1_000

function deleteIdle(lines: Map<string, Line>): void {
  for (const [id, { waiting }] of lines) if (waiting === 0) lines.delete(id)
}

/** A live mail to 20 recipients, or a test mail to 5. */
const HEAVY_WORK = 24
const LARGE_BYTES = 2 ** 20

/** Whether writing one message counts as heavy. */
export function isHeavy(request: SubmissionRequest, mode: Mode): boolean {
  return workOf(request, mode) >= HEAVY_WORK || sizeOf(request) >= LARGE_BYTES
}

/** Approximate size in bytes. */
function sizeOf({ html, text, mime, attachments }: SubmissionRequest): number {
  const parts = (html?.length ?? 0) + (text?.length ?? 0) + (mime?.bytes.byteLength ?? 0)
  return attachments.reduce((sum, { content }) => sum + content.byteLength, parts)
}

const MESSAGE_WORK = 4
/** Test mail completes when accepted: each recipient also has an attempt and events. */
const TEST_WORK = 4

/** Cost of writing one message, in live recipients. */
export function workOf({ to, cc, bcc }: Pick<GivenRequest, 'to' | 'cc' | 'bcc'>, mode: Mode): number {
  const recipients = [to, cc, bcc].reduce((sum, each) => sum + (each?.mailboxes.length ?? 0), 0)
  return MESSAGE_WORK + recipients * (mode === 'test' ? TEST_WORK : 1)
}
