import { AsyncLocalStorage } from 'node:async_hooks'
import { stackOf } from './thrown.ts'

/** The rule of every thread and confined process: an exception in a job ends that job alone. That includes one that the
 *  job leaves behind in a timer or in the event of a socket, where nothing catches it. An exception of no job ends the
 *  thread: the supervisor gets its stack first, starts another thread and reports the death (supervisor.ts). */

interface RunningJob {
  onStray: (error: unknown) => void
  /** False: `onStray` only reports. */
  endsAtOnce: boolean
}

const current = new AsyncLocalStorage<RunningJob>()
const running = new Set<RunningJob>()

/** Runs a job → its result. Rejects with what it throws, also in an event that it left behind. With `onStray`, such an
 *  error is only reported there and the job goes on, up to its own time limit: for a job that must not continue unseen. */
export async function runJob<Result>(
  job: () => Result | Promise<Result>,
  onStray?: (error: unknown) => void,
): Promise<Result> {
  const stray = Promise.withResolvers<never>()
  const own = { onStray: onStray ?? stray.reject, endsAtOnce: onStray === undefined }
  running.add(own)
  try {
    return await current.run(own, () => Promise.race([job(), stray.promise]))
  } finally {
    running.delete(own)
  }
}

/** Where to report an exception that belongs to the job that calls this, for code that outlives the job, such as a kept
 *  connection; undefined outside of a job. */
export const strayHandler = (): ((error: unknown) => void) | undefined => current.getStore()?.onStray

/** Thread → supervisor: its last message. */
export interface DyingMessage {
  kind: 'dying'
  error: string
}

/** Applies the rule to this thread or process, before its first job. `post` must have sent when it returns. */
export function isolateJobs(post: (message: DyingMessage) => void): void {
  const end = (job: RunningJob | undefined, error: unknown) => {
    if (job !== undefined && running.has(job)) return job.onStray(error)
    post({ kind: 'dying', error: stackOf(error) })
    process.exit(1)
  }
  process.on('uncaughtException', (error) => end(current.getStore(), error))
  process.on('unhandledRejection', (error) => end(onlyJob(), error))
}

/** The runtime loses the context of a rejection that nothing awaits. It is of the only job, if there is just one. */
function onlyJob(): RunningJob | undefined {
  const [only, ...others] = running
  return only?.endsAtOnce && others.length === 0 ? only : undefined
}
