import type { Clock } from './clock.ts'
import type { Log, LogFields } from './log.ts'
import { createOwnerTurns } from './owner-turns.ts'
import type { JobMessage, PoolAnswer } from './pool-worker.ts'
import { createRepeatOffenders, type RepeatOffenders } from './repeat-offenders.ts'
import type { Runner } from './runner.ts'
import {
  createSupervisor,
  type EndCause,
  type PoolEvent,
  type RunnerEnd,
  type Supervised,
  type Supervisor,
} from './supervisor.ts'

export { nativeThreadRunner, type Runner, threadRunner } from './runner.ts'
export type { EndCause, PoolEvent } from './supervisor.ts'

/** Runs jobs in threads or child processes with a time budget each. */
export interface ThreadPool<Job, Answer> {
  /** Runs a job and resolves with its answer. Rejects with PoisonousJob if two runners ended or exceeded their time
   *  over this job, with PoolStopped at stop, with the reason of `signal` if it aborts, and otherwise with JobFailed
   *  (the job threw, which is not retried, or no runner starts). Buffers in `transfer` are moved: such a job is lost
   *  with its runner and is not retried. */
  run(job: Job, options?: { transfer?: ArrayBuffer[]; signal?: AbortSignal }): Promise<Answer>
  state(): PoolState
  /** Ends the runners. Running and waiting jobs reject with PoolStopped. Repeated calls are harmless. */
  stop(): Promise<void>
}

export interface PoolState {
  runners: number
  waiting: number
  underWay: number
}

/** Two runners ended over this job, or one to which its buffers had been transferred. */
export class PoisonousJob extends Error {
  override name = 'PoisonousJob'
  /** `over_budget`: it took too long. `died`: its runner ended by itself. */
  readonly endedBy: EndCause
  constructor(endedBy: EndCause) {
    super(endedBy === 'over_budget' ? 'the job took too long' : 'the job crashed its thread')
    this.endedBy = endedBy
  }
}

/** The job threw. `message` contains its stack, for the log. */
export class JobFailed extends Error {
  override name = 'JobFailed'
}

/** The job did not run. */
export class NoThread extends JobFailed {
  constructor() {
    super('no thread could be started')
  }
}

export class PoolStopped extends Error {
  override name = 'PoolStopped'
  constructor() {
    super('the thread pool was stopped')
  }
}

export interface ThreadPoolOptions<Job> {
  /** Name in log lines and metrics. */
  name: string
  start: () => Runner
  /** Maximum number of runners, not counting one for a suspect job that is retried alone. A runner starts when there
   *  is work that no other runner is free for. */
  count: number
  /** Concurrent jobs per runner. */
  perRunner: number
  /** Longest time without yielding, in ms; then the runner is ended and replaced within 300 ms. */
  computeMs: number
  /** Time limit for one try of a job in ms, including what it waits for inside, but not its wait for a runner. Well
   *  above `computeMs`. */
  totalMs: number
  /** Size of a job in bytes. BYTES_A_JOB bytes count like one more job for the choice of a runner. */
  sizeOf?: (job: Job) => number
  /** Jobs larger than this wait until the large jobs in progress leave memory. */
  largeBytes?: number
  /** Owner of a job. The next job is one of the owner that was served longest ago. Jobs of an owner whose jobs
   *  repeatedly ended threads run one at a time, in a separate runner (repeat-offenders.ts). */
  ownerOf?: (job: Job) => string
  /** Ends a runner after this idle time in ms. Without it, runners stay. */
  idleMs?: number
  /** Plain data that each runner gets at its start. */
  settings?: unknown
  /** Job → fields of the log lines about it. */
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
  /** Number of runners that ended over it. */
  faults: number
  /** True if it may have ended a runner: it then runs alone. */
  isSuspect: boolean
  /** Time in this runner. */
  spentMs: number
  isAbandoned: boolean
  resolve: (answer: never) => void
  reject: (error: unknown) => void
}

interface State<Job> {
  tasks: Map<number, Task<Job>>
  bytes: number
  /** True if it runs one suspect job and nothing else. */
  isApart: boolean
  idleSince: number
}

/** Options → a pool whose runners start with its jobs. */
export function createThreadPool<Job, Answer>(options: ThreadPoolOptions<Job>): ThreadPool<Job, Answer> {
  const pool = new Pool(options)
  return {
    run: (job, how) => pool.run<Answer>(job, how),
    state: () => pool.state(),
    stop: async () => pool.stop(),
  }
}

class Pool<Job> {
  readonly #options: ThreadPoolOptions<Job>
  readonly #supervisor: Supervisor<State<Job>>
  readonly #offenders: RepeatOffenders
  readonly #turns = createOwnerTurns()
  readonly #stopped = new AbortController()
  #waiting: Task<Job>[] = []
  #lastId = 0
  #largeUnderWay = 0
  #failedStarts = 0
  #isSweepPlanned = false

  constructor(options: ThreadPoolOptions<Job>) {
    this.#options = options
    this.#offenders = createRepeatOffenders(options.clock)
    this.#supervisor = createSupervisor<State<Job>>({
      ...options,
      settingsOf: () => options.settings,
      isBusy: ({ tasks }) => tasks.size > 0,
      onMayStart: () => this.#assign(),
      onMessage: (runner, message) => this.#onAnswer(runner, message as PoolAnswer),
      onEnd: (runner, end) => this.#onEnd(runner.state, end),
      onTick: (passedMs) => this.#onTick(passedMs),
    })
  }

  run<Answer>(
    job: Job,
    { transfer = [], signal }: { transfer?: ArrayBuffer[]; signal?: AbortSignal } = {},
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#stopped.signal.aborted) return reject(new PoolStopped())
      if (signal?.aborted) return reject(signal.reason)
      const abandon = () => {
        task.isAbandoned = true
        this.#waiting = this.#waiting.filter((each) => each !== task)
        reject(signal?.reason)
      }
      const task: Task<Job> = {
        id: this.#nextId(),
        job,
        bytes: this.#options.sizeOf?.(job) ?? 0,
        transfer,
        faults: 0,
        isSuspect: this.#isOffender(job),
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
      this.#waiting.push(task)
      this.#assign()
    })
  }

  state(): PoolState {
    const { runners } = this.#supervisor
    const underWay = runners.reduce((sum, { state }) => sum + state.tasks.size, 0)
    return { runners: runners.length, waiting: this.#waiting.length, underWay }
  }

  stop(): void {
    this.#stopped.abort()
    for (const task of this.#waiting.splice(0)) task.reject(new PoolStopped())
    this.#supervisor.stop()
  }

  // ── handing out ──

  /** Assigns waiting jobs in order. A job that cannot start yet lets others pass. */
  #assign(): void {
    const { ownerOf } = this.#options
    if (ownerOf !== undefined && this.#waiting.length > 1) {
      this.#waiting = this.#turns.inTurn(this.#waiting, ({ job }) => ownerOf(job))
    }
    for (let at = 0; ; ) {
      const task = this.#waiting[at]
      if (task === undefined) return
      const runner = this.#fitsMemory(task) ? this.#runnerFor(task) : null
      if (runner === null) at++
      else {
        this.#waiting.splice(at, 1)
        this.#give(runner, task)
      }
      // All runners are full, and only suspect and large jobs may be passed.
      if (runner === null && !task.isSuspect && this.#fitsMemory(task)) break
    }
  }

  #fitsMemory({ bytes }: Task<Job>): boolean {
    const largeBytes = this.#largeBytes()
    const underWay = this.#largeUnderWay
    return bytes <= largeBytes || underWay === 0 || underWay + bytes <= MAX_LARGE_FACTOR * largeBytes
  }

  #largeBytes(): number {
    return this.#options.largeBytes ?? Number.POSITIVE_INFINITY
  }

  #runnerFor(task: Task<Job>): Supervised<State<Job>> | null {
    const { count, perRunner } = this.#options
    const shared = this.#supervisor.runners.filter(isShared)
    if (task.isSuspect) {
      return shared.length < this.#supervisor.runners.length ? null : this.#start(true)
    }
    const best = shared.reduce<Supervised<State<Job>> | null>(
      (least, each) => (least === null || load(each.state) < load(least.state) ? each : least),
      null,
    )
    if ((best === null || best.state.tasks.size > 0) && shared.length < count) {
      const started = this.#start(false)
      if (started !== null) return started
    }
    return best !== null && best.state.tasks.size < perRunner ? best : null
  }

  #start(isApart: boolean): Supervised<State<Job>> | null {
    if (!this.#supervisor.mayStart()) return null
    return this.#supervisor.start({ tasks: new Map(), bytes: 0, isApart, idleSince: this.#options.clock.now() })
  }

  #give(runner: Supervised<State<Job>>, task: Task<Job>): void {
    const { ownerOf } = this.#options
    task.spentMs = 0
    if (ownerOf !== undefined) this.#turns.took(ownerOf(task.job))
    runner.state.tasks.set(task.id, task)
    runner.state.bytes += task.bytes
    if (task.bytes > this.#largeBytes()) this.#largeUnderWay += task.bytes
    try {
      runner.send({ kind: 'job', id: task.id, job: task.job } satisfies JobMessage, task.transfer)
    } catch (error) {
      // The job cannot be sent to a thread: it contains a function, or a buffer that was transferred before.
      this.#release(runner.state, task)
      task.reject(new JobFailed(String(error)))
    }
    this.#supervisor.watch()
  }

  #release(state: State<Job>, task: Task<Job>): void {
    state.tasks.delete(task.id)
    state.bytes -= task.bytes
    if (task.bytes > this.#largeBytes()) this.#largeUnderWay -= task.bytes
    state.idleSince = this.#options.clock.now()
  }

  // ── what runners report ──

  #onAnswer(runner: Supervised<State<Job>>, message: PoolAnswer): void {
    if (message.kind !== 'answer' && message.kind !== 'failed') return
    const { state } = runner
    const task = state.tasks.get(message.id)
    if (task === undefined) return
    this.#release(state, task)
    if (message.kind === 'answer') task.resolve(message.answer as never)
    else task.reject(new JobFailed(message.error))
    if (state.isApart && state.tasks.size === 0) {
      if (this.#supervisor.runners.filter(isShared).length < this.#options.count) state.isApart = false
      else this.#supervisor.end(runner, 'idle', null)
    }
    this.#assign()
    if (state.tasks.size === 0) this.#planSweep()
  }

  #onEnd(state: State<Job>, { cause, culprit, wasReady }: RunnerEnd): void {
    const tasks = [...state.tasks.values()]
    for (const task of tasks) this.#release(state, task)
    if (cause === 'idle') return
    this.#failedStarts = wasReady ? 0 : this.#failedStarts + 1
    if (cause === 'stopped') for (const task of tasks) task.reject(new PoolStopped())
    else this.#takeBack(tasks, cause, culprit, wasReady)
    if (this.#failedStarts >= MOST_FAILED_STARTS) {
      for (const task of this.#waiting.splice(0)) task.reject(new NoThread())
    }
    this.#assign()
  }

  #onTick(passedMs: number): void {
    for (const runner of [...this.#supervisor.runners]) {
      for (const task of runner.state.tasks.values()) task.spentMs += passedMs
      const late = runner.state.tasks.values().find(({ spentMs }) => spentMs >= this.#options.totalMs)
      if (late !== undefined && runner.isReady) this.#supervisor.end(runner, 'over_budget', late.id)
    }
  }

  // ── jobs that end their runner ──

  /** Decides about the jobs of an ended runner. The job that blocked it is retried once, alone, and then given up;
   *  if unknown, each job is retried alone. The others return to the front of the queue without a mark. */
  #takeBack(tasks: Task<Job>[], cause: EndCause, culprit: number | null, wasReady: boolean): void {
    const isKnown = tasks.length === 1 || tasks.some(({ id }) => id === culprit)
    const again: Task<Job>[] = []
    for (const task of tasks) {
      const isCulprit = wasReady && isKnown && (tasks.length === 1 || task.id === culprit)
      if (isCulprit) this.#blame(task)
      task.isSuspect ||= isCulprit || (wasReady && !isKnown)
      if (task.isAbandoned) continue
      if (task.faults >= MOST_FAULTS || (isCulprit && task.transfer.length > 0)) this.#giveUp(task, cause)
      else if (task.transfer.length > 0) task.reject(new JobFailed('the thread of the job ended'))
      else again.push(task)
    }
    this.#waiting = [...again, ...this.#waiting]
  }

  #blame(task: Task<Job>): void {
    const { name: pool, ownerOf, describe, log, onEvent } = this.#options
    task.faults++
    if (ownerOf === undefined || !this.#offenders.add(ownerOf(task.job))) return
    const facts = { pool, ...describe?.(task.job) }
    log.error(
      'jobs of one organization limited to one at a time for 10 min: they crashed or timed out several threads',
      facts,
    )
    onEvent?.({ kind: 'owner_apart', pool })
    for (const each of this.#waiting) each.isSuspect ||= this.#isOffender(each.job)
  }

  #isOffender(job: Job): boolean {
    const { ownerOf } = this.#options
    return ownerOf !== undefined && this.#offenders.leftMs(ownerOf(job)) > 0
  }

  #giveUp(task: Task<Job>, cause: EndCause): void {
    const { name: pool, describe, log, onEvent } = this.#options
    log.error('job failed: it crashed or timed out its thread again', { pool, cause, ...describe?.(task.job) })
    onEvent?.({ kind: 'poisonous_job', pool })
    task.reject(new PoisonousJob(cause))
  }

  /** Ends runners that had no job for `idleMs`. */
  #planSweep(): void {
    const { idleMs, clock } = this.#options
    if (idleMs === undefined || this.#isSweepPlanned || this.#stopped.signal.aborted) return
    this.#isSweepPlanned = true
    void clock.sleep(idleMs, this.#stopped.signal).then(() => {
      this.#isSweepPlanned = false
      const since = clock.now() - idleMs
      for (const runner of [...this.#supervisor.runners]) {
        if (runner.state.tasks.size === 0 && runner.state.idleSince <= since) this.#supervisor.end(runner, 'idle', null)
      }
      if (this.#supervisor.runners.length > 0) this.#planSweep()
    })
  }

  /** From 1, within the 32 bits of the board (work-board.ts). */
  #nextId(): number {
    this.#lastId = this.#lastId === 2 ** 31 - 1 ? 1 : this.#lastId + 1
    return this.#lastId
  }
}

const MOST_FAULTS = 2
const MOST_FAILED_STARTS = 4
/** Large jobs may together have at most this multiple of `largeBytes`. */
const MAX_LARGE_FACTOR = 32
/** Bytes that count like one more job of a runner. */
const BYTES_A_JOB = 100_000

const isShared = <Job>({ state }: Supervised<State<Job>>) => !state.isApart

const load = <Job>({ tasks, bytes }: State<Job>) => tasks.size + bytes / BYTES_A_JOB
