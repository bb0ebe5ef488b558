import type { StartMessage } from './supervisor.ts'
import { createWorkMarks, type MarkMessage, type WorkMarks } from './work-board.ts'

/** What a job may say of itself while it runs. */
export interface JobContext {
  /** It computes from now on: to be called after each await behind which a stretch of work begins, so that the right job
   *  is blamed for a thread that stands still. The start of a job is marked already. */
  working(): void
  /** Buffers of the answer that are handed over, not copied; this runner must not touch them any more. */
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
  /** It threw. */
  | { kind: 'failed'; id: number; error: string }

/** The inside of a runner of a thread pool (thread-pool.ts): gives each job to `run` and sends back its answer, or what it
 *  threw. → What takes the messages of the supervisor. `post` sends one to it, and must have left when it returns. Jobs
 *  run at once, as many as `perRunner` of the pool says. A job before `start` throws, which ends the runner. */
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
      const answer = await run(job as Job, context, settings)
      post({ kind: 'answer', id, answer }, [...new Set(handedOver)])
    } catch (error) {
      post({ kind: 'failed', id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    } finally {
      marks.finish()
    }
  }
  return (message) => {
    const { kind } = message as { kind: string }
    if (kind === 'start') {
      const { board, settings } = message as StartMessage
      started = { marks: createWorkMarks(board, post), settings }
      return post({ kind: 'ready' })
    }
    if (started === null) throw new Error('a runner must be started before it is given work')
    if (kind === 'job') void perform(message as JobMessage, started)
  }
}
