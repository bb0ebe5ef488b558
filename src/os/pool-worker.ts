import { runJob } from './job-isolation.ts'
import type { StartMessage } from './supervisor.ts'
import { stackOf } from './thrown.ts'
import { createWorkMarks, type MarkMessage, type WorkMarks } from './work-board.ts'

/** What a job can report while it runs. */
export interface JobContext {
  /** Reports that the job computes from now on. Call it after each await that is followed by more work, so that the
   *  supervisor attributes a blocked thread to the right job. The start of a job is reported automatically. */
  working(): void
  /** Buffers of the answer to transfer instead of copying; this runner must not use them afterwards. */
  handOver(...buffers: ArrayBuffer[]): void
}

/** Supervisor → runner, after `start`. */
export interface JobMessage {
  kind: 'job'
  id: number
  job: unknown
}

/** Runner → supervisor. */
export type PoolAnswer =
  | { kind: 'ready' }
  | MarkMessage
  | { kind: 'answer'; id: number; answer: unknown }
  /** The job threw. */
  | { kind: 'failed'; id: number; error: string }

/** The runner side of a thread pool (thread-pool.ts). Calls `run` for each job and sends its answer or error.
 *  Returns the function that takes the supervisor's messages. `post` sends one message to the supervisor and must
 *  have sent it when it returns. Jobs start immediately, up to `perRunner` of the pool at a time. A job before
 *  `start` throws, which ends the runner. */
export function servePool<Job, Answer>(
  post: (message: PoolAnswer, transfer?: ArrayBuffer[]) => void,
  run: (job: Job, context: JobContext, settings: unknown) => Answer | Promise<Answer>,
): (message: unknown) => void {
  let started: { marks: WorkMarks; settings: unknown } | null = null
  const perform = async ({ id, job }: JobMessage, { marks, settings }: NonNullable<typeof started>) => {
    const handedOver: ArrayBuffer[] = []
    const context: JobContext = {
      working: () => marks.working(id),
      handOver: (...buffers) => {
        handedOver.push(...buffers)
      },
    }
    marks.begin()
    marks.working(id)
    try {
      const answer = await runJob(() => run(job as Job, context, settings))
      post({ kind: 'answer', id, answer }, [...new Set(handedOver)])
    } catch (error) {
      post({ kind: 'failed', id, error: stackOf(error) })
    } finally {
      marks.finish()
    }
  }
  return (message) => {
    const received = message as StartMessage | JobMessage // from our own supervisor
    if (received.kind === 'start') {
      const { board, settings } = received
      started = { marks: createWorkMarks(board, post), settings }
      return post({ kind: 'ready' })
    }
    if (started === null) throw new Error('the thread received work before it was started')
    if (received.kind === 'job') void perform(received, started)
  }
}
