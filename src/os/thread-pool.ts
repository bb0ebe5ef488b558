import type { Clock } from './clock.ts'
import type { Log, LogFields } from './log.ts'
import type { JobMessage, PoolAnswer } from './pool-worker.ts'
import { createRepeatOffenders } from './repeat-offenders.ts'
import type { Runner } from './runner.ts'
import { createSupervisor, type EndCause, type PoolEvent, type Supervised } from './supervisor.ts'

export { type Runner, threadRunner } from './runner.ts'
export type { EndCause, PoolEvent } from './supervisor.ts'

/** Runs jobs in threads or child processes with a time budget each. */
export interface ThreadPool<Job, Answer> {
  /** Rejects with PoisonousJob when two runners ended or ran out of budget over this job, with PoolStopped at stop, with
   *  the reason of `signal` when that aborts, else with JobFailed (the job threw inside, it is tried once; or no runner
   *  starts). Buffers in `transfer` are handed over: such a job is gone with its runner and is not tried again. */
  run(job: Job, options?: { transfer?: ArrayBuffer[]; signal?: AbortSignal }): Promise<Answer>
  state(): PoolState
  /** Ends the runners; what they had and what waits rejects with PoolStopped. Twice is harmless. */
  stop(): Promise<void>
}

export interface PoolState {
  runners: number
  waiting: number
  underWay: number
}

/** Two runners ended over this job, or one to which its buffers had been handed over. */
export class PoisonousJob extends Error {
  override name = 'PoisonousJob'
  /** `over_budget`: it took too long. `died`: its runner ended by itself. */
  readonly endedBy: EndCause
  constructor(endedBy: EndCause) {
    super(endedBy === 'over_budget' ? 'the job took too long' : 'the job ended its thread')
    this.endedBy = endedBy
  }
}

/** The job threw. `message` has its stack, for the log. */
export class JobFailed extends Error {
  override name = 'JobFailed'
}

export class PoolStopped extends Error {
  override name = 'PoolStopped'
  constructor() {
    super('the thread pool was stopped')
  }
}

export interface ThreadPoolOptions<Job> {
  /** In log lines and metrics. */
  name: string
  start: () => Runner
  /** At most so many runners, and one more while a job that ended a runner is tried again alone. Each starts when there is
   *  work that the others have no hands for. */
  count: number
  /** Jobs at once in one runner. */
  perRunner: number
  /** Longest stretch without yielding before the runner is ended and replaced (within 300 ms). */
  computeMs: number
  /** One try of a job, what it waits for inside included, its wait for a runner not. Well above `computeMs`. */
  totalMs: number
  /** Of a job, in bytes: so many of them cost a runner as much as one job more. */
  sizeOf?: (job: Job) => number
  /** Jobs larger than this wait until the larger ones under way leave room. */
  largeBytes?: number
  /** Whose a job is. Of those that wait, the one whose owner was served longest ago goes first. Jobs of an owner over whose
   *  jobs thread after thread ended run one at a time, in a runner of their own (repeat-offenders.ts). */
  ownerOf?: (job: Job) => string
  /** Ends a runner that had no job for so long. Without it, they stay. */
  idleMs?: number
  /** Plain data that each runner gets at its start. */
  settings?: unknown
  /** A job → fields of the log lines about it. */
  describe?: (job: Job) => LogFields
  clock: Clock
  log: Log
  onEvent?: (event: PoolEvent) => void
}

interface Task<Job> {
  id: number
  job: Job
  bytes: number
  transfer: ArrayBuffer[]
  /** Runners that ended over it. */
  faults: number
  /** It may have ended a runner: it gets one of its own. */
  isSuspect: boolean
  /** In this runner. */
  spentMs: number
  isAbandoned: boolean
  resolve: (answer: never) => void
  reject: (error: unknown) => void
}

interface State<Job> {
  tasks: Map<number, Task<Job>>
  bytes: number
  /** It has one suspect and nothing else. */
  isApart: boolean
  idleSince: number
}

export function createThreadPool<Job, Answer>(options: ThreadPoolOptions<Job>): ThreadPool<Job, Answer> {
  const { name, count, perRunner, totalMs, idleMs, clock, log } = options
  const { sizeOf = () => 0, largeBytes = Number.POSITIVE_INFINITY, describe = () => ({}), onEvent, ownerOf } = options
  const served = new Map<string, number>()
  const offenders = createRepeatOffenders(clock)
  let waiting: Task<Job>[] = []
  let lastId = 0
  let turns = 0
  let largeUnderWay = 0
  let failedStarts = 0
  let isSweepPlanned = false
  const stopped = new AbortController()

  const supervisor = createSupervisor<State<Job>>({
    ...options,
    settingsOf: () => options.settings,
    isBusy: ({ tasks }) => tasks.size > 0,
    onMayStart: () => assign(),
    onMessage: (runner, message) => onAnswer(runner, message as PoolAnswer),
    onEnd: (runner, { cause, culprit, wasReady }) => {
      const tasks = [...runner.state.tasks.values()]
      for (const task of tasks) release(runner.state, task)
      if (cause === 'idle') return
      failedStarts = wasReady ? 0 : failedStarts + 1
      if (cause === 'stopped') for (const task of tasks) task.reject(new PoolStopped())
      else takeBack(tasks, cause, culprit, wasReady)
      if (failedStarts >= MOST_FAILED_STARTS) {
        for (const task of waiting.splice(0)) task.reject(new JobFailed('no thread could be started'))
      }
      assign()
    },
    onTick: (passedMs) => {
      for (const runner of [...supervisor.runners]) {
        for (const task of runner.state.tasks.values()) task.spentMs += passedMs
        const late = runner.state.tasks.values().find(({ spentMs }) => spentMs >= totalMs)
        if (late !== undefined && runner.isReady) supervisor.end(runner, 'over_budget', late.id)
      }
    },
  })

  const onAnswer = (runner: Supervised<State<Job>>, message: PoolAnswer) => {
    if (message.kind !== 'answer' && message.kind !== 'failed') return
    const task = runner.state.tasks.get(message.id)
    if (task === undefined) return
    release(runner.state, task)
    if (message.kind === 'answer') task.resolve(message.answer as never)
    else task.reject(new JobFailed(message.error))
    if (runner.state.isApart && runner.state.tasks.size === 0) {
      if (supervisor.runners.filter(isShared).length < count) runner.state.isApart = false
      else supervisor.end(runner, 'idle', null)
    }
    assign()
    if (runner.state.tasks.size === 0) planSweep()
  }

  /** The jobs of a runner that ended: the one that had it is tried once more, alone, and then given up; when nobody said
   *  which, each of them alone. The others go first in the queue and are none the worse. */
  const takeBack = (tasks: Task<Job>[], cause: EndCause, culprit: number | null, wasReady: boolean) => {
    const isKnown = tasks.length === 1 || tasks.some(({ id }) => id === culprit)
    const again: Task<Job>[] = []
    for (const task of tasks) {
      const isCulprit = wasReady && isKnown && (tasks.length === 1 || task.id === culprit)
      if (isCulprit) blame(task)
      task.isSuspect ||= isCulprit || (wasReady && !isKnown)
      if (task.isAbandoned) continue
      if (task.faults >= MOST_FAULTS || (isCulprit && task.transfer.length > 0)) giveUp(task, cause)
      else if (task.transfer.length > 0) task.reject(new JobFailed('the thread ended that had the job'))
      else again.push(task)
    }
    waiting = [...again, ...waiting]
  }

  const blame = (task: Task<Job>) => {
    task.faults++
    if (ownerOf === undefined || !offenders.add(ownerOf(task.job))) return
    const facts = { pool: name, ...describe(task.job) }
    log.error('jobs of one organization limited to one at a time for 10 min: they ended several threads', facts)
    onEvent?.({ kind: 'owner_apart', pool: name })
    for (const each of waiting) each.isSuspect ||= isOffender(each.job)
  }

  const isOffender = (job: Job) => ownerOf !== undefined && offenders.leftMs(ownerOf(job)) > 0

  const giveUp = (task: Task<Job>, cause: EndCause) => {
    log.error('job failed: it ended its thread again', { pool: name, cause, ...describe(task.job) })
    onEvent?.({ kind: 'poisonous_job', pool: name })
    task.reject(new PoisonousJob(cause))
  }

  const release = (state: State<Job>, task: Task<Job>) => {
    state.tasks.delete(task.id)
    state.bytes -= task.bytes
    if (task.bytes > largeBytes) largeUnderWay -= task.bytes
    state.idleSince = clock.now()
  }

  /** Hands out what waits, in order; what cannot go yet lets the others pass. */
  const assign = () => {
    if (ownerOf !== undefined && waiting.length > 1) waiting = inTurn(waiting, ({ job }) => ownerOf(job), served)
    for (let at = 0; at < waiting.length; ) {
      const task = waiting[at]!
      const runner = fitsMemory(task) ? runnerFor(task) : null
      if (runner === null) at++
      else {
        waiting.splice(at, 1)
        give(runner, task)
      }
      // Nobody has hands free, and only suspects and large jobs may pass one another.
      if (runner === null && !task.isSuspect && fitsMemory(task)) break
    }
  }

  const fitsMemory = ({ bytes }: Task<Job>) =>
    bytes <= largeBytes || largeUnderWay === 0 || largeUnderWay + bytes <= MAX_LARGE_FACTOR * largeBytes

  const runnerFor = (task: Task<Job>): Supervised<State<Job>> | null => {
    const shared = supervisor.runners.filter(isShared)
    if (task.isSuspect) {
      return shared.length < supervisor.runners.length ? null : start(true)
    }
    const best = shared.reduce<Supervised<State<Job>> | null>(
      (least, each) => (least === null || load(each.state) < load(least.state) ? each : least),
      null,
    )
    if ((best === null || best.state.tasks.size > 0) && shared.length < count) {
      const started = start(false)
      if (started !== null) return started
    }
    return best !== null && best.state.tasks.size < perRunner ? best : null
  }

  const start = (isApart: boolean) => {
    if (!supervisor.mayStart()) return null
    return supervisor.start({ tasks: new Map(), bytes: 0, isApart, idleSince: clock.now() })
  }

  const give = (runner: Supervised<State<Job>>, task: Task<Job>) => {
    task.spentMs = 0
    if (ownerOf !== undefined) {
      if (served.size > MOST_OWNERS) served.clear()
      served.set(ownerOf(task.job), ++turns)
    }
    runner.state.tasks.set(task.id, task)
    runner.state.bytes += task.bytes
    if (task.bytes > largeBytes) largeUnderWay += task.bytes
    try {
      runner.send({ kind: 'job', id: task.id, job: task.job } satisfies JobMessage, task.transfer)
    } catch (error) {
      // What cannot be sent to a thread, as a function or a buffer that was handed over before.
      release(runner.state, task)
      task.reject(new JobFailed(String(error)))
    }
    supervisor.watch()
  }

  const planSweep = () => {
    if (idleMs === undefined || isSweepPlanned || stopped.signal.aborted) return
    isSweepPlanned = true
    void clock.sleep(idleMs, stopped.signal).then(() => {
      isSweepPlanned = false
      const since = clock.now() - idleMs
      for (const runner of [...supervisor.runners]) {
        if (runner.state.tasks.size === 0 && runner.state.idleSince <= since) supervisor.end(runner, 'idle', null)
      }
      if (supervisor.runners.length > 0) planSweep()
    })
  }

  const run = (job: Job, { transfer = [], signal }: { transfer?: ArrayBuffer[]; signal?: AbortSignal } = {}) =>
    new Promise<Answer>((resolve, reject) => {
      if (stopped.signal.aborted) return reject(new PoolStopped())
      if (signal?.aborted) return reject(signal.reason)
      const abandon = () => {
        task.isAbandoned = true
        waiting = waiting.filter((each) => each !== task)
        reject(signal?.reason)
      }
      const task: Task<Job> = {
        id: nextId(),
        job,
        bytes: sizeOf(job),
        transfer,
        faults: 0,
        isSuspect: isOffender(job),
        spentMs: 0,
        isAbandoned: false,
        resolve: (answer) => {
          signal?.removeEventListener('abort', abandon)
          resolve(answer)
        },
        reject: (error) => {
          signal?.removeEventListener('abort', abandon)
          reject(error)
        },
      }
      signal?.addEventListener('abort', abandon, { once: true })
      waiting.push(task)
      assign()
    })

  /** From 1, within the 32 bits of the board (work-board.ts). */
  const nextId = () => {
    lastId = lastId === 2 ** 31 - 1 ? 1 : lastId + 1
    return lastId
  }

  return {
    run,
    state: () => ({
      runners: supervisor.runners.length,
      waiting: waiting.length,
      underWay: supervisor.runners.reduce((sum, { state }) => sum + state.tasks.size, 0),
    }),
    async stop() {
      stopped.abort()
      for (const task of waiting.splice(0)) task.reject(new PoolStopped())
      supervisor.stop()
    },
  }
}

/** Tasks in the order they came → the same with one of each owner after the other, who was served longest ago first. */
function inTurn<T>(tasks: T[], ownerOf: (task: T) => string, served: ReadonlyMap<string, number>): T[] {
  const byOwner = Map.groupBy(tasks, ownerOf)
  if (byOwner.size < 2) return tasks
  const queues = [...byOwner].sort(([a], [b]) => (served.get(a) ?? 0) - (served.get(b) ?? 0)).map(([, queue]) => queue)
  const ordered: T[] = []
  for (let round = 0; ordered.length < tasks.length; round++) {
    for (const queue of queues) if (round < queue.length) ordered.push(queue[round]!)
  }
  return ordered
}

const MOST_OWNERS = 10_000
const MOST_FAULTS = 2
const MOST_FAILED_STARTS = 4
/** Large jobs together may be so many times `largeBytes`. */
const MAX_LARGE_FACTOR = 32
/** So many bytes cost a runner as much as one job more. */
const BYTES_A_JOB = 100_000

const isShared = <Job>({ state }: Supervised<State<Job>>) => !state.isApart

const load = <Job>({ tasks, bytes }: State<Job>) => tasks.size + bytes / BYTES_A_JOB
