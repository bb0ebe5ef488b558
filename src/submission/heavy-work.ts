import type { Clock } from '../platform/clock.ts'
import { createCompany } from '../platform/company.ts'
import { workOf } from './batch-slices.ts'
import type { SubmissionRequest } from './request.ts'

/** Paces what takes the main thread for long: large requests, slices of batches, mail to many recipients. While other organizations
 *  send too, an organization does such work one piece at a time, and behind each piece it leaves as much time as that took. */
export interface HeavyWork {
  /** The organization sends something. */
  sends(organizationId: string): void
  /** Does it now, or in its turn. Resolves and rejects as `work` does. */
  run<T>(organizationId: string, work: () => Promise<T>): Promise<T>
}

/** Another organization counts as sending so long after its last request. */
const SENDING_MS = 10_000
const LONGEST_PAUSE_MS = 500

interface Line {
  last: Promise<unknown>
  waiting: number
  pauseUntil: number
}

export function createHeavyWork(clock: Clock): HeavyWork {
  const company = createCompany(clock.now, SENDING_MS)
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
    sends: (organizationId) => void company.has(organizationId),
    run: async (organizationId, work) => {
      const isAlone = !company.has(organizationId)
      const line = lines.get(organizationId) ?? { last: Promise.resolve(), waiting: 0, pauseUntil: 0 }
      if (isAlone && line.waiting === 0) return work()
      lines.set(organizationId, line)
      line.waiting++
      const turn = inTurn(line, work)
      line.last = turn.catch(() => {})
      try {
        return await turn
      } finally {
        line.waiting--
        if (lines.size > MOST_LINES) forgetIdle(lines)
      }
    },
  }
}

const MOST_LINES = 1_000

function forgetIdle(lines: Map<string, Line>): void {
  for (const [id, { waiting }] of lines) if (waiting === 0) lines.delete(id)
}

/** Recipients of test mail count several times (workOf). */
const MANY_RECIPIENTS = 20
const LARGE_BYTES = 256 * 1024

/** Whether one message is such work. */
export function isHeavy(request: SubmissionRequest, mode: Parameters<typeof workOf>[1]): boolean {
  return workOf(request, mode) >= MANY_RECIPIENTS || sizeOf(request) >= LARGE_BYTES
}

function sizeOf({ html, text, mime, attachments }: SubmissionRequest): number {
  const parts = (html?.length ?? 0) + (text?.length ?? 0) + (mime?.bytes.byteLength ?? 0)
  return attachments.reduce((sum, { content }) => sum + content.byteLength, parts)
}
